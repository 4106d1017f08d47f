package io.keelson.server.engine.execute;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.Seconds;
import io.keelson.core.run.StepError;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.log.LogContext;
import io.keelson.server.engine.execute.Scopes.ToolInput;
import io.keelson.server.engine.tool.Execution;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.SentRequests;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolUsage;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The execution of a step, or of a chain of steps, in a lane on one virtual thread. It reports each result. Every stop of a tool
 * is an interrupt.
 */
final class LaneExecution implements Runnable, Execution {
    private static final Logger LOG = LoggerFactory.getLogger(LaneExecution.class);

    /** The number of steps after which a chain ends, so that others get its slot. The core gives no longer ones. */
    private static final int MAX_CHAIN_STEPS = 64;

    enum Stop {
        TIMEOUT, LEASE_GONE, SHUTDOWN
    }

    /**
     * Parts that the executions of a node share.
     *
     * @param reports submits reports again while the database is away
     * @param preparing bounds the steps of waiting slots that have not begun to wait; first come, first served
     * @param processing bounds executions that process an answer; they need not wait for executions that begin
     * @param firstReport the first time of a chain that has one report
     * @param longestChain the time after which a chain ends between two steps
     * @param beforeCreation the time for which a chain is executed before its run is created or its first step claimed, at most that of
     *            the first report
     * @param onFree receives the slot of each ended execution
     */
    record Parts(ToolRunner runner, Function<Command, CompletableFuture<Reply>> commands,
            Function<Command, CompletableFuture<Reply>> reports, DelayedActions timeouts,
            LocalExecutor.StepDetails details, Clock clock, Actor actor, Semaphore preparing, Semaphore processing,
            Duration firstReport, Duration longestChain, Duration beforeCreation, Consumer<SlotKind> onFree) {}

    /** The executor, which finds executions by their steps and lanes. */
    interface Owner {
        /** True when the node takes no further steps. */
        boolean isClosing();

        /** The execution has the lease of the next step in place of that of the step before; of one step when its run is created, or it is claimed. */
        void continues(LaneExecution execution, StepExecution before, StepExecution next);

        /** Frees the lane, unless another execution has it. */
        void letGo(LaneExecution execution);

        /** The execution has no step any more. */
        void ended(LaneExecution execution);
    }

    private final Parts parts;
    private final Owner owner;
    private final Lane lane;
    private final SlotKind slot;
    /** The first step, and the steps of its chain behind it. */
    private final List<StepExecution> steps;
    private final boolean endsAtCharge;
    /** Reports of a chain; null for a single step. */
    private final @Nullable ChainReports chain;
    private final @Nullable ChainScope scope;
    private final CountDownLatch ended = new CountDownLatch(1);
    /** The step at work. */
    private volatile StepExecution execution;
    private RecordedRequests sent;
    private @Nullable Thread thread;
    private @Nullable Stop reason;
    private boolean inTool;
    private boolean begun;
    private boolean called;
    /** The report is made without a lease: it is taken only if the step has ended. */
    private boolean leaseGone;
    /** The semaphore of {@link Parts} that it has; null while it waits. Set by one thread at a time. */
    private volatile @Nullable Semaphore phase;
    /** The resolved input for the record; null until it is known, and when the plan's own row has it. */
    private volatile @Nullable String input;

    /**
     * @param following the steps of the chain behind the first one
     * @param endsAtCharge whether the chain ends behind a step with a cost
     * @param opening the commit that begins the first step; null if it has been claimed
     */
    LaneExecution(Parts parts, Owner owner, StepExecution first, List<StepExecution> following,
            boolean endsAtCharge, ChainReports.@Nullable Opening opening) {
        this.parts = parts;
        this.owner = owner;
        this.execution = first;
        this.lane = new Lane(first.taskId(), first.lane());
        this.slot = parts.runner.slot(first.tool());
        this.steps = Stream.concat(Stream.of(first), following.stream()).toList();
        this.endsAtCharge = endsAtCharge;
        this.sent = requests(first);
        this.chain = following.isEmpty() && opening == null ? null
                : new ChainReports(steps, opening, parts.reports, parts.actor, () -> stop(Stop.LEASE_GONE));
        this.scope = chain == null ? null
                : new ChainScope(chain::record, () -> chain.isOpened() || chain.awaitOpening());
    }

    Lane lane() {
        return lane;
    }

    SlotKind slot() {
        return slot;
    }

    /** The step at work. */
    StepExecution execution() {
        return execution;
    }

    boolean isChain() {
        return chain != null;
    }

    /** True when the database has its lease, unless it was lost. */
    boolean isRecorded() {
        return chain == null || chain.isOpened();
    }

    /** Waits for its end; false if the time is over before. */
    boolean awaitEnd(long nanos) throws InterruptedException {
        return ended.await(nanos, TimeUnit.NANOSECONDS);
    }

    LogContext about() {
        return LogContext.workspace(execution.workspaceId()).and(LogContext.RUN, execution.runId())
                .and(LogContext.TASK, execution.taskId()).and(LogContext.STEP, execution.stepId())
                .and(LogContext.NODE, parts.actor.id());
    }

