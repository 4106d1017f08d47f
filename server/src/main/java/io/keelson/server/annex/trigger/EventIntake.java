package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.TriggerDelivery;
import io.keelson.core.run.Ids;
import io.keelson.server.annex.trigger.DeliveryStore.Accepted;
import io.keelson.server.annex.trigger.DeliveryStore.Arrived;
import io.keelson.server.annex.trigger.TriggerObserver.Happened;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.WentBack;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.history.DatabaseHistory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Stores events, and has them decided soon. Events that are received while others are stored wait, and are then stored together: one
 * transaction for many requests. Thread-safe.
 */
final class EventIntake {

    private static final int MAX_EVENTS = 256;
    private static final long MAX_CHARS = 4 << 20;

    private final Database database;
    private final DeliveryStore deliveries;
    private final Ids ids;
    private final Runnable signal;
    private final DatabaseHistory history;
    private final TriggerObserver observer;
    private final Queue<Request> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean writing = new AtomicBoolean();

    /**
     * @param signal has deliveries decided soon; returns at once
     * @param history whether the database lacks commits
     */
    EventIntake(Database database, DeliveryStore deliveries, Ids ids, Runnable signal, DatabaseHistory history,
            TriggerObserver observer) {
        this.database = database;
        this.deliveries = deliveries;
        this.ids = ids;
        this.signal = signal;
        this.history = history;
        this.observer = observer;
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

    private record Request(List<Arrived> arrived, CompletableFuture<List<Received>> answer) {

        long chars() {
            return arrived.stream().mapToLong(each -> each.event().chars()).sum();
        }
    }

    /**
     * Stores events once per key.
     *
     * @return the deliveries; none for a trigger that is disabled or gone
     * @throws ApiProblem DATABASE_WENT_BACK
     */
    List<Received> accept(List<Incoming> events) {
        WentBack.require(history);
        Request request = new Request(events.stream()
                .map(each -> new Arrived(each.trigger(), ids.next(), ids.next(), each.event())).toList(),
                new CompletableFuture<>());
        waiting.add(request);
        write();
        try {
            List<Received> received = request.answer().join();
            received.forEach(
                    each -> observer.delivery(each.duplicate() ? Happened.DUPLICATE : Happened.RECEIVED));
            if (received.stream().anyMatch(each -> !each.duplicate())) {
                signal.run();
            }
            return received;
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** Counts a request without a valid proof. */
    void unverified() {
        observer.delivery(Happened.UNVERIFIED);
    }

    private void write() {
        if (!waiting.isEmpty() && writing.compareAndSet(false, true)) {
            Thread.ofVirtual().name("trigger intake").start(() -> {
                try {
                    for (List<Request> batch = next(); !batch.isEmpty(); batch = next()) {
                        store(batch);
                    }
                } finally {
                    writing.set(false);
                    write();
                }
            });
        }
    }

    /** Waiting requests that are stored together; the first one of any size. */
    private List<Request> next() {
        List<Request> batch = new ArrayList<>();
        int events = 0;
        long chars = 0;
        for (Request each = waiting.peek(); each != null; each = waiting.peek()) {
            events += each.arrived().size();
            chars += each.chars();
            if (!batch.isEmpty() && (events > MAX_EVENTS || chars > MAX_CHARS)) {
                break;
            }
            batch.add(waiting.remove());
        }
        return batch;
    }

    /** A failure of requests together is tried again for each: one of them may be the cause. */
    private void store(List<Request> batch) {
        try {
            List<Accepted> accepted = database.inTransaction(
                    c -> deliveries.accept(c, batch.stream().flatMap(each -> each.arrived().stream()).toList()));
            Map<List<Object>, Accepted> byKey = new HashMap<>();
            accepted.forEach(each -> byKey.put(List.of(each.triggerId(), each.key()), each));
            batch.forEach(each -> each.answer().complete(answers(each, byKey)));
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
