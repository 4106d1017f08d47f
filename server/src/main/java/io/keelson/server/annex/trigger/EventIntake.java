package io.keelson.server.annex.trigger;

import io.keelson.core.run.Ids;
import io.keelson.server.annex.trigger.TriggerObserver.Happened;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.WentBack;
import io.keelson.server.engine.history.DatabaseHistory;
import java.util.Optional;
import java.util.UUID;

/** Stores events, and has them decided soon. */
final class EventIntake {

    private final DeliveryStore deliveries;
    private final Ids ids;
    private final Runnable signal;
    private final DatabaseHistory history;
    private final TriggerObserver observer;

    /**
     * @param signal has deliveries decided soon; returns at once
     * @param history whether the database lacks commits
     */
    EventIntake(DeliveryStore deliveries, Ids ids, Runnable signal, DatabaseHistory history,
            TriggerObserver observer) {
        this.deliveries = deliveries;
        this.ids = ids;
        this.signal = signal;
        this.history = history;
        this.observer = observer;
    }

    /**
     * Stores an event once per key.
     *
     * @return empty if the trigger is disabled or gone
     * @throws ApiProblem DATABASE_WENT_BACK
     */
    Optional<DeliveryStore.Accepted> accept(UUID trigger, Event event) {
        WentBack.require(history);
        Optional<DeliveryStore.Accepted> accepted = deliveries.accept(trigger, ids.next(), ids.next(), event);
        accepted.ifPresent(each -> {
            observer.delivery(each.duplicate() ? Happened.DUPLICATE : Happened.RECEIVED);
            if (!each.duplicate()) {
                signal.run();
            }
        });
        return accepted;
    }

    /** Counts a request without a valid proof. */
    void unverified() {
        observer.delivery(Happened.UNVERIFIED);
    }
}
