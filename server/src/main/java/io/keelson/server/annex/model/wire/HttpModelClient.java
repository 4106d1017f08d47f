package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.AnswerText;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelClient;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelException.Kind;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.StoredAnswer;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.json.SseReader;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRefusedException;
import io.keelson.server.base.outbound.OutboundRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends requests to models by HTTP. Asks for a stream where a listener receives the text, and gives one up that is silent for five
 * minutes. All requests pass the guard of {@link OutboundClient}.
 */
public final class HttpModelClient implements ModelClient {
    private static final Logger LOG = LoggerFactory.getLogger(HttpModelClient.class);
    private static final int MAX_BYTES = 32 << 20;
    private static final int OK = 200;
    private static final int STREAM_ERROR = 500;
    private static final int EXCERPT = 200;
    /** Values of headers that are shorter are no keys, and may be words of a message. */
    private static final int SECRET = 8;
    private static final int MAX_ERROR = 65_536;
    private static final byte[] DONE = "[DONE]".getBytes(StandardCharsets.UTF_8);
    /** No token of a usual vocabulary has more. */
    private static final int MAX_TOKEN_BYTES = 128;
    private static final int MARGIN = 4_096;
    private static final Duration IDLE = Duration.ofMinutes(5);
    private static final Duration CANCEL = Duration.ofSeconds(30);

    private final OutboundClient outbound;
    private final Clock clock;
    private final LongSupplier nanos;

    /**
     * @param clock for pauses until a date
     * @param nanos a steady clock, for durations
     */
    public HttpModelClient(OutboundClient outbound, Clock clock, LongSupplier nanos) {
        this.outbound = outbound;
        this.clock = clock;
        this.nanos = nanos;
    }

    @Override
    public CompletableFuture<ModelAnswer> send(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
            TextListener listener) {
        Wire wire = Wire.of(endpoint.wire());
        boolean stream = listener != TextListener.NONE;
        LoweredRequest lowered = LoweredRequest.of(request);
        OutboundRequest sent = request(endpoint, "POST", wire.path(), timeout,
                wire.body(endpoint, lowered.request(), stream), stream ? "text/event-stream" : "application/json");
        Exchange exchange = new Exchange(endpoint, lowered, listener);
        CompletableFuture<ModelAnswer> reading =
                read(sent, stream && IDLE.compareTo(timeout) < 0 ? IDLE : timeout, exchange::read);
        return answer(reading, exchange, timeout);
    }

    @Override
    public CompletableFuture<ModelAnswer> sendStored(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
            StoredAnswer stored) {
        ResponsesWire wire = new ResponsesWire();
        LoweredRequest lowered = LoweredRequest.of(request);
        Exchange exchange = new Exchange(endpoint, lowered, TextListener.NONE);
        Background background = new Background(endpoint, exchange, wire.background(endpoint, lowered.request()),
                timeout);
        return answer(new BackgroundAnswer(background, exchange::whole, stored).get(), exchange, timeout);
    }

    @Override
    public void cancelStored(ModelEndpoint endpoint, String id) {
        OutboundRequest cancel =
                request(endpoint, "POST", stored(id) + "/cancel", CANCEL, Json.object(), "application/json");
        var _ = read(cancel, CANCEL, (status, headers, body) -> status).whenComplete((status, failure) -> {
            if (failure != null || status != OK) {
                LOG.warn("the response {} could not be cancelled: {}", id,
                        failure == null ? "status " + status : failure.getMessage());
            }
        });
    }

    /** Reads the response on another thread, within the memory of this thread's work. */
    private <T> CompletableFuture<T> read(OutboundRequest request, Duration idle,
            OutboundClient.ResponseReader<T> reader) {
        DocumentMemory.Elsewhere memory = DocumentMemory.elsewhere();
        return outbound.stream(request, idle, (status, headers, body) -> memory
                .<T, Exception>read(() -> reader.read(status, headers, body)));
    }

    private static String stored(String id) {
        return new ResponsesWire().path() + "/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    }

    /** @param body null if absent */
    private static OutboundRequest request(ModelEndpoint endpoint, String method, String path, Duration timeout,
            @Nullable ObjectNode body, String accept) {
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.put("accept", accept);
        if (body != null) {
            headers.put("content-type", "application/json");
        }
        headers.putAll(Wire.of(endpoint.wire()).headers(endpoint.apiKey()));
        headers.putAll(endpoint.headers());
        return new OutboundRequest(method, endpoint.baseUrl() + path, headers, body == null ? null : Json.write(body),
                timeout, MAX_BYTES);
    }

    private static CompletableFuture<ModelAnswer> answer(CompletableFuture<ModelAnswer> reading, Exchange exchange,
            Duration timeout) {
        CompletableFuture<ModelAnswer> answer = new CompletableFuture<>();
        answer.whenComplete((value, failure) -> reading.cancel(true));
        reading.whenComplete((value, failure) -> {
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(exchange.failure(failure, timeout));
            }
        });
        return answer;
    }

