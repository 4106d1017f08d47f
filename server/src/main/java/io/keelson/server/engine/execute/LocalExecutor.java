package io.keelson.server.engine.execute;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.Seconds;
import io.keelson.core.run.StepError;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.LargeDocuments;
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
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs this node's steps, each on a virtual thread of its own, and reports their results. A slow tool holds neither a
 * connection nor a lock. Every stop of a tool is an interrupt. The steps of a chain run one after another on one thread.
 *
 * <p>Of the steps that wait for other systems, few at a time prepare their requests and have their answers in memory. The
 * timeout of a step begins when it is one of them.
 */
public final class LocalExecutor {
    private static final Logger LOG = LoggerFactory.getLogger(LocalExecutor.class);
    /** Each of them needs connections to the database, of which there are about as many. */
    private static final int MAX_PREPARING = 8;

    /** The number of steps after which a chain ends, so that others get its slot. The core gives no longer ones. */
    private static final int MAX_CHAIN_STEPS = 64;

    private enum Stop {
        TIMEOUT, LEASE_GONE, SHUTDOWN
    }

    /** The details of steps. */
    @FunctionalInterface
    public interface StepDetails {
        /** The details of the execution's step. */
        RecordedRequests.Details of(StepExecution execution);
    }

    private final ToolRunner runner;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final DelayedActions timeouts;
    private final StepDetails details;
    private final Clock clock;
    private final Actor actor;
    private final Consumer<SlotKind> onFree;
    /** By step. */
    private final Map<UUID, Running> running = new ConcurrentHashMap<>();
    /** The latest execution of each lane held here. */
    private final Map<Lane, Running> holding = new ConcurrentHashMap<>();
    private final Map<SlotKind, AtomicInteger> used = new EnumMap<>(SlotKind.class);
    /** Bounds the steps of waiting slots that have not begun to wait; first come, first served. */
    private final Semaphore preparing;
    /** Bounds executions that process an answer; they need not wait for executions that begin. */
    private final Semaphore processing;
    private final Duration firstReport;
    private final Duration longestChain;
    private volatile boolean closing;

    /**
     * @param maxActive steps of waiting slots that prepare a request at a time, and that process an answer; at least 1
     * @param firstReport the first time of a chain that has one report
     * @param longestChain the time after which a chain ends between two steps
     */
    public LocalExecutor(ToolRunner runner, Function<Command, CompletableFuture<Reply>> commands,
            DelayedActions timeouts, StepDetails details, Clock clock, Actor actor,
            Consumer<SlotKind> onFree, int maxActive, Duration firstReport, Duration longestChain) {
        this.details = details;
        this.clock = clock;
        this.runner = runner;
        this.commands = commands;
        this.timeouts = timeouts;
        this.actor = actor;
        this.onFree = onFree;
        this.firstReport = firstReport;
        this.longestChain = longestChain;
        this.preparing = new Semaphore(Math.min(maxActive, MAX_PREPARING), true);
        this.processing = new Semaphore(maxActive, true);
        for (SlotKind kind : SlotKind.values()) {
            used.put(kind, new AtomicInteger());
        }
    }

    /** Number of slots of the kind that held lanes use, reports in progress included. */
    public int size(SlotKind kind) {
        return used(kind).get();
    }

    private AtomicInteger used(SlotKind kind) {
        return Objects.requireNonNull(used.get(kind));
    }

    /** The kind of the slot that the lane uses; null for a lane that is not held here. */
    public @Nullable SlotKind slot(Lane lane) {
        Running found = holding.get(lane);
        return found == null ? null : found.slot;
    }

    /** True when a chain is executed in the lane. */
    public boolean isChain(Lane lane) {
        Running found = holding.get(lane);
        return found != null && found.chain != null;
    }

    /** Executions that run or report, by the lane whose lease must be extended. */
    public Map<Lane, StepExecution> held() {
        Map<Lane, StepExecution> held = new HashMap<>();
        holding.forEach((lane, found) -> held.put(lane, found.recorded()));
        return held;
    }

    /**
     * Starts an execution, unless a chain in that lane continues with its step. Other earlier executions in that lane have lost
     * their lease.
     *
     * @param following the steps of its chain behind it
     * @param endsAtCharge whether the chain ends behind a step with a cost
     */
    public void start(StepExecution execution, List<StepExecution> following, boolean endsAtCharge) {
        Lane lane = new Lane(execution.taskId(), execution.lane());
        Running before = holding.get(lane);
        if (before != null && before.continuesWith(execution)) {
            return;
        }
        Running begun = new Running(execution, following, endsAtCharge);
        running.put(execution.stepId(), begun);
        used(begun.slot).incrementAndGet();
        holding.put(lane, begun);
        if (before != null) {
            used(before.slot).decrementAndGet();
            before.stop(Stop.LEASE_GONE);
        }
        Thread.ofVirtual().name("step-" + execution.stepId()).start(begun);
    }

