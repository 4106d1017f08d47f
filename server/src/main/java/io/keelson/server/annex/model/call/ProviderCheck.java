package io.keelson.server.annex.model.call;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.AnswerText;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.CallResult;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelClient;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Probes a provider with a few small requests. Their answers are billed by the provider and charged to no workspace. */
public final class ProviderCheck {

    private static final int MAX_OUTPUT_TOKENS = 1_000;
    private static final int SHORT_OUTPUT_TOKENS = 16;
    /** Lines of instructions: more tokens than any provider needs to keep a prefix in its cache. */
    private static final int CACHED_LINES = 400;
    private static final JsonNode NUMBER = Json.read("""
            {"type": "object", "additionalProperties": false, "required": ["number"],
             "properties": {"number": {"type": "integer"}}}""");
    private static final ToolSchema DOUBLE = new ToolSchema("double", "Doubles a number.", NUMBER);

    /** The result of a probe. */
    public enum Outcome {
        /** It works. */
        OK,
        /** The provider does not have it, which costs money or comfort only. */
        MISSING,
        /** It does not work: turns or answers with a schema may fail. */
        FAILED
    }

    /**
     * A probe.
     *
     * @param detail for people, without the key
     * @param requestId of the provider; null if absent
     * @param millis until the answer
     */
    public record Probe(String name, Outcome outcome, String detail, @Nullable String requestId, long millis) {}

    /** Whether a model answers, by one request that is as short as can be. */
    @FunctionalInterface
    public interface Answers {
        Probe of(ModelEndpoint endpoint) throws InterruptedException;
    }

    private record Found(Outcome outcome, String detail, @Nullable ModelAnswer answer) {}

    private interface Test {
        Found run() throws ModelException, InterruptedException;
    }

    private final ModelClient client;
    private final ModelEndpoint endpoint;
    private final Duration timeout;
    private final List<Probe> probes = new ArrayList<>();

    /** @param timeout of each request */
    public ProviderCheck(ModelClient client, ModelEndpoint endpoint, Duration timeout) {
        this.client = client;
        this.endpoint = endpoint;
        this.timeout = timeout;
    }

    /** Sends the requests, one after the other; none after the first when the first has no answer. */
    public List<Probe> run() throws InterruptedException {
        probe("answer", this::answer);
        if (probes.getFirst().outcome() == Outcome.FAILED) {
            return probes;
        }
        probe("usage", this::usage);
        probe("stream", this::stream);
        probe("output limit", this::limit);
        probe("tool call", this::call);
        probe("tool result", this::result);
        probe("output schema", this::schema);
        probe("cache", this::cache);
        probe("cancel", this::cancel);
        return List.copyOf(probes);
    }

    /** Sends one request only: whether the provider is reached, takes the key, and has the model. */
    public Probe answers() throws InterruptedException {
        probe("answer", this::answer);
        return probes.getFirst();
    }

    private void probe(String name, Test test) throws InterruptedException {
        Found found;
        String requestId = null;
        try {
            found = test.run();
            requestId = found.answer() == null ? null : found.answer().requestId();
        } catch (ModelException e) {
            found = new Found(Outcome.FAILED, e.kind().name() + ": " + e.getMessage(), null);
            requestId = e.requestId();
        }
        probes.add(new Probe(name, found.outcome(), withoutKey(found.detail()), requestId,
                found.answer() == null ? 0 : found.answer().totalMillis()));
    }

    /** Providers repeat parts of a request in their errors. */
    private String withoutKey(String text) {
        String redacted = endpoint.apiKey().isEmpty() ? text : text.replace(endpoint.apiKey(), "(key)");
        for (String value : endpoint.headers().values()) {
            redacted = redacted.replace(value, "(header)");
        }
        return redacted;
    }

    private Found answer() throws ModelException, InterruptedException {
        ModelAnswer answer = send(ask("Answer with the word ready."), TextListener.NONE);
        boolean good = answer.finish() == Finish.STOP && !answer.text().isBlank();
        return found(good, answer, "answered as " + answer.modelAnswered(), "an answer of text");
    }

    private Found usage() throws ModelException, InterruptedException {
        ModelAnswer answer = send(ask("Answer with the word ready."), TextListener.NONE);
        Tokens used = answer.usage();
        return found(used.total() > used.output() && used.output() > 0, answer, used.members().toString(),
                "tokens of input and output, found " + used.members());
    }

    private Found stream() throws ModelException, InterruptedException {
        AtomicInteger parts = new AtomicInteger();
        ModelAnswer answer = send(ask("Count from 1 to 40 in words."), text -> parts.incrementAndGet());
        return new Found(parts.get() > 1 ? Outcome.OK : Outcome.MISSING,
                "text in " + parts.get() + " parts, the first after " + answer.firstTextMillis() + " ms", answer);
    }