    /** The requests of an answer in the background. */
    private final class Background implements BackgroundAnswer.Requests {
        private static final int NOT_FOUND = 404;

        private final ModelEndpoint endpoint;
        private final Exchange exchange;
        private final ObjectNode body;
        private final Duration timeout;

        Background(ModelEndpoint endpoint, Exchange exchange, ObjectNode body, Duration timeout) {
            this.endpoint = endpoint;
            this.exchange = exchange;
            this.body = body;
            this.timeout = timeout;
        }

        @Override
        public <T> CompletableFuture<T> begin(BackgroundAnswer.Reader<T> reader) {
            return HttpModelClient.this.read(
                    request(endpoint, "POST", new ResponsesWire().path(), timeout, body, "application/json"), timeout,
                    (status, headers, read) -> reader.read(status, exchange.document(status, headers, read)));
        }

        @Override
        public <T> CompletableFuture<T> fetch(String id, BackgroundAnswer.Reader<T> reader) {
            return HttpModelClient.this.read(request(endpoint, "GET", stored(id), timeout, null, "application/json"),
                    timeout,
                    (status, headers, read) -> reader.read(status,
                            status == NOT_FOUND ? null : exchange.document(status, headers, read)));
        }

        @Override
        public void cancel(String id) {
            cancelStored(endpoint, id);
        }
    }

    @FunctionalInterface
    private interface Reading<T> {
        T read() throws IOException, UnreadableException, ProviderErrorException;
    }

    /** One request and what has come of its answer. */
    final class Exchange {
        private final Wire wire;
        private final ModelEndpoint endpoint;
        private final LoweredRequest request;
        private final TextListener listener;
        private final List<String> secrets;
        private final long sentAt = nanos.getAsLong();
        private Map<String, String> headers = Map.of();
        private Supplier<@Nullable JsonNode> seen = () -> null;
        private @Nullable StreamedDocument stream;
        private long firstText = -1;

        Exchange(ModelEndpoint endpoint, LoweredRequest request, TextListener listener) {
            this.wire = Wire.of(endpoint.wire());
            this.endpoint = endpoint;
            this.request = request;
            this.listener = listener;
            this.secrets = Stream.concat(Stream.of(endpoint.apiKey()),
                    endpoint.headers().values().stream().filter(value -> value.length() >= SECRET)).toList();
        }

        ModelAnswer read(int status, Map<String, String> received, InputStream body)
                throws IOException, ModelException {
            headers = received;
            String type = received.getOrDefault("content-type", "").toLowerCase(Locale.ROOT);
            if (status != OK) {
                throw Failures.of(status, received, error(body.readNBytes(MAX_ERROR)), null, secrets, clock);
            }
            return readable(() -> type.startsWith("text/event-stream") ? answer(streamed(body))
                    : answer(json(type, body)));
        }

        /** The document of a response that is no stream. */
        JsonNode document(int status, Map<String, String> received, InputStream body)
                throws IOException, ModelException {
            headers = received;
            if (status != OK) {
                throw Failures.of(status, received, error(body.readNBytes(MAX_ERROR)), null, secrets, clock);
            }
            return readable(() -> json(received.getOrDefault("content-type", "").toLowerCase(Locale.ROOT), body));
        }

