package io.keelson.server.app.trace;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** When steps began that have not ended, as far as this server has seen it; the oldest are forgotten. */
final class OpenSpans {

    private static final int MAX_SPANS = 50_000;

    private record Lease(UUID step, int epoch) {}

    /** @param attempt of the step */
    record Start(Instant at, int attempt) {}

    private final Map<Lease, Start> starts = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Lease, Start> eldest) {
            return size() > MAX_SPANS;
        }
    };

    synchronized void add(UUID step, int epoch, Start start) {
        starts.put(new Lease(step, epoch), start);
    }

    /** Null when it began elsewhere. */
    synchronized @Nullable Start remove(UUID step, int epoch) {
        return starts.remove(new Lease(step, epoch));
    }
}
