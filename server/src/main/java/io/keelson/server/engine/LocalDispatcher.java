package io.keelson.server.engine;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.engine.commit.CommitListener;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.execute.DelayedActions;
import io.keelson.server.engine.execute.Evaluator;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.StepExecution;
import io.keelson.server.engine.store.EndedRun;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.upkeep.ClusterNotifier;
import io.keelson.server.engine.upkeep.ConcurrencyKeyScheduler;
import io.keelson.server.engine.upkeep.RunEnds;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Starts this node's work after commits: executions, evaluations, timers and wake-ups. */
final class LocalDispatcher implements CommitListener {
    private static final Duration TIMER_HORIZON = Duration.ofMinutes(1);
    private static final int MAX_TIMERS = 20_000;

    /**
     * The capacity of this node.
     *
     * @param node its name as a lease holder
     * @param slots lanes at a time, by the kind of slot that they use
     * @param tools the tools that its executors run
     * @param chains the tools whose steps form chains
     * @param slot the kind of slot that a call of a tool uses
     */
    record Lanes(String node, Map<SlotKind, Integer> slots, Duration lease, Predicate<String> tools,
            Predicate<String> chains, Function<String, SlotKind> slot, LocalCapacity.Limits limits,
            LocalCapacity.Versions versions) {}

    /**
     * Components that are notified of commits.
     *
     * @param paused whether to begin no work
     */
    record Listeners(WorkAvailability available, RunEnds ends, ConcurrencyKeyScheduler concurrencyKeys,
            ClusterNotifier notifier, CancelledModelSteps cancelled, ResultWaits results, BooleanSupplier paused) {}

    private final Lanes lanes;
    private final LocalExecutor executor;
    private final Evaluator evaluator;
    private final DelayedActions timeouts;
    private final Consumer<Command> commands;
    private final Listeners listeners;
    private final Slots slots = new Slots();
    private final Map<SlotKind, Integer> promised = new EnumMap<>(SlotKind.class);
    private volatile boolean closing;

    LocalDispatcher(Lanes lanes, LocalExecutor executor, Evaluator evaluator, DelayedActions timeouts,
            Consumer<Command> commands, Listeners listeners) {
        this.lanes = lanes;
        this.executor = executor;
        this.evaluator = evaluator;
        this.timeouts = timeouts;
        this.commands = commands;
        this.listeners = listeners;
    }

    /** Free slots of the kind, less those promised to commits and claims in progress. */
    synchronized int free(SlotKind kind) {
        return closing || listeners.paused.getAsBoolean() ? 0
                : Math.max(0, lanes.slots.getOrDefault(kind, 0) - executor.size(kind) - promised.getOrDefault(kind, 0));
    }

    /** Takes no further work; running work continues. */
    synchronized void close() {
        closing = true;
    }

    @Override
    public synchronized LocalCapacity offer() {
        return new LocalCapacity(lanes.node, lanes.tools, lanes.lease, slots,
                listeners.paused.getAsBoolean() ? LocalCapacity.RemoteSlots.NONE : listeners.available, lanes.limits,
                lanes.versions);
    }

    /** The capacity of this node's executors without that of workers. */
    synchronized LocalCapacity offerOwn() {
        return new LocalCapacity(lanes.node, lanes.tools, lanes.lease, slots, LocalCapacity.RemoteSlots.NONE,
                lanes.limits, lanes.versions);
    }

    /** While this node closes, chains only continue, so that all their results are recorded. */
    private final class Slots implements LocalCapacity.Slots {

        /** For work that was not queued; queued work goes first. */
        @Override
        public boolean take(String tool) {
            synchronized (LocalDispatcher.this) {
                SlotKind kind = lanes.slot.apply(tool);
                boolean spare = free(kind) > listeners.available.localQueue().waiting(kind);
                if (spare) {
                    keep(kind, 1);
                }
                return spare;
            }
        }

        @Override
        public boolean fits(Lane lane, String tool) {
            return executor.slot(lane) == lanes.slot.apply(tool) && (!closing || executor.isChain(lane));
        }

        @Override
        public boolean chains(String tool) {
            return lanes.chains.test(tool);
        }
    }

    /** Reserves slots for lanes that are about to be claimed, until {@link #kept}. */
    synchronized void keep(SlotKind kind, int count) {
        promised.merge(kind, count, Integer::sum);
    }

