package io.keelson.server.engine.live;

import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The texts that executions of this node write, in its memory, and other nodes' texts that have a reader here. Another
 * node's text comes by a row of the database, which that node writes at most four times a second and only while the
 * text has a reader at another node. Thread-safe.
 */
public final class LiveTexts implements AutoCloseable {
    private static final Duration BETWEEN_EXCHANGES = Duration.ofMillis(250);

    /**
     * Text that a reader has not seen.
     *
     * @param epoch of the execution
     * @param seq characters of its text up to the end of this part
     * @param text empty where only the epoch is new
     */
    public record Part(int epoch, int seq, String text) {}

    /** A step that readers of this node wait for. */
    private static final class Watched {
        private int readers;
        private LiveTextRows.@Nullable Row elsewhere;
    }

    private final LiveTextRows rows;
    private final BackgroundTask exchange = BackgroundTask.paced("live-texts", BETWEEN_EXCHANGES, this::exchange);
    /** Texts of executions of this node, by step. */
    private final Map<UUID, LiveText> here = new ConcurrentHashMap<>();
    private final Map<UUID, Watched> watched = new HashMap<>();
    private boolean exchanging;

    /** @param node the name of this server */
    public LiveTexts(Database database, String node) {
        this.rows = new LiveTextRows(database, node);
    }

    /** Begins the text of an execution; texts of earlier executions become void. */
    public LiveText open(UUID step, int epoch) {
        LiveText[] self = new LiveText[1];
        LiveText opened = new LiveText(epoch, () -> here.remove(step, self[0]));
        self[0] = opened;
        here.put(step, opened);
        wake();
        return opened;
    }

    /** A reader of a step's texts, until it is closed. For one thread. */
    public final class Reader implements AutoCloseable {
        private final UUID step;
        private final Watched texts;
        private @Nullable LiveText last;

        private Reader(UUID step, Watched texts) {
            this.step = step;
            this.texts = texts;
        }

        /**
         * The following parts.
         *
         * @param epoch of the last part that was seen; 0 if absent
         * @param seq of that part
         * @return null when there is nothing new now
         */
        public @Nullable Part after(int epoch, int seq) {
            LiveText own = here.get(step);
            if (own != null) {
                last = own;
            }
            LiveTextRows.Row row = elsewhere();
            LiveText text = last;
            if (text != null && (row == null || row.epoch() <= text.epoch())) {
                int seen = text.epoch() > epoch ? 0 : seq;
                return text.epoch() < epoch ? null : part(text.epoch(), epoch, seen, text.after(seen));
            }
            if (row == null || row.epoch() < epoch) {
                return null;
            }
            int seen = row.epoch() > epoch ? 0 : seq;
            return part(row.epoch(), epoch, seen, row.text().substring(Math.min(seen, row.text().length())));
        }

        private static @Nullable Part part(int of, int epoch, int seen, String text) {
            return text.isEmpty() && of == epoch ? null : new Part(of, seen + text.length(), text);
        }

        private LiveTextRows.@Nullable Row elsewhere() {
            synchronized (watched) {
                return texts.elsewhere;
            }
        }

        @Override
        public void close() {
            synchronized (watched) {
                if (--texts.readers == 0) {
                    watched.remove(step);
                }
            }
        }
    }

    /** Follows a step's texts. */
    public Reader read(UUID step) {
        synchronized (watched) {
            Watched texts = watched.computeIfAbsent(step, id -> new Watched());
            texts.readers++;
            wake();
            return new Reader(step, texts);
        }
    }

    private void wake() {
        synchronized (watched) {
            if (!exchanging) {
                exchanging = true;
                exchange.nudge();
            }
        }
    }

    private Duration exchange() {
        rows.write(Map.copyOf(here));
        Map<UUID, LiveTextRows.Row> wanted = new HashMap<>();
        synchronized (watched) {
            watched.forEach((step, texts) -> {
                if (!here.containsKey(step)) {
                    wanted.put(step, texts.elsewhere == null ? LiveTextRows.Row.NONE : texts.elsewhere);
                }
            });
        }
        Map<UUID, LiveTextRows.Row> found = wanted.isEmpty() ? Map.of() : rows.read(wanted);
        synchronized (watched) {
            found.forEach((step, row) -> {
                Watched texts = watched.get(step);
                if (texts != null) {
                    texts.elsewhere = row;
                }
            });
            exchanging = !here.isEmpty() || !watched.isEmpty();
            return exchanging ? BETWEEN_EXCHANGES : BackgroundTask.ON_NUDGE;
        }
    }

    /** The task that exchanges texts with other nodes. */
    public BackgroundTask task() {
        return exchange;
    }

    @Override
    public void close() throws InterruptedException {
        exchange.close();
    }
}