    /** The step's lease is lost: stops its execution, whose result no longer counts. */
    public void stop(UUID stepId, int epoch) {
        Running found = running.get(stepId);
        if (found != null && found.holds(stepId, epoch)) {
            found.stop(Stop.LEASE_GONE);
        }
    }

    /** Stops all executions and releases their leases. */
    public void close(Duration timeout) throws InterruptedException {
        closing = true;
        List<Running> all = new ArrayList<>(running.values());
        all.forEach(each -> each.stop(Stop.SHUTDOWN));
        long deadline = System.nanoTime() + timeout.toNanos();
        for (Running each : all) {
            if (!each.ended.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                try (LogContext _ = about(each.execution)) {
                    LOG.warn("tool {} of step {} does not stop; its lease will expire", each.execution.tool(),
                            each.execution.stepId());
                }
            }
        }
    }

    private LogContext about(StepExecution execution) {
        return LogContext.workspace(execution.workspaceId()).and(LogContext.RUN, execution.runId())
                .and(LogContext.TASK, execution.taskId()).and(LogContext.STEP, execution.stepId())
                .and(LogContext.NODE, actor.id());
    }

    private final class Running implements Runnable, Execution {
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
        /** {@link #preparing} or {@link #processing}; null while it waits. Set by one thread at a time. */
        private volatile @Nullable Semaphore phase;
        /** The resolved input for the record; null until it is known, and when the plan's own row has it. */
        private volatile @Nullable String input;

        private Running(StepExecution first, List<StepExecution> following, boolean endsAtCharge) {
            this.execution = first;
            this.lane = new Lane(first.taskId(), first.lane());
            this.slot = runner.slot(first.tool());
            this.steps = Stream.concat(Stream.of(first), following.stream()).toList();
            this.endsAtCharge = endsAtCharge;
            this.sent = requests(first);
            this.chain = following.isEmpty() ? null
                    : new ChainReports(steps, commands, actor, () -> stop(Stop.LEASE_GONE));
            this.scope = chain == null ? null : new ChainScope(chain::record);
        }

        private RecordedRequests requests(StepExecution of) {
            return new RecordedRequests(details.of(of), slot == SlotKind.MODEL && of.leaseEpoch() > 1, clock);
        }

        /** The step whose lease is recorded: the one at work, or one before it in its chain. */
        private StepExecution recorded() {
            return chain == null ? execution : chain.recorded();
        }

        private boolean holds(UUID stepId, int epoch) {
            StepExecution held = recorded();
            return held.stepId().equals(stepId) && held.leaseEpoch() == epoch;
        }

        /** Receives the step of the lane that a commit has begun; false if this execution has ended or is to stop. */
        private boolean continuesWith(StepExecution next) {
            StepExecution before = recorded();
            if (chain == null || isStopped(Stop.LEASE_GONE) || !chain.continuesWith(next)) {
                return false;
            }
            running.put(next.stepId(), this);
            running.remove(before.stepId(), this);
            return true;
        }

        private synchronized boolean isStopped(Stop why) {
            return reason == why;
        }

        @Override
        public void run() {
            if (slot.waits()) {
                enterPhase(preparing);
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
                running.remove(recorded().stepId(), this);
                letGo();
                leavePhase();
                ended.countDown();
                onFree.accept(slot);
            }
        }

        private @Nullable Command executeBounded() {
            return DocumentMemory.forAnswers(execution.workspaceId(), this::execute);
        }

