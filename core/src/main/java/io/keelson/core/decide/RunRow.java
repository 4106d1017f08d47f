package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A run as decisions see it. Only this package changes it. */
public final class RunRow {
    private final UUID id;
    private final UUID workspaceId;
    private final String name;
    private final int priority;
    private final RunPolicy policy;
    private final @Nullable String outputTemplate;

    RunState state = RunState.CREATED;
    int attempt = 1;
    int effectGeneration = 1;
    int version = 1;
    long seq;
    boolean failing;
    int agentCount;
    int taskCount;
    int tasksCompleted;
    int tasksFailed;
    /** Failures at the attempt's end; no decision depends on it. */
    int failures;
    int tasksSkipped;
    int stepCount;
    int stepsCompleted;
    Tokens tokens = Tokens.NONE;
    BigDecimal cost = BigDecimal.ZERO;
    /** Credits reserved for the open attempt. */
    BigDecimal reserved = Amounts.ZERO;
    /** The part of {@link #reserved} that its steps have used; never more. */
    BigDecimal charged = Amounts.ZERO;
    /** Collected cost of all attempts less their charges: half a millionth at most, below zero where the sum was rounded up. */
    BigDecimal remainder = Amounts.ZERO;
    /** Cost of the attempt's steps beyond what could be collected. */
    BigDecimal uncollected = Amounts.ZERO;
    /** Charges and refunds of settled attempts. */
    BigDecimal chargedBefore = Amounts.ZERO;
    BigDecimal refunded = Amounts.ZERO;
    /** Limits that replace the policy's; null if absent. */
    @Nullable BigDecimal hardLimit;
    @Nullable BigDecimal softLimit;
    /** True once people were warned of the cost. */
    boolean budgetWarned;
    /** The model that a person has chosen for all further turns of agents; null if each agent uses its own model. */
    @Nullable String turnModel;
    /** Time for which it had ended before it was retried; no part of its duration. */
    Duration ended = Duration.ZERO;
    /** When it became running in this attempt; null before. */
    @Nullable Instant begunAt;
    /** The first in plan order of its tasks at work, by its id in the plan; null if absent. Only {@link RunView} changes it. */
    @Nullable String currentTask;
    /** Position in the caller's trace; null where the caller gave none. */
    private @Nullable TraceParent trace;
    /** The run whose step started this one; null if absent. */
    @Nullable ParentRow parent;
    int planVersion = 1;
    /** Re-plannings asked for in this attempt. */
    int replans;
    Gate gate = Gate.NONE;
    /** When it entered its state. */
    @Nullable Instant stateSince;
    /** Time at work in this attempt, up to {@link #activeSince}. */
    Duration active = Duration.ZERO;
    /** Since when its time at work counts; null while it does not. */
    @Nullable Instant activeSince;
    /** When the last heartbeat of its workers was, if their silence fails the run; null while a worker sends them. */
    @Nullable Instant quietSince;
    @Nullable Instant startedAt;
    @Nullable Instant completedAt;
    @Nullable String errorCode;
    @Nullable String errorMessage;
    @Nullable String output;
    private @Nullable Face saved;
    private @Nullable Spending savedSpending;

    /** The columns of the run's own row. Columns that may change with every step are in another row. */
    private record Face(RunState state, int attempt, int effectGeneration, boolean failing, int agents, int tasks,
            int tasksCompleted, int tasksFailed, int tasksSkipped, int steps, int planVersion, int replans, Gate gate,
            @Nullable Instant stateSince, Duration active, @Nullable Instant activeSince, @Nullable Instant quietSince,
            @Nullable Instant startedAt, @Nullable Instant completedAt, @Nullable String errorCode,
            @Nullable String errorMessage, @Nullable String output, BigDecimal chargedBefore, BigDecimal refunded,
            BigDecimal uncollected, @Nullable BigDecimal hardLimit, @Nullable BigDecimal softLimit,
            boolean budgetWarned, @Nullable String turnModel, Duration ended, @Nullable Instant begunAt) {}

    /** Columns of the other row that do not change with every step. */
    private record Spending(Tokens tokens, BigDecimal cost, BigDecimal reserved, BigDecimal charged,
            BigDecimal remainder) {}

    /** The wait of a running run besides its tasks. */
    public enum Gate {
        NONE,
        /** The planner is making a new plan; nothing of the old one starts meanwhile. */
        REPLANNING,
        /** A person has approved the new plan, which is about to be put in place. */
        REPLAN_APPROVED,
        /** A person decides whether the result is accepted. */
        ACCEPTANCE,
        /** A person has decided that a run at its limit ends with what runs now. */
        FINISHING;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }

