package io.keelson.devmodel;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A model for tests: its answers come from a queue, then from a function. A request without an answer fails with status 400
 * and is not repeated. Safe for use by many threads.
 */
public final class ScriptedModel implements AutoCloseable {
    private final Queue<JsonNode> queue = new ArrayDeque<>();
    private final List<Script.Question> questions = new ArrayList<>();
    private final DevModel model;
    private int failures;
    private @Nullable Function<Script.Question, @Nullable JsonNode> function;

    /**
     * Listens at a free port of the loopback address.
     *
     * @throws IOException if there is no free port
     */
    public ScriptedModel(Clock clock) throws IOException {
        model = new DevModel(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), Script.of(this::answer),
                new Journal(clock, null), clock);
    }

    private synchronized JsonNode answer(Script.Question question) {
        questions.add(question);
        JsonNode next = failures > 0 ? failure(500) : queue.poll();
        failures = Math.max(0, failures - 1);
        if (next == null && function != null) {
            next = function.apply(question);
        }
        if (next != null) {
            return next;
        }
        ObjectNode answer = Json.object().put("status", 400);
        answer.set("error", Json.object().put("type", "invalid_request_error").put("message",
                "the test has scripted no answer to: " + question.text()));
        return answer;
    }

    /** Adds an answer to the queue: an {@code answer} of a script's rule. */
    public synchronized void add(JsonNode answer) {
        queue.add(answer);
    }

    /** An answer of a provider that fails, for {@link #add}. */
    public static JsonNode failure(int status) {
        ObjectNode answer = Json.object().put("status", status);
        answer.set("error", Json.object().put("type", "server_error").put("message", "a failure of the test"));
        return answer;
    }

    /** Has the next requests fail with status 500, before answers of the queue. */
    public synchronized void fail(int times) {
        failures += times;
    }

    /** Answers requests for which the queue has no answer. The function returns null to fail a request. */
    public synchronized void otherwise(@Nullable Function<Script.Question, @Nullable JsonNode> answers) {
        function = answers;
    }

    /** Requests so far, the oldest first. */
    public synchronized List<Script.Question> questions() {
        return List.copyOf(questions);
    }

    /** Removes all answers and the recorded requests. */
    public synchronized void clear() {
        queue.clear();
        failures = 0;
        questions.clear();
        function = null;
    }

    /** A file of models, in which this one has the given name and costs one credit per million tokens. */
    public String file(String name) {
        return """
                models:
                  %s: {wire: openai-chat, base_url: "http://127.0.0.1:%d/v1", family: %s, context_tokens: 100000, model: %s,
                    max_output_tokens: 1000, prices: {input: 1, output: 1}}
                """.formatted(name, model.port(), name, name);
    }

    @Override
    public void close() throws IOException {
        model.close();
    }
}
