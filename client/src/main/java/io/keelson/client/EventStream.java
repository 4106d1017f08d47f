package io.keelson.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Events as they happen, each once and in order. After a lost connection it resumes behind the last one. For one thread;
 * closing it from another ends a wait.
 */
public final class EventStream implements AutoCloseable {

    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(5);
    /** The type of the event that ends a stream with a problem. */
    private static final String ERROR = "error";
    private static final String WENT_BACK = "DATABASE_WENT_BACK";

    /**
     * One event.
     *
     * @param id the event to resume after; in a run's stream its sequence number
     * @param type as streams name it, such as {@code run.status.changed}
     * @param data the event as lists have it, with {@code type} and {@code runId} before it
     */
    public record Live(long id, String type, JsonNode data) {}

    private final StreamConnection connection;
    private final String path;
    private final Set<String> types;
    private final boolean follow;
    private final Backoff backoff = new Backoff(FIRST_DELAY, LONGEST_DELAY);
    private @Nullable Long seen;
    private volatile boolean closed;

    EventStream(Api api, String path, Set<String> types, boolean follow, @Nullable Long after) {
        this.connection = new StreamConnection(api);
        this.path = path;
        this.types = Set.copyOf(types);
        this.follow = follow;
        this.seen = after;
    }

    /**
     * Waits for the next event.
     *
     * @return null when there is no further one, or the stream was closed
     * @throws KeelsonException when the server refuses; {@code DATABASE_WENT_BACK} when the database lost events that
     *         the caller may have received, with the member {@code read_after} of the document
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
                connection.close();
            } catch (KeelsonException e) {
                connection.close();
                if (!e.isTransient() || e.code().equals(WENT_BACK)) {
                    throw e;
                }
                Api.pause(backoff.next(e.retryAfter()));
            }
        }
        return null;
    }

    /** A run's stream that has ended answers nothing at once; anything else was broken off. */
    private boolean ended() throws IOException {
        connection.close();
        BufferedReader again = connection.lines(() -> path(seen));
        again.mark(1);
        boolean nothing = again.read() < 0;
        if (!nothing) {
            again.reset();
        }
        return nothing;
    }

    private @Nullable Live read() throws IOException {
        BufferedReader reader = connection.lines(() -> path(seen));
        Long id = null;
        String type = "";
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.startsWith("id: ")) {
                id = Long.valueOf(line.substring(4));
            } else if (line.startsWith("event: ")) {
                type = line.substring(7);
            } else if (line.startsWith("data: ") && type.equals(ERROR)) {
                throw refused(Json.parse(line.substring(6).getBytes(StandardCharsets.UTF_8)));
            } else if (line.startsWith("data: ") && id != null) {
                seen = id;
                return new Live(id, type, Json.parse(line.substring(6).getBytes(StandardCharsets.UTF_8)));
            } else if (line.isEmpty() && id != null) {
                seen = id;
            }
        }
        connection.close();
        return null;
    }

    private static KeelsonException refused(JsonNode problem) {
        return KeelsonException.refused(problem.path("status").asInt(0), problem, null);
    }

    private String path(@Nullable Long after) {
        String query = (follow ? "" : "&wait_ms=0") + (after == null ? "" : "&after=" + after);
        return query.isEmpty() ? path : path + (path.contains("?") ? query : "?" + query.substring(1));
    }

    @Override
    public void close() {
        closed = true;
        connection.close();
    }
}
