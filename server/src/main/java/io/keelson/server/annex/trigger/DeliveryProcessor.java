package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.server.annex.trigger.TriggerObserver.Happened;
import io.keelson.server.annex.trigger.TriggeredRuns.Prepared;
import io.keelson.server.annex.trigger.TriggeredRuns.Screened;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.history.DatabaseHistory;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides deliveries, on each server. It takes due deliveries for the time of a lease, evaluates their expressions, and submits
 * their runs while their triggers cannot change. If a server stops in between, another one takes the
 * deliveries after the lease and finds the runs by their ids.
 */
final class DeliveryProcessor implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryProcessor.class);
    private static final int BATCH_SIZE = 64;
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);
    /** Between polls while nothing is due. They also find the first trigger that receives ends of runs. */
    private static final Duration IDLE_INTERVAL = Duration.ofSeconds(15);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(10);
    private static final Duration RETENTION_INTERVAL = Duration.ofMinutes(10);

    private final Database database;
    private final TriggerStore triggers;
    private final DeliveryStore deliveries;
    private final TriggeredRuns runs;
    private final TriggeredSignals signals;
    private final FlowGate gate;
    private final Replays replays;
    private final DatabaseHistory history;
    private final TriggerObserver observer;
    private final DecisionPace pace;
    private final Duration lease;
    private final BackgroundTask task = BackgroundTask.paced("triggers", POLL_INTERVAL, this::poll);
    private final BackgroundTask retention;
    private final BackgroundTask ends;
    /** Whether ends of runs are not read until a poll finds a receiver. */
    private volatile boolean noReceiver;
    /** Whether more deliveries may be due than one batch. Of the task's thread. */
    private boolean backlog;

    /**
     * @param pace by which decisions make room for events
     * @param lease for which deliveries are taken
     * @param days for which decided deliveries are kept
     */
    DeliveryProcessor(Database database, TriggerStore triggers, DeliveryStore deliveries, TriggeredRuns runs,
            TriggeredSignals signals, RunEnds ends, FlowGate gate, Replays replays, DatabaseHistory history,
            TriggerObserver observer, DecisionPace pace, Duration lease, int days) {
        this.database = database;
        this.triggers = triggers;
        this.deliveries = deliveries;
        this.runs = runs;
        this.signals = signals;
        this.ends = BackgroundTask.paced("trigger run ends", POLL_INTERVAL, () -> deliver(history, ends));
        this.gate = gate;
        this.replays = replays;
        this.history = history;
        this.observer = observer;
        this.pace = pace;
        this.lease = lease;
        this.retention = BackgroundTask.every("trigger retention", RETENTION_INTERVAL, () -> forget(days));
    }

    void start() {
        task.start();
        retention.start();
        ends.start();
    }

    /** Decides deliveries soon. Returns at once. */
    void signal() {
        task.nudge();
    }

    /** Reads changed triggers soon, and decides deliveries. Returns at once. */
    void triggersChanged() {
        ends.nudge();
        signal();
    }

    List<BackgroundTask> tasks() {
        return List.of(task, retention, ends);
    }

    private Duration deliver(DatabaseHistory history, RunEnds source) {
        RunEnds.Progress progress = RunEnds.Progress.MORE;
        while (progress == RunEnds.Progress.MORE && history.loss() == null && !ends.isClosed()) {
            progress = source.next();
        }
        noReceiver = progress == RunEnds.Progress.NO_RECEIVER;
        if (noReceiver) {
            return BackgroundTask.ON_NUDGE;
        }
        signal();
        return POLL_INTERVAL;
    }

    /** Decides deliveries if some are due. The next poll is at the time at which others are. */
    private Duration poll() throws InterruptedException {
        DeliveryStore.Next next = deliveries.next(IDLE_INTERVAL);
        if (next.receivers() && noReceiver) {
            ends.nudge();
        }
        if (next.rest().isZero()) {
            look();
        }
        return next.rest().compareTo(POLL_INTERVAL) < 0 ? POLL_INTERVAL : next.rest();
    }

    private void forget(int days) {
        while (gate.free(days) && !retention.isClosed()) {
            LOG.debug("further keys of singletons are freed");
        }
        while (deliveries.forget(days) && !retention.isClosed()) {
            LOG.debug("further deliveries are deleted");
        }
    }

    /** Decides all due deliveries that no other server has taken. With more than one batch of them, workspaces take turns. */
    void look() throws InterruptedException {
        List<DeliveryRow> taken;
        boolean replayed;
        boolean inTurns;
        do {
            inTurns = backlog;
            replayed = history.loss() == null && replays.step();
            taken = history.loss() == null ? deliveries.claim(BATCH_SIZE, lease, inTurns) : List.of();
            // A server that takes turns at the same time has locked the same deliveries: the next search finds others.
            backlog = taken.size() == BATCH_SIZE;
            if (!taken.isEmpty()) {
                long begun = System.nanoTime();
                decide(taken);
                pace.rest(System.nanoTime() - begun);
            }
        } while ((replayed || backlog || inTurns) && !task.isClosed());
    }

    /**
     * A delivery that was prepared.
     *
     * @param version version of the trigger by which it was prepared
     * @param groups whether others may be merged with it
     */
    private record Work(DeliveryRow delivery, int version, boolean groups, Prepared prepared) {}

    private void decide(List<DeliveryRow> taken) throws InterruptedException {
        Map<UUID, TriggerRow> known =
                triggers.all(taken.stream().map(DeliveryRow::triggerId).collect(Collectors.toSet())).stream()
                        .collect(Collectors.toMap(TriggerRow::id, Function.identity()));
        Map<UUID, List<DeliveryRow>> ofTriggers = taken.stream().filter(each -> known.containsKey(each.triggerId()))
                .collect(Collectors.groupingBy(DeliveryRow::triggerId));
        List<Work> work = new ArrayList<>();
        for (Map.Entry<UUID, List<DeliveryRow>> each : ofTriggers.entrySet()) {
            work.addAll(work(Objects.requireNonNull(known.get(each.getKey())), each.getValue()));
        }
        if (Thread.currentThread().isInterrupted()) {
            // The server stops: an expression that was interrupted refuses no event.
            throw new InterruptedException();
        }
        List<DeliveryStore.Decision> decided = new ArrayList<>();
        InterruptedException interrupted = database.<@Nullable InterruptedException>inTransaction(c -> {
            try {
                decided.addAll(submitted(c, work));
            } catch (InterruptedException e) {
                c.rollback();
                return e;
            }
            DeadLetters.open(c, decided.stream().filter(each -> each.outcome().state() == DeliveryRow.State.DEAD)
                    .map(each -> each.delivery().triggerId()).collect(Collectors.toSet()));
            deliveries.decide(c, decided);
            return null;
        });
        if (interrupted != null) {
            throw interrupted;
        }
        decided.forEach(each -> count(each.outcome()));
    }

    private void count(Outcome outcome) {
        switch (outcome.state()) {
            case PENDING -> LOG.debug("a delivery waits: {}", outcome.code());
            case STARTED, SIGNALLED -> observer.delivery(Happened.STARTED);
            case MERGED -> observer.delivery(Happened.MERGED);
            case DROPPED -> observer.delivery(Happened.DROPPED);
            case REFUSED -> observer.delivery(Happened.REFUSED);
            case DEAD -> observer.delivery(Happened.DEAD);
        }
    }

    /** The work of one trigger. A failure postpones its deliveries, and does not keep the deliveries of others. */
    private List<Work> work(TriggerRow trigger, List<DeliveryRow> taken) throws InterruptedException {
        try {
            return screened(trigger, taken);
        } catch (RuntimeException e) {
            LOG.warn("could not decide the deliveries of trigger {}", trigger.id(), e);
            Outcome later = Outcome.postponed("INTERNAL_ERROR", message(e), RETRY_DELAY);
            return taken.stream().map(each -> new Work(each, trigger.version(), false, new Prepared.Decided(later)))
                    .toList();
        }
    }

    /** Applies filter and flow, and prepares the runs of the deliveries that pass. */
    private List<Work> screened(TriggerRow trigger, List<DeliveryRow> taken) throws InterruptedException {
        Trigger.Definition definition = trigger.read();
        List<Work> work = new ArrayList<>();
        boolean groups = FlowGate.groups(definition);
        List<FlowGate.Arrival> arrivals = new ArrayList<>();
        for (DeliveryRow delivery : taken) {
            switch (screened(trigger, definition, delivery)) {
                case Screened.Decided(Outcome outcome) ->
                    work.add(new Work(delivery, trigger.version(), groups, new Prepared.Decided(outcome)));
                case Screened.Keyed(FlowGate.Keys keys) -> arrivals.add(new FlowGate.Arrival(delivery, keys));
            }
        }
        Trigger.Flow flow = definition.flow();
        if (flow == null) {
            arrivals.forEach(each -> work.add(new Work(each.delivery(), trigger.version(), groups,
                    prepared(trigger, definition, each.delivery()))));
            return work;
        }
        arrivals.sort(Comparator.comparing(each -> each.delivery().receivedAt()));
        FlowGate.Passed passed = gate.pass(trigger, flow, arrivals);
        passed.decided().forEach(this::count);
        arrivals.stream().filter(each -> passed.passed().contains(each.delivery().id()))
                .forEach(each -> work.add(new Work(each.delivery(), trigger.version(), groups,
                        prepared(trigger, definition, each.delivery()))));
        return work;
    }

    private Prepared prepared(TriggerRow trigger, Trigger.Definition definition, DeliveryRow delivery) {
        try {
            return runs.prepare(trigger, definition, delivery);
        } catch (RuntimeException e) {
            LOG.warn("could not prepare delivery {} of trigger {}", delivery.id(), trigger.id(), e);
            return new Prepared.Decided(failure(delivery, e));
        }
    }

    private Screened screened(TriggerRow trigger, Trigger.Definition definition, DeliveryRow delivery) {
        try {
            return runs.screen(trigger, definition, delivery);
        } catch (RuntimeException e) {
            LOG.warn("could not screen delivery {} of trigger {}", delivery.id(), trigger.id(), e);
            return new Screened.Decided(failure(delivery, e));
        }
    }

    private static Outcome failure(DeliveryRow delivery, Exception e) {
        return Outcome.failure(delivery.failures(), "INTERNAL_ERROR", message(e));
    }

    private static String message(Exception e) {
        return "see the server's log: " + e.getClass().getSimpleName();
    }

    /** Submits the runs, side by side, under the locks of their triggers. */
    private List<DeliveryStore.Decision> submitted(Connection c, List<Work> work)
            throws SQLException, InterruptedException {
        Set<UUID> ids = work.stream().map(each -> each.delivery().triggerId()).collect(Collectors.toSet());
        Map<UUID, TriggerStore.Held> held = new HashMap<>();
        triggers.hold(c, ids).forEach(each -> held.put(each.id(), each));
        // A run that exists is not submitted again.
        Set<UUID> existing = runs.existing(work.stream().filter(each -> each.prepared() instanceof Prepared.Ready)
                .map(each -> each.delivery().runId()).collect(Collectors.toSet()));
        List<Callable<DeliveryStore.Decision>> all = work.stream()
                .filter(each -> held.containsKey(each.delivery().triggerId())).<Callable<DeliveryStore.Decision>>map(
                        each -> () -> new DeliveryStore.Decision(each.delivery(),
                                outcome(each, held.get(each.delivery().triggerId()), existing), each.groups()))
                .toList();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<DeliveryStore.Decision> decided = new ArrayList<>();
            for (Future<DeliveryStore.Decision> each : threads.invokeAll(all)) {
                decided.add(each.get());
            }
            return decided;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private Outcome outcome(Work work, TriggerStore.@Nullable Held held, Set<UUID> existing)
            throws InterruptedException {
        if (held == null || !held.enabled()) {
            return Outcome.dropped("TRIGGER_DISABLED", "the trigger was disabled before the run was started");
        }
        if (held.version() != work.version()) {
            return Outcome.postponed("TRIGGER_CHANGED", "the trigger was changed meanwhile", Duration.ZERO);
        }
        return switch (work.prepared()) {
            case Prepared.Decided(Outcome outcome) -> outcome;
            case Prepared.Signals(var target) -> {
                try {
                    yield signals.send(work.delivery(), target);
                } catch (RuntimeException e) {
                    LOG.warn("could not send the signal of delivery {}", work.delivery().id(), e);
                    yield failure(work.delivery(), e);
                }
            }
            case Prepared.Ready(var request) -> {
                try {
                    yield existing.contains(work.delivery().runId()) ? Outcome.started(work.delivery().runId())
                            : runs.submit(work.delivery(), request);
                } catch (RuntimeException e) {
                    LOG.warn("could not start the run of delivery {}", work.delivery().id(), e);
                    yield failure(work.delivery(), e);
                }
            }
        };
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
        retention.close();
        ends.close();
    }
}