    private RecordedRequests requests(StepExecution of) {
        return new RecordedRequests(parts.details.of(of), slot == SlotKind.MODEL && of.leaseEpoch() > 1, parts.clock);
    }

    /** The step whose lease is recorded: the one at work, or one before it in its chain. */
    StepExecution recorded() {
        return chain == null ? execution : chain.recorded();
    }

    boolean holds(UUID stepId, int epoch) {
        StepExecution held = recorded();
        return held.stepId().equals(stepId) && held.leaseEpoch() == epoch;
    }

    /** Receives the step of the lane that a commit has begun; false if this execution has ended or is to stop. */
    boolean continuesWith(StepExecution next) {
        StepExecution before = recorded();
        if (chain == null || isStopped(Stop.LEASE_GONE) || !chain.continuesWith(next)) {
            return false;
        }
        owner.continues(this, before, next);
        return true;
    }

    private synchronized boolean isStopped(Stop why) {
        return reason == why;
    }

    @Override
    public void run() {
        if (slot.waits()) {
            enterPhase(parts.preparing);
        }
        try {
            if (chain == null) {
                Command report = executeBounded();
                if (report != null) {
                    report(() -> submit(report));
                }
            } else {
                runChain(chain, Objects.requireNonNull(scope));
            }
        } finally {
            owner.ended(this);
            letGo();
            if (chain != null) {
                chain.close();
            }
            leavePhase();
            ended.countDown();
            parts.onFree.accept(slot);
        }
    }

    private @Nullable Command executeBounded() {
        return DocumentMemory.forAnswers(execution.workspaceId(), this::execute);
    }

    /** Executes the steps of the chain until one does not complete, or others are to get its slot. */
    private void runChain(ChainReports reports, ChainScope outputs) {
        long began = System.nanoTime();
        int done = 0;
        boolean opens = !reports.isOpened() && parts.beforeCreation.compareTo(parts.firstReport) < 0;
        try (DelayedActions.Handle _ = parts.timeouts.after(parts.firstReport, reports::becomeEager);
                DelayedActions.Handle _ = opens ? parts.timeouts.after(parts.beforeCreation, reports::open)
                        : () -> {}) {
            while (true) {
                Command report = executeBounded();
                done++;
                boolean yields = done > 1 && System.nanoTime() - began >= parts.longestChain.toNanos()
                        || done == MAX_CHAIN_STEPS;
                if (report instanceof Command.Complete complete && done < steps.size() && !yields
                        && chainable(complete)) {
                    outputs.add(execution, complete.result().output(), steps.get(done));
                    reports.add(complete);
                    next(steps.get(done));
                } else if (report instanceof Command.Report last) {
                    report(() -> reports.end(last, yields || owner.isClosing(), this::letGo));
                    return;
                } else {
                    return;
                }
            }
        }
    }

    /** True when nothing in the result has an effect on the next step but its output. */
    private boolean chainable(Command.Complete complete) {
        Result result = complete.result();
        boolean charged = result.cost() != null || !result.tokens().none();
        return result.artifacts().isEmpty() && result.proposals().isEmpty() && complete.lost().isEmpty()
                && !(charged && endsAtCharge);
    }

    private synchronized void next(StepExecution step) {
        execution = step;
        sent = requests(step);
        input = null;
        begun = false;
        called = false;
    }

    /** Records the ends of the steps before the one at work, and so its lease; false if the lane is lost. */
    private boolean record() {
        return chain == null || chain.record();
    }

    /** Records the lease before the step acts under it. */
    private void requireRecord() throws InterruptedException {
        if (!record()) {
            throw new InterruptedException("the chain has lost its lease");
        }
    }

    /** Frees the lane, unless its next step has begun here. */
    private void letGo() {
        owner.letGo(this);
    }

    @Override
    public void waitBegins() {
        leavePhase();
    }

    @Override
    public void waitEnds() {
        enterPhase(parts.processing);
    }

    @Override
    public SentRequests sent() {
        record();
        return sent;
    }

    @Override
    public long hold(WorstCase most, boolean begun) throws ToolFailure, InterruptedException {
        requireRecord();
        Reply reply = parts.commands.apply(new Command.Hold(execution.runId(), execution.stepId(),
                execution.leaseEpoch(), most, begun, parts.actor)).join();
        if (reply instanceof Reply.Claimed held) {
            Long paid = held.assignment().maxOutputTokens();
            return paid == null ? most.maxOutput() : Math.min(paid, most.maxOutput());
        }
        if (reply instanceof Reply.Rejected refused && refused.code().equals("CREDITS_HELD")) {
            throw new ToolFailure("BUDGET_EXCEEDED", ErrorClass.BUDGET, refused.message());
        }
        stop(Stop.LEASE_GONE);
        throw new InterruptedException("the step went back");
    }

