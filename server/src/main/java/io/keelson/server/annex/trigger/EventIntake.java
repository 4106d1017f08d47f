package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.TriggerDelivery;
import io.keelson.core.run.Ids;
import io.keelson.server.annex.trigger.DeliveryStore.Accepted;
import io.keelson.server.annex.trigger.DeliveryStore.Arrived;
import io.keelson.server.annex.trigger.TriggerObserver.Happened;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.WentBack;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.history.DatabaseHistory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Stores events, and has them decided soon. Events that are received while others are stored wait, and are then stored together: one
 * transaction for many requests. Thread-safe.
 */
final class EventIntake {

    private final Database database;
    private final DeliveryStore deliveries;
    private final Ids ids;
    private final Runnable signal;
    private final DatabaseHistory history;
    private final TriggerObserver observer;
    private final IntakeQueue<Request> waiting;
    private final DecisionPace pace;
    private final AtomicBoolean writing = new AtomicBoolean();

    /**
     * @param signal has deliveries decided soon; returns at once
     * @param history whether the database lacks commits
     * @param pace is notified of bursts
     */
    EventIntake(Database database, DeliveryStore deliveries, Ids ids, Runnable signal, DatabaseHistory history,
            TriggerObserver observer, DecisionPace pace, IntakeQueue.Bounds bounds) {
        this.database = database;
        this.deliveries = deliveries;
        this.ids = ids;
        this.signal = signal;
        this.history = history;
        this.observer = observer;
        this.pace = pace;
        this.waiting = new IntakeQueue<>(bounds);
    }

    /** An event for a trigger. */
    record Incoming(UUID trigger, Event event) {}

    /**
     * A delivery that is stored.
     *
     * @param duplicate whether its event was received before
     */
    record Received(Accepted delivery, boolean duplicate) {

        /** @param grouped whether it may get the run of another event, or signals a run */
        TriggerDelivery.Receipt receipt(boolean grouped) {
            DeliveryRow.State state = delivery.state();
            boolean known = state.hasRun() && !(grouped && state == DeliveryRow.State.PENDING);
            return new TriggerDelivery.Receipt(delivery.id().toString(), delivery.triggerId().toString(),
                    delivery.key(), duplicate, state.wire(), known ? delivery.runId().toString() : null);
        }
    }

    private record Request(List<Arrived> arrived, CompletableFuture<List<Received>> answer) {}

    /**
     * Stores events once per key.
     *
     * @return the deliveries; none for a trigger that is disabled or gone
     * @throws ApiProblem DATABASE_WENT_BACK, or OVERLOADED if too many others wait
     */
    List<Received> accept(UUID workspace, List<Incoming> events) {
        WentBack.require(history);
        Request request = new Request(events.stream()
                .map(each -> new Arrived(each.trigger(), ids.next(), ids.next(), each.event())).toList(),
                new CompletableFuture<>());
        long chars = events.stream().mapToLong(each -> each.event().chars()).sum();
        if (!waiting.offer(workspace, new IntakeQueue.Waiting<>(request, events.size(), chars))) {
            throw ApiProblem.of(ErrorCode.OVERLOADED, "more events arrive than can be stored; nothing was changed")
                    .header("Retry-After", "1");
        }
        write();
        try {
            List<Received> received = request.answer().join();
            received.forEach(
                    each -> observer.delivery(each.duplicate() ? Happened.DUPLICATE : Happened.RECEIVED));
            return received;
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** Requests that wait, without the batch that is stored at the moment. */
    int waiting() {
        return waiting.size();
    }

    /** Counts a request without a valid proof. */
    void unverified() {
        observer.delivery(Happened.UNVERIFIED);
    }

    private void write() {
        if (waiting.size() > 0 && writing.compareAndSet(false, true)) {
            Thread.ofVirtual().name("trigger intake").start(() -> {
                try {
                    for (List<Request> batch = waiting.take(); !batch.isEmpty(); batch = waiting.take()) {
                        if (batch.size() > 1) {
                            pace.burst();
                        }
                        store(batch);
                    }
                } finally {
                    writing.set(false);
                    write();
                }
            });
        }
    }

    /** A failure of requests together is tried again for each: one of them may be the cause. */
    private void store(List<Request> batch) {
        try {
            List<Accepted> accepted = database.inTransaction(
                    c -> deliveries.accept(c, batch.stream().flatMap(each -> each.arrived().stream()).toList()));
            Map<List<Object>, Accepted> byKey = new HashMap<>();
            accepted.forEach(each -> byKey.put(List.of(each.triggerId(), each.key()), each));
            batch.forEach(each -> each.answer().complete(answers(each, byKey)));
            signal.run();
        } catch (RuntimeException | Error e) {
            if (batch.size() == 1) {
                batch.getFirst().answer().completeExceptionally(e);
            } else {
                batch.forEach(each -> store(List.of(each)));
            }
        }
    }

    private static List<Received> answers(Request request, Map<List<Object>, Accepted> byKey) {
        List<Received> received = new ArrayList<>();
        for (Arrived each : request.arrived()) {
            Accepted found = byKey.get(List.of(each.trigger(), each.event().key()));
            if (found != null) {
                received.add(new Received(found, !found.id().equals(each.id())));
            }
        }
        return received;
    }
}
