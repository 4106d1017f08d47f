package io.keelson.core.decide;

import static io.keelson.core.decide.StoredField.optional;
import static io.keelson.core.decide.StoredField.required;
import static io.keelson.core.decide.StoredField.text;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
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
 * A task of the current attempt. A task with {@code for_each} or {@code repeat} is a group: it has no steps of its own and
 * ends when its children have ended. The children of a {@code repeat} are its rounds, one after another. A round of a group of
 * tasks has several children, the members.
 */
public final class TaskRow {
    /** The order in which ready tasks of one agent get its slots. */
    static final Comparator<TaskRow> BY_TURN = Comparator
            .comparing((TaskRow task) -> Objects.requireNonNull(task.queuedAt)).thenComparing(TaskRow::sequence)
            .thenComparing(TaskRow::itemIndex);

    /** The order of the plan, items of a fan-out by their index. */
    static final Comparator<TaskRow> BY_PLAN = Comparator.comparing(TaskRow::sequence)
            .thenComparing(TaskRow::itemIndex).thenComparing(TaskRow::id);

    /** The fields of the failure policy and verification. */
    public static final List<StoredField<TaskRow, ?>> POLICY = List.of(
            required("failures", Integer.class, t -> t.failures, (t, v) -> t.failures = v),
            required("granted_retries", Integer.class, t -> t.grantedRetries, (t, v) -> t.grantedRetries = v),
            required("effect_generation", Integer.class, t -> t.effectGeneration, (t, v) -> t.effectGeneration = v),
            required("failure_ignored", Boolean.class, t -> t.failureIgnored, (t, v) -> t.failureIgnored = v),
            required("superseded", Boolean.class, t -> t.superseded, (t, v) -> t.superseded = v),
            optional("next_run_at", Instant.class, t -> t.nextRunAt, (t, v) -> t.nextRunAt = v),
            optional("state_since", Instant.class, t -> t.stateSince, (t, v) -> t.stateSince = v),
            optional("begun_at", Instant.class, t -> t.begunAt, (t, v) -> t.begunAt = v),
            optional("error_class", String.class, t -> t.errorClass, (t, v) -> t.errorClass = v),
            optional("verifier_score", BigDecimal.class, t -> t.verifierScore, (t, v) -> t.verifierScore = v),
            text("verified_by", 255, t -> t.verifiedBy, (t, v) -> t.verifiedBy = v));

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
    int failures;
    /** Attempts before a person granted new retries; they count against no retry budget. */
    int grantedRetries;
    /**
     * Part of its steps' effect keys: rises when its output was rejected, so that effects happen again. Of a task with {@code
     * repeat}: that with which its next round begins.
     */
    int effectGeneration = 1;
    /** True when its failure was ignored, or when all its work that was not skipped failed and was ignored. */
    boolean failureIgnored;
    /** True when it left the current attempt: another row has replaced it, or no plan needs it. */
    boolean superseded;
    @Nullable Instant nextRunAt;
    /** When it entered its state. */
    @Nullable Instant stateSince;
    /** Time of the question about its output, as its timer has it: a pause of the run changes {@link #stateSince}. */
    @Nullable Instant askedAt;
    /** When the work of its current attempt began. */
    @Nullable Instant begunAt;
    @Nullable String errorClass;
    /** Score of the last verdict, 0 to 1. */
    @Nullable BigDecimal verifierScore;
    /** Source of the last verdict. */
    @Nullable String verifiedBy;
    long tokens;
    BigDecimal cost = BigDecimal.ZERO;
    @Nullable Instant queuedAt;
    @Nullable Instant startedAt;
    @Nullable Instant completedAt;
    @Nullable String errorCode;
    @Nullable String errorMessage;
    @Nullable UUID reusedFrom;

    final List<StepRow> steps = new ArrayList<>();
    final List<TaskRow> upstreams = new ArrayList<>();
    final List<TaskRow> downstreams = new ArrayList<>();
    final List<TaskRow> children = new ArrayList<>();
    /** True while it only waits: for a person, a time, a signal or another run. */
    boolean waits;
    int upstreamsOpen;
    int upstreamsCompleted;
    int upstreamsFailed;
    int childrenOpen;
    /** Index of the first step that may still be opened. */
    int cursor;
    /** True while the task holds one of its agent's slots. */
    boolean hasSlot;
    /** True while the evaluator computes its gate or its output. */
    boolean evaluating;

    /**
     * @param sequence position in the plan, from 1
     * @param group the task that fanned out into this one, or in whose rounds this one is done; null for a task of the plan
     * @param itemIndex position among the group's children, from 0; number of a round, from 1; -1 for a task of the plan
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

    /** Restores stored values; only the loader of views calls it. */
    public TaskRow restore(TaskState state, int attempt, int continuations, long tokens, BigDecimal cost,
            @Nullable Instant queuedAt, @Nullable Instant startedAt, @Nullable Instant completedAt,
            @Nullable String errorCode, @Nullable String errorMessage, @Nullable UUID reusedFrom) {
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
        this.reusedFrom = reusedFrom;
        return this;
    }

    /** True for tasks that the engine added to the plan: hooks and the planner's work. */
    public boolean system() {
        return SystemTasks.is(spec);
    }

