package io.keelson.server.engine.execute;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.log.LogContext;
import io.keelson.server.engine.tool.SlotKind;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
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

    /** The details of steps. */
    @FunctionalInterface
    public interface StepDetails {
        /** The details of the execution's step. */
        RecordedRequests.Details of(StepExecution execution);
    }

    private final LaneExecution.Parts parts;
    private final LaneExecution.Owner owner = new Lanes();
    /** By step. */
    private final Map<UUID, LaneExecution> running = new ConcurrentHashMap<>();
    /** The latest execution of each lane held here. */
    private final Map<Lane, LaneExecution> holding = new ConcurrentHashMap<>();
    private final Map<SlotKind, AtomicInteger> used = new EnumMap<>(SlotKind.class);
    private volatile boolean closing;

    /**
     * @param maxActive steps of waiting slots that prepare a request at a time, and that process an answer; at least 1
     * @param firstReport the first time of a chain that has one report
     * @param longestChain the time after which a chain ends between two steps
     * @param beforeCreation the time for which a chain is executed before its run is created or its first step claimed
     */
    public LocalExecutor(ToolRunner runner, Function<Command, CompletableFuture<Reply>> commands,
            DelayedActions timeouts, StepDetails details, Clock clock, Actor actor,
            Consumer<SlotKind> onFree, int maxActive, Duration firstReport, Duration longestChain,
            Duration beforeCreation) {
        this.parts = new LaneExecution.Parts(runner, commands,
                new PersistentReports(commands, timeouts, () -> closing), timeouts, details, clock, actor,
                new Semaphore(Math.min(maxActive, MAX_PREPARING), true), new Semaphore(maxActive, true), firstReport,
                longestChain, beforeCreation, onFree);
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
        LaneExecution found = holding.get(lane);
        return found == null ? null : found.slot();
    }

    /** True when a chain is executed in the lane. */
    public boolean isChain(Lane lane) {
        LaneExecution found = holding.get(lane);
        return found != null && found.isChain();
    }

    /** Executions that run or report, by the lane whose lease must be extended. */
    public Map<Lane, StepExecution> held() {
        Map<Lane, StepExecution> held = new HashMap<>();
        holding.forEach((lane, found) -> {
            if (found.isRecorded()) {
                held.put(lane, found.recorded());
            }
        });
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
        LaneExecution before = holding.get(lane);
        if (before != null && before.continuesWith(execution)) {
            return;
        }
        start(new LaneExecution(parts, owner, execution, following, endsAtCharge, null));
    }

    /**
     * Starts an execution before the commit that begins its first step, which its first report has with it.
     *
     * @param following the steps of its chain behind the first one
     * @param endsAtCharge whether the chain ends behind a step with a cost
     */
    public void startNew(StepExecution execution, List<StepExecution> following, boolean endsAtCharge,
            ChainReports.Opening opening) {
        start(new LaneExecution(parts, owner, execution, following, endsAtCharge, opening));
    }

    private void start(LaneExecution begun) {
        StepExecution execution = begun.execution();
        Lane lane = begun.lane();
        running.put(execution.stepId(), begun);
        used(begun.slot()).incrementAndGet();
        LaneExecution before = holding.put(lane, begun);
        if (before != null) {
            used(before.slot()).decrementAndGet();
            before.stop(LaneExecution.Stop.LEASE_GONE);
        }
        Thread.ofVirtual().name("step-" + execution.stepId()).start(begun);
    }

    /** The step's lease is lost: stops its execution, whose result no longer counts. */
    public void stop(UUID stepId, int epoch) {
        LaneExecution found = running.get(stepId);
        if (found != null && found.holds(stepId, epoch)) {
            found.stop(LaneExecution.Stop.LEASE_GONE);
        }
    }

    /** Stops all executions and releases their leases. */
    public void close(Duration timeout) throws InterruptedException {
        closing = true;
        List<LaneExecution> all = new ArrayList<>(running.values());
        all.forEach(each -> each.stop(LaneExecution.Stop.SHUTDOWN));
        long deadline = System.nanoTime() + timeout.toNanos();
        for (LaneExecution each : all) {
            if (!each.awaitEnd(deadline - System.nanoTime())) {
                try (LogContext _ = each.about()) {
                    LOG.warn("tool {} of step {} does not stop; its lease will expire", each.execution().tool(),
                            each.execution().stepId());
                }
            }
        }
    }

    private final class Lanes implements LaneExecution.Owner {

        @Override
        public boolean isClosing() {
            return closing;
        }

        @Override
        public void continues(LaneExecution execution, StepExecution before, StepExecution next) {
            running.put(next.stepId(), execution);
            if (!before.stepId().equals(next.stepId())) {
                running.remove(before.stepId(), execution);
            }
        }

        @Override
        public void letGo(LaneExecution execution) {
            if (holding.remove(execution.lane(), execution)) {
                used(execution.slot()).decrementAndGet();
            }
        }

        @Override
        public void ended(LaneExecution execution) {
            running.remove(execution.recorded().stepId(), execution);
        }
    }
}
