package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.CallGate;
import io.keelson.core.run.PreviousFailure;
import io.keelson.core.run.SignalWait;
import io.keelson.core.run.SourceStep;
import io.keelson.core.run.StepAssignment;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A step: the unit that is claimed under a lease, fenced by its epoch, retried, timed out and metered. */
public final class StepRow {
    /** A deterministic order. */
    static final Comparator<StepRow> BY_ID = Comparator.comparing(step -> step.id);

    private final UUID id;
    private final TaskRow task;
    private StepSpec spec;
    private final int position;
    private final int turn;
    private final int lane;
    private final @Nullable String callEffect;
    private @Nullable UUID caller;

    int taskAttempt;
    StepState state = StepState.PENDING;
    int attempt;
    int failures;
    int deliveries;
    int leaseEpoch;
    int resultEpoch;
    @Nullable String holder;
    boolean queued;
    /** The lease of the worker that holds it; null if absent. */
    @Nullable LaneLease laneLease;
    /** Held for its lease; null for nothing. Only {@link Holds} changes it. */
    @Nullable Hold hold;
    /** Use that is charged before the end of a lease; null if absent. Only {@link Metering} and {@link Requests} change it. */
    @Nullable Metered metered;
    /** Hold for an answer that the next execution fetches; null if absent. Only {@link Holds} changes it. */
    @Nullable Hold kept;
    /** Hash of the output of a completed call of an agent; null for any other step. */
    @Nullable Long callResult;
    /** Calls of tools by its program, in their order. Only {@link RunView} changes them. */
    List<StepRow> calls = List.of();
    /** Requests of its program to models that have not ended, by id. Only {@link Requests} changes them. */
    Map<UUID, OpenRequest> requests = Map.of();
    boolean evaluating;
    long tokens;
    BigDecimal cost = BigDecimal.ZERO;
    /** Attempts before a person granted new retries; they count against no retry budget. */
    int grantedRetries;
    /** True when it failed and its task continued without it. */
    boolean failureIgnored;
    /** The signal that it waits for; null if absent. */
    @Nullable SignalWait signalWait;
    /** Why a call of an agent waits for a person, or may have to; null otherwise. */
    @Nullable CallGate gate;
    /** Where its call of another server is; null if nothing is stored of one. {@link CallWaits} changes it; an end clears it. */
    @Nullable CallRow call;
    @Nullable Instant nextRunAt;
    /** The first deferral of its attempt; null if absent. */
    @Nullable Instant deferredSince;
    /**
     * The system that it was last deferred for, null for one without a name; before its first execution the source of the
     * result that it waits for or has taken over.
     */
    @Nullable String deferredFor;
    @Nullable Instant startedAt;
    @Nullable Instant completedAt;
    @Nullable String errorCode;
    @Nullable String errorMessage;
    @Nullable String errorClass;

    /**
     * @param position order within the task, from 1
     * @param turn 1, or more for a further turn of an agent at the same position
     */
    public StepRow(UUID id, TaskRow task, StepSpec spec, int position, int turn) {
        this(id, task, spec, position, turn, null);
    }

    /** @param callEffect of a call of an agent, see {@link #callEffect}; null for any other step */
    public StepRow(UUID id, TaskRow task, StepSpec spec, int position, int turn, @Nullable String callEffect) {
        this(id, task, spec, position, turn, task.spec().parallelSteps() ? position : 0, callEffect);
    }

    /** @param lane see {@link #lane} */
    public StepRow(UUID id, TaskRow task, StepSpec spec, int position, int turn, int lane,
            @Nullable String callEffect) {
        this.id = id;
        this.task = task;
        this.taskAttempt = task.attempt;
        this.spec = spec;
        this.position = position;
        this.turn = turn;
        this.lane = lane;
        this.callEffect = callEffect;
    }

    /** Sets the step whose program makes this call; null for any other step. Called before the step is added to a view. */
    public StepRow calledBy(@Nullable UUID step) {
        this.caller = step;
        return this;
    }

    /** Its executor has computed its worst case; only {@link Holds} changes it. */
    void bound(StepSpec within) {
        this.spec = within;
    }

    /** Sets the columns of the failure policy; for the loader of views only. */
    public StepRow restorePolicy(int grantedRetries, boolean failureIgnored) {
        this.grantedRetries = grantedRetries;
        this.failureIgnored = failureIgnored;
        return this;
    }

    /** Sets the awaited signal; for the loader of views only. */
    public StepRow restoreAwaited(@Nullable SignalWait signalWait) {
        this.signalWait = signalWait;
        return this;
    }

    /** Sets why it waits for a person; for the loader of views only. */
    public StepRow restoreGate(@Nullable CallGate gate) {
        this.gate = gate;
        return this;
    }

