package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.json.SseReader;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Passes requests of programs on to providers, and their events back as they come. Each call is one request of HTTP. */
public final class PassingClient {
    /** The most bytes of an answer. */
    public static final int MAX_BYTES = 32 << 20;
    private static final int MAX_ERROR = 65_536;
    private static final int OK = 200;
    private static final int SECRET = 8;
    private static final int MARGIN = 4_096;
    private static final int MAX_TOKEN_BYTES = 128;
    private static final Duration IDLE = Duration.ofMinutes(5);
    private static final byte[] DONE = "[DONE]".getBytes(StandardCharsets.UTF_8);

    private final OutboundClient outbound;
    private final Clock clock;
    private final LongSupplier nanos;

    /** Receives the events of a stream in their order, on one thread. As long as it blocks, the answer is read no further. */
    @FunctionalInterface
    public interface Events {
        /**
         * @param event of chat completions the text {@code [DONE]} at the end
         * @param text the part of the answer's text in it; empty if absent
         */
        void event(byte[] data, JsonNode event, String text);
    }

    /** @param nanos a steady clock, for durations */
    public PassingClient(OutboundClient outbound, Clock clock, LongSupplier nanos) {
        this.outbound = outbound;
        this.clock = clock;
        this.nanos = nanos;
    }

    /**
     * Sends a request, whose body names the provider's model. Cancelling the future closes the connection. The answer is read within the
     * memory of this thread's work.
     *
     * @return fails with {@link PassedRefusalException} or an {@link IOException}, after which the provider may have billed a part
     */
    public CompletableFuture<PassedAnswer> send(ModelEndpoint endpoint, PassedRequest request, Events events) {
        Wire wire = Wire.of(endpoint.wire());
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.put("accept", request.stream() ? "text/event-stream" : "application/json");
        headers.put("content-type", "application/json");
        headers.putAll(wire.headers(endpoint.apiKey()));
        headers.putAll(request.headers());
        headers.putAll(endpoint.headers());
        long sentAt = nanos.getAsLong();
        DocumentMemory.Elsewhere memory = DocumentMemory.elsewhere();
        return outbound.stream(
                new OutboundRequest("POST", endpoint.baseUrl() + request.kind().path(wire), headers, request.body(),
                        request.timeout(), MAX_BYTES),
                request.stream() && IDLE.compareTo(request.timeout()) < 0 ? IDLE : request.timeout(),
                (status, received, body) -> memory
                        .<PassedAnswer, Exception>read(() -> read(endpoint, wire, request, events,
                                new Response(status, received, body, sentAt))));
    }

    /** The time of day. */
    public Instant time() {
        return clock.instant();
    }

    private record Response(int status, Map<String, String> headers, InputStream body, long sentAt) {}

    private PassedAnswer read(ModelEndpoint endpoint, Wire wire, PassedRequest request, Events events,
            Response response) throws IOException, PassedRefusalException {
        if (response.status != OK) {
            List<String> secrets = Stream.concat(Stream.of(endpoint.apiKey()),
                    endpoint.headers().values().stream().filter(value -> value.length() >= SECRET)).toList();
            throw new PassedRefusalException(response.status, Failures.of(response.status, response.headers,
                    error(response.body.readNBytes(MAX_ERROR)), null, secrets, clock));
        }
        boolean streamed = response.headers.getOrDefault("content-type", "").toLowerCase(Locale.ROOT)
                .startsWith("text/event-stream");
        long[] first = {-1};
        try {
            JsonNode document = streamed ? streamed(wire, request, events, response, first)
                    : OutsideJson.read(response.body, response.headers.get("content-length"));
            request.kind().check(wire, document);
            long total = millis(response.sentAt);
            return new PassedAnswer(document, request.kind().reported(wire, document), first[0] < 0 ? total : first[0],
                    total,
                    response.headers);
        } catch (UnreadableException | ProviderErrorException e) {
            throw new IOException("the answer cannot be used: " + e.getMessage(), e);
        } catch (DocumentMemory.FullException e) {
            throw new IOException("the answer was not read: " + e.getMessage(), e);
        } catch (JacksonException | ClassCastException e) {
            throw new IOException("the answer does not follow the wire " + endpoint.wire().wire(), e);
        }
    }

    private JsonNode streamed(Wire wire, PassedRequest request, Events events, Response response, long[] first)
            throws IOException, UnreadableException, ProviderErrorException {
        SseReader reader = new SseReader(response.body);
        StreamedDocument document = wire.streamed(MARGIN + MAX_TOKEN_BYTES * request.maxOutput());
        StreamMemory memory = new StreamMemory(document);
        ObjectNode beginning = Json.object();
        while (!document.complete()) {
            byte[] data = reader.next();
            if (data == null && document.whole()) {
                break;
            }
            if (data == null) {
                throw new IOException("the stream of the answer was cut");
            }
            if (first[0] < 0) {
                first[0] = millis(response.sentAt);
            }
            JsonNode event = Arrays.equals(data, DONE) ? Json.string("[DONE]") : OutsideJson.readPassing(data);
            String text = document.add(event);
            memory.add(data.length);
            if (wire instanceof ChatWire && event.isObject()) {
                event.properties().stream().filter(each -> !beginning.has(each.getKey()))
                        .forEach(each -> beginning.set(each.getKey(), each.getValue()));
            }
            events.event(data, event, text);
        }
        JsonNode whole = document.document();
        if (whole == null) {
            throw new UnreadableException("the stream has no answer");
        }
        return wire instanceof ChatWire ? completion(beginning, (ObjectNode) whole) : whole;
    }

    /** The completion that would have come without a stream. */
    private static ObjectNode completion(ObjectNode beginning, ObjectNode whole) {
        ObjectNode completion = beginning.deepCopy();
        completion.remove(List.of("choices", "usage"));
        completion.put("object", "chat.completion");
        completion.setAll(whole);
        if (completion.path("choices").path(0) instanceof ObjectNode choice) {
            choice.put("index", 0);
            if (choice.path("message") instanceof ObjectNode message && !message.has("content")) {
                message.putNull("content");
            }
        }
        return completion;
    }

    private long millis(long since) {
        return Duration.ofNanos(nanos.getAsLong() - since).toMillis();
    }

    /** The tokens that a document of the endpoint's wire reports; null if absent. */
    public static @Nullable Tokens reported(ModelEndpoint endpoint, JsonNode document) {
        return Wire.of(endpoint.wire()).reported(document);
    }

    private static JsonNode error(byte[] body) {
        try {
            JsonNode read = OutsideJson.readPassing(body);
            JsonNode error = read.path("error");
            return error.isObject() ? error : error.isString() ? Json.object().set("message", error) : read;
        } catch (JacksonException | DocumentMemory.FullException e) {
            return Json.object().put("message", new String(body, StandardCharsets.UTF_8).strip());
        }
    }
}
