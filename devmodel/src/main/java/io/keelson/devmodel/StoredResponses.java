package io.keelson.devmodel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Responses that can be fetched by their id. Safe for use by many threads. */
final class StoredResponses {

    private static final int KEPT = 1_000;

    private final Map<String, Stored> byId = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Stored> eldest) {
            return size() > KEPT;
        }
    };

    /** A response, which may still be in the making. */
    static final class Stored {
        private final CountDownLatch cancelled = new CountDownLatch(1);
        private ObjectNode document;
        private boolean ended;

        private Stored(ObjectNode document) {
            this.document = document;
        }

        /** A response that is finished. */
        static Stored finished(ObjectNode document) {
            Stored stored = new Stored(document);
            stored.ended = true;
            return stored;
        }

        /** Finishes after a time unless it is cancelled before; bills a finished response. */
        static Stored running(ObjectNode begun, Duration time, ObjectNode finished, BilledTokens usage,
                Journal.Entry entry) {
            Stored stored = new Stored(begun);
            Thread.ofVirtual().start(() -> {
                try {
                    stored.end(!stored.cancelled.await(time.toNanos(), TimeUnit.NANOSECONDS), finished, usage, entry);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            return stored;
        }

        private synchronized void end(boolean whole, ObjectNode finished, BilledTokens usage, Journal.Entry entry)
                throws IOException {
            if (whole && !ended) {
                ended = true;
                document = finished;
                entry.set("billed", usage.toJson());
                entry.end("stored", 0, false);
            } else {
                entry.end("cancelled", 0, false);
            }
        }

        /** Ends the response as cancelled; an ended one is unchanged. */
        synchronized void cancel() {
            if (!ended) {
                ended = true;
                document = document.deepCopy().put("status", "cancelled");
                cancelled.countDown();
            }
        }

        synchronized ObjectNode document() {
            if (!ended) {
                document = document.deepCopy().put("status", "in_progress");
            }
            return document;
        }
    }

    synchronized void put(String id, Stored stored) {
        byId.put(id, stored);
    }

    /** Null where there is none, or no longer. */
    synchronized @Nullable Stored get(String id) {
        return byId.get(id);
    }
}