    @Override
    public boolean track(@Nullable CallWait now) throws InterruptedException {
        requireRecord();
        Reply reply = parts.commands.apply(new Command.TrackCall(execution.runId(), execution.stepId(),
                execution.leaseEpoch(), now, parts.actor)).join();
        if (reply instanceof Reply.Rejected refused && !refused.code().equals("OUTCOME_UNKNOWN")) {
            stop(Stop.LEASE_GONE);
            throw new InterruptedException("the step is executed under another lease");
        }
        return reply instanceof Reply.Done;
    }

    private void enterPhase(Semaphore next) {
        if (phase == null) {
            next.acquireUninterruptibly();
            phase = next;
        }
    }

    private void leavePhase() {
        Semaphore left = phase;
        if (left != null) {
            phase = null;
            left.release();
        }
    }

    private @Nullable Command execute() {
        if (!enter()) {
            return afterStop();
        }
        StepExecution step = execution;
        try (DelayedActions.Handle _ = parts.timeouts.after(step.timeout(), () -> timedOut(step))) {
            ToolInput resolved = parts.runner.input(step, scope);
            input = RecordedInput.of(execution.input(), resolved);
            called = true;
            ToolResult result = parts.runner.run(step, resolved, this, this::record);
            return leave() ? reports().complete(result) : afterStop();
        } catch (InterruptedException e) {
            leave();
            return afterStop();
        } catch (ToolFailure e) {
            if (!leave()) {
                return afterStop();
            }
            Deferral outage = Deferrals.of(e, execution, message(e));
            return outage != null ? reports().release(outage, null, sent.open())
                    : reports().fail(new StepError(e.code(), e.errorClass(), message(e), e.retryAfter(), e.system()),
                            e.spent(), e.spent().equals(ToolUsage.NONE) ? sent.open() : sent.reported());
        } catch (HandBackException e) {
            if (e.busy() == null) {
                try (LogContext _ = about()) {
                    LOG.warn("tool {} released step {}: {}", execution.tool(), execution.stepId(), e.getMessage());
                }
            }
            return leave() ? reports().release(Deferrals.of(e), e.call(), sent.open()) : afterStop();
        } catch (RuntimeException e) {
            if (ToolRunner.databaseUnavailable(e) && !(called && execution.atMostOnce())) {
                try (LogContext _ = about()) {
                    LOG.warn("tool {} released step {}: the database does not answer", execution.tool(),
                            execution.stepId(), e);
                }
                return leave() ? reports().release(null, null, sent.unreported()) : afterStop();
            }
            try (LogContext _ = about()) {
                LOG.warn("tool {} failed unexpectedly on step {}", execution.tool(), execution.stepId(), e);
            }
            return leave() ? reports().fail(new StepError("TOOL_BROKE", ErrorClass.INFRASTRUCTURE, String.valueOf(e)))
                    : afterStop();
        }
    }

    private StepReports reports() {
        return new StepReports(execution, sent, input, parts.runner, parts.actor);
    }

    private synchronized boolean enter() {
        thread = Thread.currentThread();
        inTool = reason == null && !owner.isClosing();
        begun = inTool;
        if (owner.isClosing() && reason == null) {
            reason = Stop.SHUTDOWN;
        }
        return inTool;
    }

    /** False when it was stopped meanwhile: then the interrupt decides, not the result. */
    private synchronized boolean leave() {
        inTool = false;
        boolean interrupted = Thread.interrupted();
        return reason == null && !interrupted;
    }

    /** The time of a step is over; the chain may be at another one by now. */
    private synchronized void timedOut(StepExecution step) {
        if (step == execution && inTool) {
            stop(Stop.TIMEOUT);
        }
    }

    synchronized void stop(Stop why) {
        if (reason == null) {
            reason = why;
            if (inTool && thread != null) {
                thread.interrupt();
            }
        }
    }

    private synchronized @Nullable Command afterStop() {
        Stop why = reason == null ? Stop.SHUTDOWN : reason;
        return switch (why) {
            case LEASE_GONE -> unanswered();
            case SHUTDOWN -> begun && execution.atMostOnce() ? reports().fail(new StepError("OUTCOME_UNKNOWN",
                    ErrorClass.PERMANENT, "this server was stopped during the call: it may have had its effect"))
                    : reports().release(null, null, sent.unreported());
            case TIMEOUT -> reports().fail(new StepError("STEP_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                    "the step took longer than its " + Seconds.of(execution.timeout())));
        };
    }

    /** Names the requests to models of a step that may have ended; null if absent. */
    private @Nullable Command unanswered() {
        leaseGone = true;
        return sent.all().isEmpty() ? null : reports().release(null, null, sent.all());
    }

    private void submit(Command report) {
        Reply reply = parts.reports.apply(report).whenComplete((taken, failure) -> letGo()).join();
        if (leaseGone && reply.equals(Reply.CHANGED)) {
            sent.cancel();
        }
    }

    private void report(Runnable submit) {
        try {
            submit.run();
        } catch (RuntimeException e) {
            try (LogContext _ = about()) {
                LOG.error("could not record the outcome of step {}; its lease will expire",
                        execution.stepId(), e);
            }
        }
    }

    private static String message(ToolFailure e) {
        return String.valueOf(e.getMessage());
    }
}