    /** The work of these reserved slots has begun, or will not. */
    synchronized void kept(SlotKind kind, int count) {
        promised.merge(kind, -count, Integer::sum);
    }

    @Override
    public void settled(LocalCapacity capacity) {
        capacity.takenTools().forEach(tool -> kept(lanes.slot.apply(tool), 1));
        listeners.available.settled(capacity.takenRemotely());
    }

    @Override
    public void committed(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant now) {
        ended(changes, views, now);
        changes.stopped().forEach(this::stop);
        List<CancelledModelSteps.Step> cancelled = CancelledModelSteps.in(changes);
        if (!cancelled.isEmpty() && timeouts.size() < MAX_TIMERS) {
            timeouts.after(lanes.lease.multipliedBy(2), () -> listeners.cancelled.look(cancelled));
        }
        changes.started().forEach((step, run) -> {
            if (lanes.node.equals(step.holder())) {
                start(run, step, changes.chainOf(step), now);
            }
        });
        listeners.available.give(changes.assignments());
        changes.evaluations().forEach(evaluator::evaluate);
        List<UUID> ended = ResultWaits.in(changes);
        if (!ended.isEmpty()) {
            listeners.results.wake(ended);
        }
        changes.timers().values().forEach(timer -> timer.ifPresent(t -> arm(t, now)));
        wake(changes);
    }

    /** The end of a run that this commit has created needs no notification: before it no other node could wait for that end. */
    private void ended(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant now) {
        for (RunRow run : changes.runs()) {
            if (run.state().terminal()) {
                RunView view = views.apply(run.id());
                listeners.ends.ended(run, () -> view == null ? null : EndedRun.of(view, changes, now));
                if (!changes.isNew(run.id())) {
                    listeners.notifier.ring(ClusterNotifier.Notification.END);
                }
            }
        }
    }

    private void start(RunRow run, StepRow step, ChangeSet.Chain chain, Instant now) {
        StepExecution first = StepExecution.of(run, step, now);
        executor.start(first, chain.steps().stream().map(each -> first.followedBy(run, each)).toList(),
                chain.endsAtCharge());
    }

    /** Stops the execution of a lost step. A remote worker learns of the loss from its next heartbeat. */
    private void stop(ChangeSet.Lost lost) {
        if (lost.holder().equals(lanes.node)) {
            executor.stop(lost.stepId(), lost.epoch());
        } else if (lost.holder().startsWith(Engine.NODE)) {
            listeners.notifier.ring(ClusterNotifier.Notification.STOP);
        }
    }

    /** Runs a near timer in this process; the poller finds later ones, and those beyond the bound, in the database. */
    private void arm(ChangeSet.Timer timer, Instant now) {
        Duration delay = Duration.between(now, timer.dueAt());
        if (!timer.key().kind().evaluation() && delay.compareTo(TIMER_HORIZON) < 0 && timeouts.size() < MAX_TIMERS) {
            timeouts.after(delay, () -> commands.accept(new Command.TimerDue(timer.runId(), timer.key().kind(),
                    timer.key().subject(), Actor.SYSTEM)));
        }
    }

    private void wake(ChangeSet changes) {
        List<ChangeSet.QueueItem> waiting = changes.queue().values().stream().flatMap(Optional::stream)
                .filter(item -> item.holder() == null).toList();
        if (!waiting.isEmpty()) {
            listeners.available.queued(waiting);
            List<String> tools = waiting.stream().map(ChangeSet.QueueItem::tool).toList();
            if (!tools.stream().allMatch(lanes.tools) || overflows(tools)) {
                listeners.notifier.ring(ClusterNotifier.Notification.WORK);
            }
        }
        listeners.available.laneFreed();
        if (changes.runs().stream().anyMatch(LocalDispatcher::takesTurns)) {
            listeners.concurrencyKeys.signal();
        }
    }

    /** True when this node has fewer free slots than the tools need. */
    private boolean overflows(List<String> tools) {
        Map<SlotKind, Integer> needed = new EnumMap<>(SlotKind.class);
        tools.forEach(tool -> needed.merge(lanes.slot.apply(tool), 1, Integer::sum));
        return needed.entrySet().stream().anyMatch(each -> free(each.getKey()) < each.getValue());
    }

    /** Whether it waits for its concurrency key, or has ended and freed it. */
    private static boolean takesTurns(RunRow run) {
        return run.policy().concurrency() != null && run.state().type() != StateType.RUNNING;
    }
}
