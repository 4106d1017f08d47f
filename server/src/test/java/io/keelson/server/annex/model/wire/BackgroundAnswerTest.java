package io.keelson.server.annex.model.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelException.Kind;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.StoredAnswer;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.base.outbound.OutboundClient;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a provider may say about an answer that it makes in the background. */
class BackgroundAnswerTest {
    private static final String WHOLE = """
            {"id": "r1", "status": "completed", "model": "m-1", "usage": {"input_tokens": 3, "output_tokens": 2},
             "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}]}""";

    private record Reply(int status, String body) {}

    private final OutboundClient outbound = new OutboundClient(true);
    private final HttpModelClient client = new HttpModelClient(outbound, Clock.systemUTC(), System::nanoTime);
    private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();
    private final LinkedBlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private HttpServer provider;

    /** An answer whose id is known, or is written here. */
    private static final class Ids implements StoredAnswer {
        private final @Nullable String known;
        private boolean leaseLost;
        private String seen = "";

        private Ids(@Nullable String known) {
            this.known = known;
        }

        @Override
        public @Nullable String known() {
            return known;
        }

        @Override
        public void begun(String id, Runnable cancel) throws InterruptedException {
            seen += "begun " + id + ".";
            if (leaseLost) {
                throw new InterruptedException("the lease is lost");
            }
        }

        @Override
        public void gone() {
            seen += "gone.";
        }
    }

    @BeforeEach
    void start() throws Exception {
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.createContext("/", exchange -> {
            requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            Reply reply = replies.isEmpty() ? new Reply(200, "{}") : replies.remove();
            byte[] body = reply.body.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(reply.status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        provider.start();
    }

    @AfterEach
    void stop() {
        provider.stop(0);
        outbound.close();
    }

    private ModelAnswer send(Ids ids, Reply... said) throws Exception {
        replies.addAll(List.of(said));
        ModelEndpoint endpoint = new ModelEndpoint("small", WireKind.OPENAI_RESPONSES,
                URI.create("http://127.0.0.1:" + provider.getAddress().getPort() + "/v1"), "m", "key", Map.of());
        return client.sendStored(endpoint, new ModelRequest("", List.of(new Message.User("Hi")), List.of(),
                ToolChoice.NONE, null, 100), Duration.ofSeconds(20), ids).get(60, TimeUnit.SECONDS);
    }

    @Test
    void anAnswerIsBegunAndAskedForUntilItIsThere() throws Exception {
        Ids ids = new Ids(null);
        ModelAnswer answer = send(ids, new Reply(200, "{\"id\": \"r1\", \"status\": \"queued\"}"),
                new Reply(200, "{\"id\": \"r1\", \"status\": \"in_progress\"}"), new Reply(200, WHOLE));
        assertThat(answer.text()).isEqualTo("Hi");
        assertThat(answer.usage().output()).isEqualTo(2);
        assertThat(ids.seen).isEqualTo("begun r1.");
        assertThat(requests).containsExactly("POST /v1/responses", "GET /v1/responses/r1", "GET /v1/responses/r1");
    }

    @Test
    void aKnownAnswerIsFetchedOnly() throws Exception {
        assertThat(send(new Ids("r1"), new Reply(200, WHOLE)).text()).isEqualTo("Hi");
        assertThat(requests).containsExactly("GET /v1/responses/r1");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "404 | {\"error\": {\"message\": \"none\"}}                                      | INTERRUPTED | gone.",
            "200 | {\"id\": \"r1\", \"status\": \"cancelled\"}                               | INTERRUPTED | begun r1.gone.",
            "200 | {\"id\": \"r1\", \"status\": \"failed\", \"error\": {\"message\": \"no\"}} | UNAVAILABLE | begun r1.gone.",
            "200 | {\"id\": \"r1\", \"status\": \"completed\"}                               | UNREADABLE  | begun r1.gone.",
            "500 | {}                                                                        | UNAVAILABLE | ''",
            "429 | {}                                                                        | DEFERRED    | ''"})
    void anAnswerThatCannotBeUsedIsForgottenAndOneThatCannotBeAskedForIsNot(int status, String body, Kind kind,
            String seen) {
        Ids ids = new Ids("r1");
        Throwable failure = catchThrowable(() -> send(ids, new Reply(status, body)));
        assertThat(((ModelException) failure.getCause()).kind()).isEqualTo(kind);
        assertThat(ids.seen).isEqualTo(seen);
    }

    @Test
    void anAnswerWhoseIdCannotBeWrittenIsCancelled() throws Exception {
        Ids ids = new Ids(null);
        ids.leaseLost = true;
        assertThat(catchThrowable(() -> send(ids, new Reply(200, "{\"id\": \"r1\", \"status\": \"queued\"}"))))
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(requests.poll(60, TimeUnit.SECONDS)).isEqualTo("POST /v1/responses");
        assertThat(requests.poll(60, TimeUnit.SECONDS)).isEqualTo("POST /v1/responses/r1/cancel");
    }
}
