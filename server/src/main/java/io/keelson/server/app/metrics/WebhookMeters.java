package io.keelson.server.app.metrics;

import io.keelson.server.outlet.webhook.DeliveryObserver;
import io.micrometer.core.instrument.Counter;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Counts delivery attempts by outcome, never by receiver. */
final class WebhookMeters implements DeliveryObserver {

    private final Map<Outcome, Counter> attempts = new EnumMap<>(Outcome.class);

    WebhookMeters(Meters meters) {
        for (Outcome outcome : Outcome.values()) {
            attempts.put(outcome, meters.counter(Metric.WEBHOOK_ATTEMPTS, outcome.name().toLowerCase(Locale.ROOT)));
        }
    }

    @Override
    public void attempted(Attempt attempt) {
        Counter counter = attempts.get(attempt.outcome());
        if (counter != null) {
            counter.increment();
        }
    }
}