    private Found limit() throws ModelException, InterruptedException {
        ModelAnswer answer = send(new ModelRequest("", List.of(new Message.User("Count from 1 to 500 in words.")),
                List.of(), ToolChoice.NONE, null, SHORT_OUTPUT_TOKENS), TextListener.NONE);
        return found(answer.finish() == Finish.LENGTH, answer,
                "the answer ended at " + SHORT_OUTPUT_TOKENS + " tokens",
                "an answer that ends at " + SHORT_OUTPUT_TOKENS + " tokens, used " + answer.usage().output());
    }

    private Found call() throws ModelException, InterruptedException {
        ModelAnswer answer = send(new ModelRequest("", List.of(new Message.User("Double the number 21.")),
                List.of(DOUBLE), ToolChoice.REQUIRED, null, MAX_OUTPUT_TOKENS), TextListener.NONE);
        return found(answer.finish() == Finish.CALLS && doubles(answer), answer,
                "called double", "a call of double with a number");
    }

    private static boolean doubles(ModelAnswer answer) {
        return answer.calls().size() == 1 && answer.calls().getFirst().name().equals(DOUBLE.name())
                && fits(answer.calls().getFirst().input());
    }

    private static boolean fits(@Nullable JsonNode value) {
        return value != null && new DeclaredSchema(NUMBER).check(value).isEmpty();
    }

    private Found result() throws ModelException, InterruptedException {
        Message.User question = new Message.User("Double the number 21, then answer with the result.");
        ModelAnswer asked = send(new ModelRequest("", List.of(question), List.of(DOUBLE), ToolChoice.REQUIRED, null,
                MAX_OUTPUT_TOKENS), TextListener.NONE);
        if (asked.calls().isEmpty()) {
            return found(false, asked, "", "a call of double");
        }
        List<CallResult> results = asked.calls().stream()
                .map((Call call) -> new CallResult(call.id(), call.name(), "{\"number\": 42}", false)).toList();
        ModelAnswer answer = send(new ModelRequest("", List.of(question,
                new Message.Assistant(asked.text(), asked.calls(), asked.raw()), new Message.ToolResults(results)),
                List.of(DOUBLE), ToolChoice.NONE, null, MAX_OUTPUT_TOKENS), TextListener.NONE);
        return found(answer.finish() == Finish.STOP && answer.calls().isEmpty(), answer,
                "answered after the result of a call", "an answer after the result of a call");
    }

    private Found schema() throws ModelException, InterruptedException {
        ModelAnswer answer = send(new ModelRequest("", List.of(new Message.User("Choose a number from 1 to 9.")),
                List.of(), ToolChoice.NONE, NUMBER, MAX_OUTPUT_TOKENS), TextListener.NONE);
        boolean good;
        try {
            good = fits(OutsideJson.readStrict(AnswerText.json(answer.text()).getBytes(StandardCharsets.UTF_8)));
        } catch (JacksonException e) {
            good = false;
        }
        return found(good, answer, "the answer fits", "JSON that fits the schema");
    }

    private Found cache() throws ModelException, InterruptedException {
        String instructions =
                "You choose numbers. Rule: every number from 1 to 9 is equally good.\n".repeat(CACHED_LINES);
        ModelRequest request = new ModelRequest(instructions, List.of(new Message.User("Choose a number.")), List.of(),
                ToolChoice.NONE, null, MAX_OUTPUT_TOKENS);
        send(request, TextListener.NONE);
        ModelAnswer second = send(request, TextListener.NONE);
        return new Found(second.usage().cacheRead() > 0 ? Outcome.OK : Outcome.MISSING, second.usage().cacheRead()
                + " tokens from the cache in the second request of equal text", second);
    }

    private Found cancel() throws ModelException, InterruptedException {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<ModelAnswer> sent = client.send(endpoint, ask("Count from 1 to 500 in words."), timeout,
                text -> begun.complete(null));
        sent.whenComplete((answer, failure) -> begun.complete(null));
        try {
            begun.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return new Found(Outcome.FAILED, "no text to cancel", null);
        } finally {
            sent.cancel(true);
        }
        ModelAnswer next = send(ask("Answer with the word ready."), TextListener.NONE);
        return new Found(sent.isCancelled() ? Outcome.OK : Outcome.MISSING, sent.isCancelled()
                ? "a request after a cancelled one is answered"
                : "the answer came before it could be cancelled", next);
    }

    private static ModelRequest ask(String text) {
        return new ModelRequest("", List.of(new Message.User(text)), List.of(), ToolChoice.NONE, null,
                MAX_OUTPUT_TOKENS);
    }

    private Found found(boolean good, ModelAnswer answer, String detail, String expected) {
        return good ? new Found(Outcome.OK, detail, answer)
                : new Found(Outcome.FAILED, "expected " + expected + "; found " + answer.finish().name() + " with '"
                        + Excerpt.piece(withoutKey(answer.text())) + "'", answer);
    }

    private ModelAnswer send(ModelRequest request, TextListener listener) throws ModelException, InterruptedException {
        CompletableFuture<ModelAnswer> sent = client.send(endpoint, request, timeout, listener);
        try {
            return sent.get();
        } catch (InterruptedException e) {
            sent.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ModelException failure) {
                throw failure;
            }
            throw new IllegalStateException("a request to a model broke", e.getCause());
        }
    }
}
