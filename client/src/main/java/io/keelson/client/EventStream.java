package io.keelson.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Events as they happen, each once and in order. Goes on behind the last one where the connection is lost. For one thread;
 * closing it from another ends a wait.
 */
public final class EventStream implements AutoCloseable {

    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(5);

    /**
     * One event.
     *
     * @param id the event to resume after; in a run's stream its sequence number
     * @param type as streams name it, such as {@code run.status.changed}
     * @param data the event as lists have it, with {@code type} and {@code runId} before it
     */
    public record Live(long id, String type, JsonNode data) {}

    private final Api api;
    private final String path;
    private final Set<String> types;
    private final boolean follow;
    private final Backoff backoff = new Backoff(FIRST_DELAY, LONGEST_DELAY);
    private @Nullable Long seen;
    private @Nullable InputStream connection;
    private @Nullable BufferedReader lines;
    private volatile boolean closed;

    EventStream(Api api, String path, Set<String> types, boolean follow, @Nullable Long after) {
        this.api = api;
        this.path = path;
        this.types = Set.copyOf(types);
        this.follow = follow;
        this.seen = after;
    }

    /**
     * Waits for the next event.
     *
     * @return null when there is no further one, or the stream was closed
     * @throws KeelsonException when the server refuses
     */
    public @Nullable Live next() {
        while (!closed) {
            try {
                Live event = read();
                if (event == null && !follow) {
                    return null;
                }
                if (event != null && (types.isEmpty() || types.contains(event.type())
                        || types.contains(event.data().path("event_type").asString("")))) {
                    return event;
                }
                if (event == null && ended()) {
                    return null;
                }
            } catch (IOException e) {
                disconnect();
            } catch (KeelsonException e) {
                disconnect();
                if (!e.isTransient()) {
                    throw e;
                }
                Api.pause(backoff.next(e.retryAfter()));
            }
        }
        return null;
    }

    /** A run's stream that has ended answers nothing at once; anything else was broken off. */
    private boolean ended() throws IOException {
        disconnect();
        BufferedReader again = lines();
        again.mark(1);
        boolean nothing = again.read() < 0;
        if (!nothing) {
            again.reset();
        }
        return nothing;
    }

    private @Nullable Live read() throws IOException {
        BufferedReader reader = lines();
        Long id = null;
        String type = "";
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.startsWith("id: ")) {
                id = Long.valueOf(line.substring(4));
            } else if (line.startsWith("event: ")) {
                type = line.substring(7);
            } else if (line.startsWith("data: ") && id != null) {
                seen = id;
                return new Live(id, type, Json.parse(line.substring(6).getBytes(StandardCharsets.UTF_8)));
            } else if (line.isEmpty() && id != null) {
                seen = id;
            }
        }
        disconnect();
        return null;
    }

    private BufferedReader lines() {
        BufferedReader open = lines;
        if (open == null) {
            connection = api.stream(path(seen));
            open = new BufferedReader(new InputStreamReader(connection, StandardCharsets.UTF_8));
            lines = open;
        }
        return open;
    }

    private String path(@Nullable Long after) {
        String query = (follow ? "" : "&wait_ms=0") + (after == null ? "" : "&after=" + after);
        return query.isEmpty() ? path : path + (path.contains("?") ? query : "?" + query.substring(1));
    }

    private void disconnect() {
        lines = null;
        try (InputStream open = connection) {
            connection = null;
        } catch (IOException e) {
            // it is gone, which was the aim
        }
    }

    @Override
    public void close() {
        closed = true;
        disconnect();
    }
}