        public static Gate of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * Counters in the run's row, of the current attempt. The engine's own agent and tasks, which plan and are hooks, count
     * in {@code steps} only.
     *
     * @param tasksSkipped tasks that ended without being needed
     */
    public record Counts(int agents, int tasks, int tasksCompleted, int tasksFailed, int tasksSkipped, int steps,
            int stepsCompleted) {}

    public RunRow(UUID id, UUID workspaceId, String name, int priority, RunPolicy policy,
            @Nullable String outputTemplate) {
        this.id = id;
        this.workspaceId = workspaceId;
        this.name = name;
        this.priority = priority;
        this.policy = policy;
        this.outputTemplate = outputTemplate;
    }

    /** Sets its position in the caller's trace; for the code that creates or loads the run. */
    public RunRow traced(@Nullable TraceParent parent) {
        trace = parent;
        return this;
    }

    /** The origin of its spans. */
    public RunTrace trace() {
        return new RunTrace(id, attempt, trace);
    }

    /** Restores stored values; only the loader of views calls it. */
    public RunRow restore(RunState state, int attempt, int effectGeneration, int version, long seq, boolean failing,
            Counts counts, Tokens tokens, BigDecimal cost, @Nullable Instant startedAt, @Nullable Instant completedAt,
            @Nullable String errorCode, @Nullable String errorMessage) {
        this.state = state;
        this.attempt = attempt;
        this.effectGeneration = effectGeneration;
        this.version = version;
        this.seq = seq;
        this.failing = failing;
        this.agentCount = counts.agents();
        this.taskCount = counts.tasks();
        this.tasksCompleted = counts.tasksCompleted();
        this.tasksFailed = counts.tasksFailed();
        this.tasksSkipped = counts.tasksSkipped();
        this.stepCount = counts.steps();
        this.stepsCompleted = counts.stepsCompleted();
        this.tokens = tokens;
        this.cost = cost;
        this.startedAt = startedAt;
        this.completedAt = completedAt;
        this.errorCode = errorCode;
        this.errorMessage = errorMessage;
        saved();
        return this;
    }

    /** Sets the columns of the failure policy and the timeout monitor; for the loader of views only. */
    public RunRow restorePolicy(int planVersion, int replans, Gate gate, @Nullable Instant stateSince,
            Duration active, @Nullable Instant activeSince, @Nullable Instant quietSince) {
        this.planVersion = planVersion;
        this.replans = replans;
        this.gate = gate;
        this.stateSince = stateSince;
        this.active = active;
        this.activeSince = activeSince;
        this.quietSince = quietSince;
        saved();
        return this;
    }

    /** Sets its costs and limits; for the loader of views only. */
    public RunRow restoreCredits(BigDecimal reserved, BigDecimal charged, BigDecimal remainder, BigDecimal uncollected,
            BigDecimal chargedBefore, BigDecimal refunded, @Nullable BigDecimal hardLimit,
            @Nullable BigDecimal softLimit, boolean budgetWarned, @Nullable String turnModel) {
        this.reserved = reserved;
        this.charged = charged;
        this.remainder = remainder;
        this.uncollected = uncollected;
        this.chargedBefore = chargedBefore;
        this.refunded = refunded;
        this.hardLimit = hardLimit;
        this.softLimit = softLimit;
        this.budgetWarned = budgetWarned;
        this.turnModel = turnModel;
        saved();
        return this;
    }

    /**
     * Sets the time for which it had ended, and the beginning of its attempt; for the loader of views only.
     *
     * @param begunAt null before it became running in this attempt
     */
    public RunRow restoreAttempt(Duration ended, @Nullable Instant begunAt) {
        this.ended = ended;
        this.begunAt = begunAt;
        saved();
        return this;
    }

    /** Sets its parent; for the loader of views only. */
    public void restoreParent(ParentRow of) {
        this.parent = of;
    }

    /** The run whose step started it; null if absent. */
    public @Nullable ParentRow parent() {
        return parent;
    }

    private Face face() {
        return new Face(state, attempt, effectGeneration, failing, agentCount, taskCount, tasksCompleted, tasksFailed,
                tasksSkipped, stepCount, planVersion, replans, gate, stateSince, active, activeSince, quietSince,
                startedAt, completedAt, errorCode, errorMessage, output, chargedBefore, refunded, uncollected,
                hardLimit, softLimit, budgetWarned, turnModel, ended, begunAt);
    }

