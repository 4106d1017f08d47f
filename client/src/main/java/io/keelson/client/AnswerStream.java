package io.keelson.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The text that a step will have as its result, while it arrives. After a lost connection it resumes behind the last part. For
 * one thread; closing it from another ends a wait.
 */
public final class AnswerStream implements AutoCloseable {

    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(5);
    private static final String END = "end";

    /**
     * One event.
     *
     * @param type {@code text}, {@code superseded} or {@code answer}
     * @param epoch of the execution that it is about
     * @param text of {@code text} the next part; of {@code superseded} empty: the parts so far are void; of {@code answer} the stored
     *     text, which alone counts, or null for a result that is no text
     * @param state of {@code answer}: of the step; null elsewhere
     * @param errorCode of {@code answer}: of a failed step; null elsewhere
     */
    public record Part(String type, int epoch, @Nullable String text, @Nullable String state,
            @Nullable String errorCode) {}

    private final StreamConnection connection;
    private final String step;
    private final Backoff backoff = new Backoff(FIRST_DELAY, LONGEST_DELAY);
    private @Nullable String seen;
    private volatile boolean closed;

    AnswerStream(Api api, String step) {
        this.connection = new StreamConnection(api);
        this.step = step;
    }

    /**
     * Waits for the next event.
     *
     * @return null behind the answer, or when the stream was closed
     * @throws KeelsonException when the server refuses
     */
    public @Nullable Part next() {
        while (!closed && !END.equals(seen)) {
            try {
                Part part = read();
                if (part != null) {
                    return part;
                }
                Api.pause(backoff.next(null));
            } catch (IOException e) {
                connection.close();
            } catch (KeelsonException e) {
                connection.close();
                if (!e.isTransient()) {
                    throw e;
                }
                Api.pause(backoff.next(e.retryAfter()));
            }
        }
        return null;
    }

    private @Nullable Part read() throws IOException {
        BufferedReader open =
                connection.lines(() -> RequestPath.of("/steps/", step, "/stream").with("after", seen).toString());
        String id = null;
        for (String line = open.readLine(); line != null; line = open.readLine()) {
            if (line.startsWith("id: ")) {
                id = line.substring(4);
            } else if (line.startsWith("data: ") && id != null) {
                seen = id;
                return part(Json.parse(line.substring(6).getBytes(StandardCharsets.UTF_8)));
            }
        }
        connection.close();
        return null;
    }

    private static Part part(JsonNode data) {
        String type = data.path("type").asString("");
        return new Part(type, data.path("epoch").asInt(0),
                type.equals("superseded") ? "" : data.path("text").stringValue(null),
                data.path("state").stringValue(null), data.path("error_code").stringValue(null));
    }

    @Override
    public void close() {
        closed = true;
        connection.close();
    }
}
