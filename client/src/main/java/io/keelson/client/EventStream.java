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
                if (event == null) {
                    if (!follow || connection.ended()) {
                        return null;
                    }
                    resume(null);
                } else if (types.isEmpty() || types.contains(event.type())
                        || types.contains(event.data().path("event_type").asString(""))) {
                    return event;
                }
            } catch (IOException e) {
                resume(null);
            } catch (KeelsonException e) {
                if (!e.isTransient() || e.code().equals(WENT_BACK)) {
                    connection.close();
                    throw e;
                }
                resume(e.retryAfter());
            }
        }
        return null;
    }

    /** Has the next read open the stream again: at once after the first loss, later after further ones without an event. */
    private void resume(@Nullable Duration wish) {
        connection.close();
        Duration delay = backoff.next(wish);
        if (!closed && (wish != null || backoff.failures() > 1)) {
            Api.pause(delay);
        }
    }

    /** The next event; null at the end of the connection. An event without the empty line after it is not whole. */
    private @Nullable Live read() throws IOException {
        BufferedReader reader = connection.lines(() -> path(seen));
        Long id = null;
        String type = "";
        String data = null;
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.startsWith("id: ")) {
                id = Long.valueOf(line.substring(4));
            } else if (line.startsWith("event: ")) {
                type = line.substring(7);
            } else if (line.startsWith("data: ")) {
                data = line.substring(6);
            } else if (line.isEmpty()) {
                if (data != null && type.equals(ERROR)) {
                    throw refused(document(data));
                }
                if (id != null) {
                    seen = id;
                    backoff.reset();
                    if (data != null) {
                        return new Live(id, type, document(data));
                    }
                }
                type = "";
                data = null;
            }
        }
        return null;
    }

    private static JsonNode document(String data) {
        return Json.parse(data.getBytes(StandardCharsets.UTF_8));
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
