package io.keelson.server.annex.model.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelClient;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.annex.model.call.ProviderCheck.Outcome;
import io.keelson.server.annex.model.call.ProviderCheck.Probe;
import io.keelson.server.base.json.Json;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class ProviderCheckTest {

    private static final String KEY = "sk-canary-55555";
    private static final ModelEndpoint ENDPOINT = new ModelEndpoint("small", WireKind.OPENAI_CHAT,
            URI.create("http://127.0.0.1:1"), "m", KEY, Map.of("X-Route", "route-canary"));
    private static final int LONG = 10_000;

    /** A provider that has all that is probed, in this process. */
    private static final class Provider implements ModelClient {
        private final UnaryOperator<ModelAnswer> fault;
        private boolean cached;

        private Provider(UnaryOperator<ModelAnswer> fault) {
            this.fault = fault;
        }

        @Override
        public CompletableFuture<ModelAnswer> send(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
                TextListener listener) {
            listener.text("one ");
            listener.text("two");
            if (request.messages().getFirst() instanceof Message.User user && user.text().contains("500")
                    && request.maxOutputTokens() > 100) {
                return new CompletableFuture<>();
            }
            return CompletableFuture.completedFuture(fault.apply(answer(request)));
        }

        private ModelAnswer answer(ModelRequest request) {
            if (request.toolChoice() == ToolChoice.REQUIRED) {
                return of("", List.of(new Call("c1", "double", Json.read("{\"number\": 21}"), "{\"number\": 21}")),
                        Finish.CALLS, 0);
            }
            if (request.outputSchema() != null) {
                return of("{\"number\": 7}", List.of(), Finish.STOP, 0);
            }
            if (request.maxOutputTokens() < 100) {
                return of("one two", List.of(), Finish.LENGTH, 0);
            }
            boolean again = cached && request.instructions().length() > LONG;
            cached |= request.instructions().length() > LONG;
            return of("ready", List.of(), Finish.STOP, again ? 90 : 0);
        }

        private static ModelAnswer of(String text, List<Call> calls, Finish finish, long cacheRead) {
            return new ModelAnswer(text, calls, finish, new Tokens(10, cacheRead, 0, 5, 0), "m-2026", "req-1",
                    Json.object(), 3, 9);
        }
    }

    private static List<Probe> check(ModelClient client) throws InterruptedException {
        return new ProviderCheck(client, ENDPOINT, Duration.ofSeconds(10)).run();
    }

    private static Outcome outcome(List<Probe> probes, String name) {
        return probes.stream().filter(probe -> probe.name().equals(name)).findFirst().orElseThrow().outcome();
    }

    @Test
    void providerWithAllFeaturesPassesEveryProbe() throws Exception {
        List<Probe> probes = check(new Provider(answer -> answer));

        assertThat(probes).hasSize(9).allSatisfy(probe -> {
            assertThat(probe.outcome()).as(probe.toString()).isEqualTo(Outcome.OK);
            assertThat(probe.requestId()).isEqualTo("req-1");
        });
    }

    @Test
    void answerWithReasoningInAFencePassesAsInARun() throws Exception {
        List<Probe> probes = check(new Provider(answer -> answer.text().equals("{\"number\": 7}")
                ? Provider.of("<think>any will do</think>\n```json\n{\"number\": 7}\n```", List.of(), Finish.STOP, 0)
                : answer));

        assertThat(outcome(probes, "output schema")).isEqualTo(Outcome.OK);
    }

    @Test
    void providerWithoutCallsSchemasUsageAndLimitsFailsTheirProbes() throws Exception {
        List<Probe> probes =
                check(new Provider(answer -> new ModelAnswer("hello ".repeat(9) + KEY, List.of(), Finish.STOP,
                        Tokens.NONE, null, null, Json.object(), 3, 9)));

        assertThat(probes).filteredOn(probe -> probe.outcome() == Outcome.FAILED).extracting(Probe::name)
                .containsExactly("usage", "output limit", "tool call", "tool result", "output schema");
        assertThat(outcome(probes, "cache")).isEqualTo(Outcome.MISSING);
        assertThat(probes.toString()).contains("hello (key)'").doesNotContain("canary");
    }

    @Test
    void providerThatDoesNotAnswerIsAskedOnceAndItsErrorHasNoKey() throws Exception {
        List<Probe> probes = check((endpoint, request, timeout, listener) -> CompletableFuture.failedFuture(
                new ModelException(ModelException.Kind.KEY_REFUSED, "invalid key " + KEY + " for route-canary", null,
                        null,
                        "req-7")));

        assertThat(probes).containsExactly(new Probe("answer", Outcome.FAILED,
                "KEY_REFUSED: invalid key (key) for (header)", "req-7", 0));
    }

    @Test
    void answerInOnePieceIsNoStream() throws Exception {
        ModelClient whole = new Provider(answer -> answer);

        List<Probe> probes = check((endpoint, request, timeout, listener) -> whole.send(endpoint, request, timeout,
                text -> {
                    if (text.equals("one ")) {
                        listener.text(text);
                    }
                }));

        assertThat(outcome(probes, "stream")).isEqualTo(Outcome.MISSING);
        assertThat(outcome(probes, "cancel")).isEqualTo(Outcome.OK);
    }
}
