package io.keelson.core.run;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.TaskSpec;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A task of the current attempt. A task with {@code for_each} is a group: it has no steps of its own and ends when the
 * children that it fanned out into have ended.
 */
public final class TaskRow {
    /** The order in which ready tasks of one agent get its slots. */
    static final Comparator<TaskRow> BY_TURN = Comparator
            .comparing((TaskRow task) -> Objects.requireNonNull(task.queuedAt)).thenComparing(TaskRow::sequence)
            .thenComparing(TaskRow::itemIndex);

    private final UUID id;
    private final String key;
    private final int sequence;
    private final TaskSpec spec;
    private final AgentRow agent;
    private final @Nullable TaskRow group;
    private final int itemIndex;
    private final @Nullable String item;

    TaskState state = TaskState.PENDING;
    int attempt = 1;
    int continuations;
    long tokens;
    BigDecimal cost = BigDecimal.ZERO;
    @Nullable Instant queuedAt;
    @Nullable Instant startedAt;
    @Nullable Instant completedAt;
    @Nullable String errorCode;
    @Nullable String errorMessage;
    @Nullable UUID carriedFrom;

    final List<StepRow> steps = new ArrayList<>();
    final List<TaskRow> upstreams = new ArrayList<>();
    final List<TaskRow> downstreams = new ArrayList<>();
    final List<TaskRow> children = new ArrayList<>();
    int upstreamsOpen;
    int upstreamsCompleted;
    int upstreamsFailed;
    int childrenOpen;
    /** Index of the first step that may still be opened. */
    int cursor;
    /** True while the task holds one of its agent's slots. */
    boolean hasSlot;
    /** True while an answer of the evaluator is awaited for its gate or its output. */
    boolean evaluating;

    /**
     * @param sequence position in the plan, from 1
     * @param group the task that fanned out into this one; null for a task of the plan
     * @param itemIndex position among the group's children, from 0; -1 for a task of the plan
     * @param item the group's item, JSON text; null for a task of the plan
     */
    public TaskRow(UUID id, String key, int sequence, TaskSpec spec, AgentRow agent, @Nullable TaskRow group,
            int itemIndex, @Nullable String item) {
        this.id = id;
        this.key = key;
        this.sequence = sequence;
        this.spec = spec;
        this.agent = agent;
        this.group = group;
        this.itemIndex = itemIndex;
        this.item = item;
    }

    /** Sets what the database holds; for the loader of views only. */
    public TaskRow restore(TaskState state, int attempt, int continuations, long tokens, BigDecimal cost,
            @Nullable Instant queuedAt, @Nullable Instant startedAt, @Nullable Instant completedAt,
            @Nullable String errorCode, @Nullable String errorMessage, @Nullable UUID carriedFrom) {
        this.state = state;
        this.attempt = attempt;
        this.continuations = continuations;
        this.tokens = tokens;
        this.cost = cost;
        this.queuedAt = queuedAt;
        this.startedAt = startedAt;
        this.completedAt = completedAt;
        this.errorCode = errorCode;
        this.errorMessage = errorMessage;
        this.carriedFrom = carriedFrom;
        return this;
    }

    /** True for a task with {@code for_each} itself, not for its children. */
    public boolean isGroup() {
        return spec.forEach() != null && group == null;
    }

    public boolean terminal() {
        return state.terminal();
    }

    public UUID id() {
        return id;
    }

    /** Its id in the plan; children are {@code KEY[0]}, {@code KEY[1]} … */
    public String key() {
        return key;
    }

    public int sequence() {
        return sequence;
    }

    public TaskSpec spec() {
        return spec;
    }

    public AgentRow agent() {
        return agent;
    }

    public @Nullable TaskRow group() {
        return group;
    }

    public int itemIndex() {
        return itemIndex;
    }

    public @Nullable String item() {
        return item;
    }

    public TaskState state() {
        return state;
    }

    /** Task-level attempt within the run's attempt, from 1. */
    public int attempt() {
        return attempt;
    }

    public int continuations() {
        return continuations;
    }

    public long tokens() {
        return tokens;
    }

    /** USD. */
    public BigDecimal cost() {
        return cost;
    }

    public @Nullable Instant queuedAt() {
        return queuedAt;
    }

    public @Nullable Instant startedAt() {
        return startedAt;
    }

    public @Nullable Instant completedAt() {
        return completedAt;
    }

    public @Nullable String errorCode() {
        return errorCode;
    }

    public @Nullable String errorMessage() {
        return errorMessage;
    }

    /** The task of an earlier attempt whose output this one carries over; null for one that ran itself. */
    public @Nullable UUID carriedFrom() {
        return carriedFrom;
    }

    public List<StepRow> steps() {
        return List.copyOf(steps);
    }

    public List<TaskRow> upstreams() {
        return List.copyOf(upstreams);
    }
}