    /** Sets the use that heartbeats have charged; for the loader of views only. */
    public StepRow restoreMetered(@Nullable Metered metered) {
        this.metered = metered;
        return this;
    }

    /** Restores the kept hold; only the loader of views calls it. */
    public StepRow restoreKept(@Nullable Hold kept) {
        this.kept = kept;
        return this;
    }

    /** Sets the hash of a call's output; for the loader of views only. */
    public StepRow restoreCallResult(@Nullable Long callResult) {
        this.callResult = callResult;
        return this;
    }

    /** Sets its deferral; for the loader of views only. */
    public StepRow restoreDeferral(@Nullable Instant deferredSince, @Nullable String deferredFor) {
        this.deferredSince = deferredSince;
        this.deferredFor = deferredFor;
        return this;
    }

    /** Restores stored values; only the loader of views calls it. */
    public StepRow restore(StepState state, int attempt, int failures, int deliveries, int leaseEpoch, int resultEpoch,
            long tokens, BigDecimal cost, @Nullable Instant nextRunAt, @Nullable Instant startedAt,
            @Nullable Instant completedAt, @Nullable String errorCode, @Nullable String errorMessage,
            @Nullable String errorClass) {
        this.state = state;
        this.attempt = attempt;
        this.failures = failures;
        this.deliveries = deliveries;
        this.leaseEpoch = leaseEpoch;
        this.resultEpoch = resultEpoch;
        this.tokens = tokens;
        this.cost = cost;
        this.nextRunAt = nextRunAt;
        this.startedAt = startedAt;
        this.completedAt = completedAt;
        this.errorCode = errorCode;
        this.errorMessage = errorMessage;
        this.errorClass = errorClass;
        return this;
    }

    /**
     * Its lane within the task: 0 for steps that follow one another, a lane of its own from 1 for each step that may run
     * beside others. Never changed.
     */
    public int lane() {
        return lane;
    }

    /** True while it waits for a person's answer to its ticket and is not retried by itself. */
    public boolean parked() {
        return state == StepState.AWAITING_RETRY && nextRunAt == null;
    }

    /** True from the deferral until it may be claimed again. */
    public boolean deferred() {
        return state == StepState.RUNNING && !queued && nextRunAt != null;
    }

    /** True while its program is ended and it waits for the end of a call, until it is claimed again. */
    public boolean waitsForCalls() {
        return state == StepState.WAITING && spec.kind() == StepKind.TOOL;
    }

    /** True before its first execution if it may take over the result of another step. */
    boolean reuses() {
        return state == StepState.PENDING && turn == 1 && caller == null
                && (spec.kind() == StepKind.TOOL || spec.kind() == StepKind.TURN)
                && task.spec().policy().reuses(spec.name());
    }

    /** True while another step computes the result that it may take over. */
    boolean awaitsResult() {
        return evaluating && state == StepState.PENDING && deferredSince != null;
    }

    /** The step whose result it has taken over; null where it has none, or has computed it. */
    @Nullable SourceStep reusedFrom() {
        return state == StepState.COMPLETED && attempt == 0 ? SourceStep.of(deferredFor) : null;
    }

    /** True after a lost lease until it is claimed again. */
    boolean isLost() {
        return state == StepState.RUNNING && !isHeld() && nextRunAt == null && deliveries > 0;
    }

    /** Use that heartbeats of the last such lease have charged; null if absent. */
    public @Nullable Metered metered() {
        return metered;
    }

    /** When an executor first found a system busy in this attempt; null for never. */
    public @Nullable Instant deferredSince() {
        return deferredSince;
    }

    /** The system that was busy at the last deferral of this attempt; null where it was not named. */
    public @Nullable String deferredFor() {
        return deferredFor;
    }

    /** Where its call of another server is; null if nothing is stored of one. */
    public @Nullable CallRow call() {
        return call;
    }

    /** The last task attempt that it belongs to. */
    public int taskAttempt() {
        return taskAttempt;
    }

    /** Attempts before a person granted new retries; they count against no retry budget. */
    public int grantedRetries() {
        return grantedRetries;
    }

    /** The step whose program makes this call; null for any other step, calls of an agent included. */
    public @Nullable UUID caller() {
        return caller;
    }

    /** Adds a call of its program. */
    void addCall(StepRow call) {
        if (calls.isEmpty()) {
            calls = new ArrayList<>();
        }
        calls.add(call);
    }

    /** Adds a request that has not ended. */
    void add(OpenRequest request) {
        if (requests.isEmpty()) {
            requests = new LinkedHashMap<>();
        }
        requests.put(request.id(), request);
    }