    /** True when the run's own row is not up to date; for the writer of changes. */
    public boolean unsaved() {
        return !face().equals(saved);
    }

    /** Marks the run's own row as up to date; for the writer and the loader of views. */
    public void saved() {
        saved = face();
        savedSpending = spending();
    }

    private Spending spending() {
        return new Spending(tokens, cost, reserved, charged, remainder);
    }

    /** True when the stored tokens and credits of the run are not up to date; for the writer of changes. */
    public boolean spent() {
        return !spending().equals(savedSpending);
    }

    public UUID id() {
        return id;
    }

    public UUID workspaceId() {
        return workspaceId;
    }

    public String name() {
        return name;
    }

    public int priority() {
        return priority;
    }

    public RunPolicy policy() {
        return policy;
    }

    public @Nullable String outputTemplate() {
        return outputTemplate;
    }

    public RunState state() {
        return state;
    }

    /** The current attempt, from 1. */
    public int attempt() {
        return attempt;
    }

    /** Part of every effect key: rises when the run starts over, so that its effects happen again. */
    public int effectGeneration() {
        return effectGeneration;
    }

    /** Rises by one with every commit that touches the run; the proof that a view is current. */
    public int version() {
        return version;
    }

    /** Sequence number of the run's last event. */
    public long seq() {
        return seq;
    }

    /** True from a task's final failure until the tasks that exist for this case have ended and the run fails. */
    public boolean failing() {
        return failing;
    }

    /** The plan version in use, from 1. */
    public int planVersion() {
        return planVersion;
    }

    /** Re-plannings asked for in this attempt. */
    public int replans() {
        return replans;
    }

    /** Its wait besides its tasks. */
    public Gate gate() {
        return gate;
    }

    /** When it entered its state; null for a run without transitions. */
    public @Nullable Instant stateSince() {
        return stateSince;
    }

    /** Time at work in this attempt, up to {@link #activeSince}. */
    public Duration active() {
        return active;
    }

    /** Since when its time at work counts; null while it does not. */
    public @Nullable Instant activeSince() {
        return activeSince;
    }

    /** Since when none of its workers has sent a heartbeat, if that fails the run; null while a worker does. */
    public @Nullable Instant quietSince() {
        return quietSince;
    }

    /** Tasks that had failed at the attempt's end, and steps of tasks that continued without them; set at that end. */
    public int failures() {
        return failures;
    }

    public Counts counts() {
        return new Counts(agentCount, taskCount, tasksCompleted, tasksFailed, tasksSkipped, stepCount, stepsCompleted);
    }

    public Tokens tokens() {
        return tokens;
    }

    /** Credits, all attempts together, whether collected or not. */
    public BigDecimal cost() {
        return cost;
    }

    /** Credits reserved for the open attempt; zero when none is open. */
    public BigDecimal reserved() {
        return reserved;
    }

    /** The part of {@link #reserved} that the attempt's steps have used; never more. */
    public BigDecimal charged() {
        return charged;
    }

    /** Collected cost of all attempts less their charges, in credits: half a millionth at most, either way. */
    public BigDecimal remainder() {
        return remainder;
    }

    /** Cost of the current attempt's steps, in credits, beyond what could be collected. */
    public BigDecimal uncollected() {
        return uncollected;
    }

    /** Credits that settled attempts were charged. */
    public BigDecimal chargedBefore() {
        return chargedBefore;
    }

    /** Credits that settled attempts gave back. */
    public BigDecimal refunded() {
        return refunded;
    }

    /** The hard limit that replaces the policy's; null if absent. */
    public @Nullable BigDecimal hardLimit() {
        return hardLimit;
    }

    /** The soft limit that replaces the policy's; null if absent. */
    public @Nullable BigDecimal softLimit() {
        return softLimit;
    }

    public @Nullable String turnModel() {
        return turnModel;
    }

    /** Time for which it had ended before it was retried; no part of its duration. */
    public Duration ended() {
        return ended;
    }

    /** When it became running in this attempt; null before. */
    public @Nullable Instant begunAt() {
        return begunAt;
    }

    /** The first in plan order of its tasks at work, by its id in the plan; null if absent. */
    public @Nullable String currentTask() {
        return currentTask;
    }

    /** True once people were warned of the cost. */
    public boolean budgetWarned() {
        return budgetWarned;
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

    /** The output of this decision, JSON text; null if absent. The view does not keep outputs. */
    public @Nullable String output() {
        return output;
    }
}