        /** The answer in a document that has come whole. */
        ModelAnswer whole(JsonNode document) throws ModelException {
            try {
                return readable(() -> answer(document));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private JsonNode json(String type, InputStream body) throws IOException, UnreadableException {
            if (!type.startsWith("application/json")) {
                throw new UnreadableException("the answer has the content type '" + type + "'");
            }
            JsonNode document = document(body);
            seen = () -> document;
            return document;
        }

        private <T> T readable(Reading<T> reading) throws IOException, ModelException {
            try {
                return reading.read();
            } catch (ProviderErrorException e) {
                throw amid(Failures.of(STREAM_ERROR, headers, e.error(), usage(), secrets, clock));
            } catch (UnreadableException e) {
                throw unreadable(String.valueOf(e.getMessage()));
            } catch (DocumentMemory.FullException e) {
                throw unreadable("the answer was not read: " + e.getMessage());
            } catch (JacksonException | ClassCastException e) {
                throw unreadable("the answer does not follow the wire " + endpoint.wire().wire());
            }
        }

        private JsonNode document(InputStream body) throws IOException, UnreadableException {
            try {
                return OutsideJson.read(body, headers.get("content-length"));
            } catch (StreamConstraintsException e) {
                throw new UnreadableException(
                        "the answer exceeds a bound: " + Excerpt.firstLine(e.getOriginalMessage()));
            } catch (JacksonException e) {
                throw new UnreadableException("the answer is not valid JSON");
            }
        }

        /** An error's body may be anything; a text is its message. */
        private JsonNode error(byte[] body) {
            try {
                JsonNode read = OutsideJson.readPassing(body);
                JsonNode document = read.isArray() ? read.path(0) : read;
                JsonNode error = document.path("error");
                return error.isObject() ? error
                        : error.isString() ? Json.object().set("message", error) : document;
            } catch (JacksonException | DocumentMemory.FullException e) {
                String text = new String(body, StandardCharsets.UTF_8).strip();
                return Json.object().put("message", text.length() <= EXCERPT ? text : text.substring(0, EXCERPT));
            }
        }

        private JsonNode streamed(InputStream body) throws IOException, UnreadableException, ProviderErrorException {
            SseReader events = new SseReader(body);
            StreamedDocument document = wire.streamed(maxBytes());
            seen = document::document;
            StreamMemory memory = new StreamMemory(document);
            stream = document;
            while (!document.complete()) {
                byte[] data = next(events, document);
                if (data == null && firstText < 0) {
                    throw new UnreadableException("the stream ended without an event");
                }
                if (data == null && document.whole()) {
                    break;
                }
                if (data == null) {
                    throw new IOException("the stream of the answer was cut");
                }
                if (firstText < 0) {
                    firstText = elapsed();
                }
                String text = document.add(Arrays.equals(data, DONE) ? Json.string("[DONE]")
                        : OutsideJson.readPassing(data));
                if (!text.isEmpty()) {
                    listener.text(text);
                }
                memory.add(data.length);
            }
            JsonNode whole = document.document();
            if (whole == null) {
                throw new UnreadableException("the stream has no answer");
            }
            return whole;
        }

        /** The data of the next event; null at the end of the stream, and where it breaks after a whole answer. */
        private static byte @Nullable [] next(SseReader events, StreamedDocument document) throws IOException {
            try {
                return events.next();
            } catch (IOException e) {
                if (document.whole()) {
                    return null;
                }
                throw e;
            }
        }

        private long maxBytes() {
            return MARGIN + (long) MAX_TOKEN_BYTES * request.request().maxOutputTokens();
        }

        private ModelAnswer answer(JsonNode document) throws UnreadableException, ProviderErrorException {
            ReadAnswer read = wire.read(document);
            long total = elapsed();
            String text = read.finish() == Finish.REFUSAL ? Failures.redacted(read.text(), secrets)
                    : AnswerText.withoutReasoning(read.text());
            return request.restored(new ModelAnswer(text, read.calls(), read.finish(),
                    read.usage() == null ? Tokens.NONE : read.usage(), read.modelAnswered(),
                    Failures.requestId(headers), WireJson.raw(endpoint, read.message()),
                    firstText < 0 ? total : firstText, total, read.usage() == null));
        }

        private long elapsed() {
            return Duration.ofNanos(nanos.getAsLong() - sentAt).toMillis();
        }

        /** The tokens reported so far; null if absent. */
        private @Nullable Tokens usage() {
            try {
                JsonNode document = seen.get();
                return document == null ? null : wire.usage(document);
            } catch (UnreadableException e) {
                return null;
            }
        }

        private ModelException unreadable(String message) {
            return amid(new ModelException(Kind.UNREADABLE, Failures.shown(message, secrets), null, usage(),
                    Failures.requestId(headers)));
        }

        /** The provider bills what it writes after the beginning of an answer, whether it arrives or not. */
        private ModelException amid(ModelException e) {
            StreamedDocument begun = stream;
            return begun != null && begun.document() != null && !begun.complete() ? e.amid() : e;
        }

        Throwable failure(Throwable failure, Duration timeout) {
            String id = Failures.requestId(headers);
            return switch (failure) {
                case OutboundRefusedException e when e.code().equals("RESPONSE_TOO_LARGE") -> unreadable(
                        String.valueOf(e.getMessage()));
                case OutboundRefusedException e -> new ModelException(Kind.BAD_REQUEST, String.valueOf(e.getMessage()),
                        null, null, id);
                case ConnectException e -> unconnected(e, id);
                case UnknownHostException e -> unconnected(e, id);
                case SSLHandshakeException e -> unconnected(e, id);
                case InterruptedIOException e -> amid(new ModelException(Kind.TIMED_OUT,
                        "no whole answer within " + timeout.toMillis() + " ms, or none of its bytes for "
                                + IDLE.toSeconds() + " s",
                        null, usage(), id));
                case IOException e -> amid(new ModelException(Kind.INTERRUPTED,
                        Failures.shown("the connection failed: " + e.getMessage(), secrets), null, usage(), id));
                default -> failure;
            };
        }

        private ModelException unconnected(IOException e, @Nullable String id) {
            return new ModelException(Kind.UNAVAILABLE,
                    Failures.shown("the connection failed: " + e.getMessage(), secrets), null, null, id);
        }
    }
}