        /** Executes the steps of the chain until one does not complete, or others are to get its slot. */
        private void runChain(ChainReports reports, ChainScope outputs) {
            long began = System.nanoTime();
            int done = 0;
            try (DelayedActions.Handle _ = timeouts.after(firstReport, reports::becomeEager)) {
                while (true) {
                    Command report = executeBounded();
                    done++;
                    boolean yields = done > 1 && System.nanoTime() - began >= longestChain.toNanos()
                            || done == MAX_CHAIN_STEPS;
                    if (report instanceof Command.Complete complete && done < steps.size() && !yields
                            && chainable(complete)) {
                        outputs.add(execution, complete.result().output(), steps.get(done));
                        reports.add(complete);
                        next(steps.get(done));
                    } else if (report instanceof Command.Report last) {
                        report(() -> reports.end(last, yields || closing, this::letGo));
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
            if (holding.remove(lane, this)) {
                used(slot).decrementAndGet();
            }
        }

        @Override
        public void waitBegins() {
            leavePhase();
        }

        @Override
        public void waitEnds() {
            enterPhase(processing);
        }

        @Override
        public SentRequests sent() {
            record();
            return sent;
        }

        @Override
        public long hold(WorstCase most, boolean begun) throws ToolFailure, InterruptedException {
            requireRecord();
            Reply reply = commands.apply(new Command.Hold(execution.runId(), execution.stepId(),
                    execution.leaseEpoch(), most, begun, actor)).join();
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
            Reply reply = commands.apply(new Command.TrackCall(execution.runId(), execution.stepId(),
                    execution.leaseEpoch(), now, actor)).join();
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
            try (DelayedActions.Handle _ = timeouts.after(step.timeout(), () -> timedOut(step))) {
                ToolInput resolved = runner.input(step, scope);
                input = RecordedInput.of(execution.input(), resolved);
                called = true;
                ToolResult result = runner.run(step, resolved, this, this::record);
                return leave() ? complete(result) : afterStop();
            } catch (InterruptedException e) {
                leave();
                return afterStop();
            } catch (ToolFailure e) {
                if (!leave()) {
                    return afterStop();
                }
                Deferral outage = Deferrals.of(e, execution, message(e));
                return outage != null ? release(outage, null, sent.open())
                        : fail(new StepError(e.code(), e.errorClass(), message(e), e.retryAfter(), e.system()),
                                e.spent(), e.spent().equals(ToolUsage.NONE) ? sent.open() : sent.reported());
            } catch (HandBackException e) {
                if (e.busy() == null) {
                    try (LogContext _ = about(execution)) {
                        LOG.warn("tool {} released step {}: {}", execution.tool(), execution.stepId(), e.getMessage());
                    }
                }
                return leave() ? release(Deferrals.of(e), e.call(), sent.open()) : afterStop();
            } catch (RuntimeException e) {
                if (ToolRunner.databaseUnavailable(e) && !(called && execution.atMostOnce())) {
                    try (LogContext _ = about(execution)) {
                        LOG.warn("tool {} released step {}: the database does not answer", execution.tool(),
                                execution.stepId(), e);
                    }
                    return leave() ? release(null, null, sent.unreported()) : afterStop();
                }
                try (LogContext _ = about(execution)) {
                    LOG.warn("tool {} failed unexpectedly on step {}", execution.tool(), execution.stepId(), e);
                }
                return leave() ? fail(new StepError("TOOL_BROKE", ErrorClass.INFRASTRUCTURE, String.valueOf(e)))
                        : afterStop();
            }
        }

        private Command release(@Nullable Deferral deferral, @Nullable CallWait call, List<LostAnswer> lost) {
            return new Command.Release(execution.runId(), execution.stepId(), execution.leaseEpoch(), deferral, call,
                    lost, actor);
        }

        private synchronized boolean enter() {
            thread = Thread.currentThread();
            inTool = reason == null && !closing;
            begun = inTool;
            if (closing && reason == null) {
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

        private synchronized void stop(Stop why) {
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
                case SHUTDOWN -> begun && execution.atMostOnce() ? fail(new StepError("OUTCOME_UNKNOWN",
                        ErrorClass.PERMANENT, "this server was stopped during the call: it may have had its effect"))
                        : release(null, null, sent.unreported());
                case TIMEOUT -> fail(new StepError("STEP_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                        "the step took longer than its " + Seconds.of(execution.timeout())));
            };
        }

        /** Names the requests to models of a step that may have ended; null if absent. */
        private @Nullable Command unanswered() {
            leaseGone = true;
            return sent.all().isEmpty() ? null : release(null, null, sent.all());
        }

        private Command complete(ToolResult result) {
            List<NewArtifact> artifacts = artifacts(Stream.concat(result.artifacts().stream(), sent.stored().stream()));
            ToolUsage usage = result.usage();
            return new Command.Complete(execution.runId(), execution.stepId(), execution.leaseEpoch(),
                    new Result(LargeDocuments.work(result.output(), result.output()::toString), usage.tokens(),
                            usage.cost(), usage.model(), artifacts, ProposalTexts.of(result.proposals()),
                            VerdictText.of(result.output()),
                            runner.turn(execution.workspaceId(), execution.taskId(), result.output()), input, null,
                            usage.asked(), usage.estimated()),
                    null, sent.unused(), actor);
        }

        private static List<NewArtifact> artifacts(Stream<StoredArtifact> stored) {
            return stored.map(a -> new NewArtifact(a.name(), a.contentType(), a.sizeBytes(), a.sha256(), a.storageKey(),
                    a.retention() == null ? null : a.retention().toSeconds())).toList();
        }

        private Command fail(StepError error) {
            return fail(error, ToolUsage.NONE, sent.abandon());
        }

        private Command fail(StepError error, ToolUsage spent, List<LostAnswer> lost) {
            return new Command.Fail(execution.runId(), execution.stepId(), execution.leaseEpoch(), error,
                    Result.spent(spent.tokens(), spent.cost(), spent.model()).withInput(input)
                            .insteadOf(spent.asked()).estimated(spent.estimated())
                            .storing(artifacts(sent.stored().stream())),
                    lost, actor);
        }

        private void submit(Command report) {
            Reply reply = commands.apply(report).whenComplete((taken, failure) -> letGo()).join();
            if (leaseGone && reply.equals(Reply.CHANGED)) {
                sent.cancel();
            }
        }

        private void report(Runnable submit) {
            try {
                submit.run();
            } catch (RuntimeException e) {
                try (LogContext _ = about(execution)) {
                    LOG.error("could not record the outcome of step {}; its lease will expire",
                            execution.stepId(), e);
                }
            }
        }

        private static String message(ToolFailure e) {
            return String.valueOf(e.getMessage());
        }
    }
}
