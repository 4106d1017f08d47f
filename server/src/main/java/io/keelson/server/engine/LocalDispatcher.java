package io.keelson.server.engine;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunRow;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.engine.commit.CommitListener;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.execute.Evaluator;
import io.keelson.server.engine.execute.Execution;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.Timeouts;
import io.keelson.server.engine.upkeep.ClusterNotifier;
import io.keelson.server.engine.upkeep.ConcurrencyKeyScheduler;
import io.keelson.server.engine.upkeep.RunEnds;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Turns committed changes into this node's work: executions, evaluations, timers and wake-ups. */
final class LocalDispatcher implements CommitListener {
    private static final Duration TIMER_HORIZON = Duration.ofMinutes(1);
    private static final int MAX_TIMERS = 20_000;

    private final String node;
    private final int maxLanes;
    private final Duration lease;
    private final Predicate<String> localTools;
    private final LocalExecutor executor;
    private final Evaluator evaluator;
    private final Timeouts timeouts;
    private final Consumer<Command> commands;
    private final WorkAvailability available;
    private final RunEnds ends;
    private final LocalCapacity.Limits limits;
    private final ConcurrencyKeyScheduler concurrencyKeyScheduler;
    private final ClusterNotifier notifier;
    private int promised;
    private boolean closing;

    LocalDispatcher(String node, int maxLanes, Duration lease, Predicate<String> localTools, LocalExecutor executor,
            Evaluator evaluator, Timeouts timeouts, Consumer<Command> commands, WorkAvailability available,
            RunEnds ends,
            LocalCapacity.Limits limits, ConcurrencyKeyScheduler concurrencyKeyScheduler, ClusterNotifier notifier) {
        this.node = node;
        this.maxLanes = maxLanes;
        this.lease = lease;
        this.localTools = localTools;
        this.executor = executor;
        this.evaluator = evaluator;
        this.timeouts = timeouts;
        this.commands = commands;
        this.available = available;
        this.ends = ends;
        this.limits = limits;
        this.concurrencyKeyScheduler = concurrencyKeyScheduler;
        this.notifier = notifier;
    }

    /** Lanes that may be started now, those promised to commits and claims under way taken off. */
    synchronized int free() {
        return closing ? 0 : Math.max(0, maxLanes - executor.size() - promised);
    }

    /** No further work is taken; what runs is not touched. */
    synchronized void close() {
        closing = true;
    }

    @Override
    public synchronized LocalCapacity offer() {
        if (closing) {
            return LocalCapacity.none();
        }
        return new LocalCapacity(node, localTools, lease, this::take, limits);
    }

    /** A slot for work that has not been queued; what has been queued comes first. */
    private synchronized boolean take() {
        boolean spare = free() > available.waiting();
        if (spare) {
            promised++;
        }
        return spare;
    }

    /** Keeps slots for lanes that are about to be claimed, until they are {@link #kept}. */
    synchronized void keep(int slots) {
        promised += slots;
    }

    /** What these slots were kept for has begun, or will not. */
    synchronized void kept(int slots) {
        promised -= slots;
    }

    @Override
    public synchronized void settled(LocalCapacity capacity) {
        promised -= capacity.taken();
    }

    @Override
    public void committed(ChangeSet changes, Instant now) {
        changes.stopped().forEach(this::stop);
        changes.started().forEach((step, run) -> {
            if (node.equals(step.holder())) {
                executor.start(Execution.of(run, step));
            }
        });
        changes.evaluations().forEach(evaluator::evaluate);
        changes.timers().values().forEach(timer -> timer.ifPresent(t -> arm(t, now)));
        wake(changes);
        for (RunRow run : changes.runs()) {
            if (run.state().terminal()) {
                ends.ended(run.id(), run.state());
                notifier.ring(ClusterNotifier.Notification.END);
            }
        }
    }

    /** What a worker holds it learns from its next heartbeat. */
    private void stop(ChangeSet.Lost lost) {
        if (lost.holder().equals(node)) {
            executor.stop(lost.stepId(), lost.epoch());
        } else if (lost.holder().startsWith(Engine.NODE)) {
            notifier.ring(ClusterNotifier.Notification.STOP);
        }
    }

    /** A near timer rings in this process; the lookout finds the others, and those beyond the bound, in the database. */
    private void arm(ChangeSet.Timer timer, Instant now) {
        Duration delay = Duration.between(now, timer.dueAt());
        if (!timer.key().kind().evaluation() && delay.compareTo(TIMER_HORIZON) < 0 && timeouts.size() < MAX_TIMERS) {
            timeouts.after(delay, () -> commands.accept(new Command.TimerDue(timer.runId(), timer.key().kind(),
                    timer.key().subject(), Actor.SYSTEM)));
        }
    }

    private void wake(ChangeSet changes) {
        List<String> waiting = changes.queue().values().stream().flatMap(Optional::stream)
                .filter(item -> item.holder() == null).map(ChangeSet.QueueItem::tool).toList();
        if (!waiting.isEmpty()) {
            available.queued(waiting);
            if (free() < waiting.size() || !waiting.stream().allMatch(localTools)) {
                notifier.ring(ClusterNotifier.Notification.WORK);
            }
        }
        available.laneFreed();
        if (changes.runs().stream().anyMatch(LocalDispatcher::takesTurns)) {
            concurrencyKeyScheduler.nudge();
        }
    }

    /** Whether it waits for its turn, or has had it and makes room. */
    private static boolean takesTurns(RunRow run) {
        return run.policy().concurrency() != null && run.state().type() != StateType.RUNNING;
    }
}