    /**
     * The rest of the limits, in credits, with which its program is executed again after the refusal of a request. Null if absent.
     */
    public @Nullable BigDecimal needed() {
        Metered.Requests asked = metered == null || metered.epoch() != leaseEpoch ? null : metered.requests();
        return asked == null || !asked.waits() || isHeld() || state.terminal() ? null : asked.needed();
    }

    /** Requests of its program to models that have not ended. */
    public Collection<OpenRequest> requests() {
        return requests.values();
    }

    /** True when it failed and its task continued without it. */
    public boolean failureIgnored() {
        return failureIgnored;
    }

    /** The signal that it waits for; null if absent. */
    public @Nullable SignalWait awaited() {
        return signalWait;
    }

    /** True while a worker or node holds a lease on it. */
    public boolean isHeld() {
        return holder != null;
    }

    public UUID id() {
        return id;
    }

    public TaskRow task() {
        return task;
    }

    public StepSpec spec() {
        return spec;
    }

    public String name() {
        return turn == 1 ? spec.name() : spec.name() + "#" + turn;
    }

    public int position() {
        return position;
    }

    public int turn() {
        return turn;
    }

    public StepState state() {
        return state;
    }

    /** Rises when a claim follows a reported failure; 0 before the first claim. */
    public int attempt() {
        return attempt;
    }

    /** Reported failures, timeouts included. */
    public int failures() {
        return failures;
    }

    /** Claims in a row that ended without a report of their holder. */
    public int deliveries() {
        return deliveries;
    }

    /** Rises with every claim and never falls. */
    public int leaseEpoch() {
        return leaseEpoch;
    }

    /** The last epoch for which a result is recorded; 0 if absent. */
    public int resultEpoch() {
        return resultEpoch;
    }

    /** The worker or node that holds the lease; null if absent. */
    public @Nullable String holder() {
        return holder;
    }

    /** The credits that are held for its lease; null if absent. */
    public @Nullable Hold hold() {
        return hold;
    }

    /** Hold for an answer that the next execution fetches; null if absent. */
    public @Nullable Hold kept() {
        return kept;
    }

    public long tokens() {
        return tokens;
    }

    /** Credits. */
    public BigDecimal cost() {
        return cost;
    }

    public @Nullable Instant nextRunAt() {
        return nextRunAt;
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

    public @Nullable String errorClass() {
        return errorClass;
    }

    /**
     * {@code TOOL:digest/k} for the k-th call of an agent with this tool and input in the task's attempt: the content
     * of a call, and not its turn, tells whether a call is repeated. Null for any other step.
     */
    public @Nullable String callEffect() {
        return callEffect;
    }

    /** Hash of the output of a completed call of an agent, by which equal results are found; null for any other step. */
    public @Nullable Long callResult() {
        return callResult;
    }

    void yielded(String json) {
        if (callEffect != null) {
            callResult = json.chars().asLongStream().reduce(1, (hash, each) -> 31 * hash + each);
        }
    }

    /** True for a call of an agent that waits for a person, or may have to, once its turn comes. An answered one has a start. */
    boolean asks() {
        return gate != null && gate.reason() != CallGate.Reason.CONDITION_FALSE && startedAt == null && attempt == 0;
    }

    /** Why a call of an agent waits for a person, may have to or has waited; null otherwise. */
    public @Nullable CallGate gate() {
        return gate;
    }

    /** True for a question of an agent to a person. */
    public boolean question() {
        return spec.kind() == StepKind.CALL && spec.tool().equals(AgentTerms.ASK);
    }

    /** A person has changed the input of a call that waits for approval. */
    void edit(String input) {
        spec = new StepSpec(spec.name(), spec.kind(), spec.tool(), input, spec.retry(), spec.timeout(),
                spec.worstCase());
    }

    /** True for a call of an agent that is not executed again when its outcome is unknown. */
    public boolean atMostOnce() {
        return spec.kind() == StepKind.CALL && spec.retry().maxAttempts() == 1;
    }

    /** The step's part of its effect key: its name, or for a call its content. */
    public String effect() {
        return callEffect == null ? name() : callEffect;
    }

    /** The key of the step's external effects, see {@link StepAssignment#effectKey}. */
    public String effectKey(RunRow run) {
        return StepAssignment.effectKey(run.id(), run.effectGeneration(), task.effectGeneration(), task.key(),
                effect());
    }

    /** The previous failure; null if absent. */
    @Nullable PreviousFailure setback() {
        return PreviousFailure.of(task.attempt(), PreviousFailure.error(errorCode, errorClass, errorMessage),
                PreviousFailure.error(task.errorCode(), task.errorClass(), task.errorMessage()));
    }
}