    /** True while it waits for a person's answer to its ticket and is not retried by itself. */
    public boolean parked() {
        return state == TaskState.AWAITING_RETRY && nextRunAt == null;
    }

    /** The planned steps, without further turns and verifications. */
    List<StepSpec> planned() {
        return steps.stream().filter(step -> step.turn() == 1 && step.spec().kind() != StepKind.VERIFY)
                .map(step -> step.spec().asPlanned()).toList();
    }

    /** The index behind the last of its steps at the position or before it. */
    int endOf(int position) {
        int end = steps.size();
        while (end > 0 && steps.get(end - 1).position() > position) {
            end--;
        }
        return end;
    }

    /** The highest number of a turn or call at the position. */
    int lastTurn(int position) {
        return steps.get(endOf(position) - 1).turn();
    }

    /** The terms of the agent that a rung of the ladder has given the task to; null before the first such rung. */
    public @Nullable AgentTerms climbed() {
        return Rungs.takenRungs(this) == 0 ? null : Rungs.terms(this);
    }

    /** True for a task with {@code for_each} or {@code repeat} itself, not for its children. */
    public boolean isGroup() {
        return isLoop() || spec.forEach() != null && group == null;
    }

    /** True for a task with {@code repeat} itself, not for its rounds. */
    public boolean isLoop() {
        return group == null && spec.policy().repeat() != null;
    }

    /** True for a round of a task with {@code repeat}, or for a member of a round. */
    boolean isRound() {
        return group != null && group.isLoop();
    }

    /** True for a task of the plan that is done in the rounds of a group: it has a spec of its own, and no other child has. */
    public boolean isMember() {
        return group != null && group.isRepeatedGroup();
    }

    /** True for a group of tasks with {@code repeat} itself, not for its members. */
    boolean isRepeatedGroup() {
        Repeat repeat = spec.policy().repeat();
        return isLoop() && repeat != null && !repeat.tasks().isEmpty();
    }

    /** The key of a member of its round. */
    String memberKey(int round, String plannedId) {
        return key + "[" + round + "]" + plannedId.substring(key.length());
    }

    /** The id in the plan of a member, by the key that it has in a round. */
    public String plannedId(String memberKey) {
        return key + memberKey.substring(memberKey.indexOf(']', key.length()) + 1);
    }

    /** The children of its last round. */
    List<TaskRow> lastRound() {
        int last = round();
        return children.stream().filter(child -> child.itemIndex == last).toList();
    }

    /** The number of its last round, from 1; before the first, of the round after which it begins, or 0. */
    int round() {
        Repeat repeat = spec.policy().repeat();
        return !children.isEmpty() ? children.getLast().itemIndex : repeat == null ? 0 : repeat.first() - 1;
    }

    /** Adds the use of a round that ends. */
    void collect(TaskRow round) {
        tokens += round.tokens;
        cost = cost.add(round.cost);
    }

    public boolean terminal() {
        return state.terminal();
    }

    public UUID id() {
        return id;
    }

    /** The API path of its whole output. */
    public String outputRef() {
        return "/api/v1/tasks/" + id + "/output";
    }

    /** Its id in the plan; children are {@code KEY[0]}, {@code KEY[1]} … */
    public String key() {
        return key;
    }

    /** The id of its task in the plan: its own, or that of the task whose item or round it is. */
    String planKey() {
        return spec.id();
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

    /** Credits. */
    public BigDecimal cost() {
        return cost;
    }

    public @Nullable Instant queuedAt() {
        return queuedAt;
    }

    /** Failures of the task as a whole: exhausted turns, lost workers, rejected outputs. */
    public int failures() {
        return failures;
    }

    /** Attempts before a person granted new retries; they count against no retry budget. */
    public int grantedRetries() {
        return grantedRetries;
    }

    /** Part of its steps' effect keys: rises when its output was rejected, so that effects happen again. */
    public int effectGeneration() {
        return effectGeneration;
    }

    /** True when its failure was ignored, or when all its work that was not skipped failed and was ignored. */
    public boolean failureIgnored() {
        return failureIgnored;
    }

    /** True when it left the current attempt: another row has replaced it, or no plan needs it. */
    public boolean superseded() {
        return superseded;
    }

    /** When its next attempt may begin; null when none is scheduled. */
    public @Nullable Instant nextRunAt() {
        return nextRunAt;
    }

    /** When it entered its state. */
    public @Nullable Instant stateSince() {
        return stateSince;
    }

    /** When the work of its current attempt began; null before. */
    public @Nullable Instant begunAt() {
        return begunAt;
    }

    public @Nullable String errorClass() {
        return errorClass;
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

    /** The task that holds its output, itself or one of an earlier attempt or run. */
    UUID holdsOutput() {
        return reusedFrom == null ? id : reusedFrom;
    }

    /** The task of an earlier attempt whose output this one carries over; null if this task ran itself. */
    public @Nullable UUID reusedFrom() {
        return reusedFrom;
    }

    public List<StepRow> steps() {
        return List.copyOf(steps);
    }

    public List<TaskRow> upstreams() {
        return List.copyOf(upstreams);
    }
}
