package io.keelson.server.annex.mcp.wire;

import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.json.SseReader;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRefusedException;
import io.keelson.server.base.outbound.OutboundRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A server behind HTTP: each message is a POST, answered by a JSON document or a stream of events. Follows no redirect. Keeps
 * the session of a server of the era with sessions.
 */
final class HttpTransport implements Transport {
    private static final int NOT_FOUND = 404;
    private static final int MAX_ERROR_BODY = 65_536;
    /** Requests of the server that are answered while it answers one. */
    private static final int MAX_ASKED = 100;
    private static final Duration BESIDES = Duration.ofSeconds(10);

    private final OutboundClient outbound;
    private final String url;
    private final Map<String, String> headers;
    private final @Nullable AccessTokens tokens;
    private final AtomicLong ids = new AtomicLong();
    private final AtomicBoolean changed = new AtomicBoolean();
    private volatile @Nullable String session;
    private volatile boolean closed;

    /**
     * @param headers sent with each request
     * @param tokens of which each request has one; null if absent
     */
    HttpTransport(OutboundClient outbound, String url, Map<String, String> headers, @Nullable AccessTokens tokens) {
        this.tokens = tokens;
        this.outbound = outbound;
        this.url = url;
        this.headers = Map.copyOf(headers);
    }

    @Override
    public JsonNode request(String method, ObjectNode params, Map<String, String> more, Duration timeout)
            throws McpException, InterruptedException {
        long id = ids.incrementAndGet();
        return exchange(JsonRpc.request(id, method, params), id, more, timeout);
    }

    @Override
    public void notify(String method, ObjectNode params, Map<String, String> more, Duration timeout)
            throws McpException, InterruptedException {
        exchange(JsonRpc.notification(method, params), -1, more, timeout);
    }

    private JsonNode exchange(ObjectNode message, long id, Map<String, String> more, Duration timeout)
            throws McpException, InterruptedException {
        byte[] body = Json.write(message);
        if (body.length > MAX_MESSAGE) {
            throw McpException.forbidden("MCP_MESSAGE_TOO_LARGE",
                    "the request has more than " + MAX_MESSAGE + " bytes");
        }
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.put("Content-Type", "application/json");
        all.put("Accept", "application/json, text/event-stream");
        all.put("User-Agent", "keelson");
        all.putAll(more);
        String known = session;
        if (known != null) {
            all.put(Mcp.SESSION_HEADER, known);
        }
        String version = more.get(Mcp.VERSION_HEADER);
        AccessTokens issuer = tokens;
        if (issuer == null) {
            return exchange(body, id, all, version, timeout);
        }
        String token = issuer.token(timeout);
        all.put("Authorization", "Bearer " + token);
        try {
            return exchange(body, id, all, version, timeout);
        } catch (McpException e) {
            if (!e.unauthorized()) {
                throw e;
            }
            issuer.refused(token);
            all.put("Authorization", "Bearer " + issuer.token(timeout));
            return exchange(body, id, all, version, timeout);
        }
    }

    private JsonNode exchange(byte[] body, long id, Map<String, String> all, @Nullable String version,
            Duration timeout) throws McpException, InterruptedException {
        DocumentMemory.Elsewhere memory = DocumentMemory.elsewhere();
        CompletableFuture<JsonNode> answer = outbound.stream(
                new OutboundRequest("POST", url, all, body, timeout, MAX_MESSAGE), timeout,
                (status, answered, in) -> memory
                        .<JsonNode, Exception>read(() -> read(id, status, answered, in, version)));
        try {
            return answer.get(Math.max(1, timeout.toMillis()), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            answer.cancel(true);
            throw e;
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw McpException.late("no answer within " + timeout.toMillis() + " ms");
        } catch (ExecutionException e) {
            throw failure(e.getCause() == null ? e : e.getCause());
        }
    }

    /** The failure; one that may come after the arrival of the request is lost. */
    static McpException failure(Throwable cause) {
        return switch (cause) {
            case McpException known -> known;
            case OutboundRefusedException refused -> refused.code().equals("RESPONSE_TOO_LARGE")
                    ? McpException.unreadable(String.valueOf(refused.getMessage()))
                    : McpException.forbidden(refused.code(), String.valueOf(refused.getMessage()));
            case UnknownHostException e -> McpException.unreachable("unknown host: " + e.getMessage());
            case ConnectException e -> McpException.unconnected("no connection: " + e.getMessage());
            case NoRouteToHostException e -> McpException.unconnected("no connection: " + e.getMessage());
            case SSLHandshakeException e -> McpException.unreachable("TLS handshake failed: " + e.getMessage());
            case StreamConstraintsException e -> McpException.outOfBounds(e);
            case DocumentMemory.FullException full -> throw full;
            case IOException e -> McpException.lost("the connection broke off: " + e.getMessage());
            default -> McpException.unreadable(String.valueOf(cause.getMessage()));
        };
    }

    private JsonNode read(long id, int status, Map<String, String> answered, InputStream in,
            @Nullable String version) throws Exception {
        if (status / 100 != 2) {
            throw refusal(status, answered, in);
        }
        String given = answered.get("mcp-session-id");
        if (given != null) {
            session = given;
        }
        if (id < 0) {
            return Json.object();
        }
        String type = answered.getOrDefault("content-type", "").toLowerCase(Locale.ROOT);
        if (type.startsWith("text/event-stream")) {
            return stream(id, in, version);
        }
        if (!type.startsWith("application/json")) {
            throw McpException.unreadable("the answer is neither JSON nor a stream of events");
        }
        try {
            JsonNode message = OutsideJson.read(in, answered.get("content-length"));
            if (!Answers.isMessage(message) || message.has("method")) {
                throw McpException.unreadable("the answer is no response of JSON-RPC 2.0");
            }
            if (Answers.answered(message) != id && (message.has("result") || !message.path("id").isNull())) {
                throw McpException.unreadable("the answer has the id of another request");
            }
            return Answers.result(message);
        } catch (StreamConstraintsException e) {
            throw McpException.outOfBounds(e);
        } catch (JacksonException e) {
            throw McpException.unreadable("the answer is not JSON");
        }
    }

    /** The meaning of a status. An unknown session ends this transport: the request was not executed. */
    private McpException refusal(int status, Map<String, String> answered, InputStream in) throws IOException {
        JsonNode error = Json.object();
        try {
            error = OutsideJson.readPassing(in.readNBytes(MAX_ERROR_BODY)).path("error");
        } catch (JacksonException | DocumentMemory.FullException e) {
            // no error of the protocol
        }
        if (status == NOT_FOUND && session != null) {
            closed = true;
            return McpException.unreachable("the server has ended the session");
        }
        if (status == 401) {
            return McpException.unauthorized(
                    "the server answered 401: it does not accept these credentials");
        }
        if (error.path("code").isInt()) {
            return Answers.refused(error);
        }
        return switch (status) {
            case 403 -> McpException.forbidden("MCP_AUTH_REFUSED",
                    "the server answered 403: these credentials do not allow it");
            case 429, 503 -> McpException.busy(seconds(answered.get("retry-after")), "the server answered " + status);
            default -> status >= 500 ? McpException.lost("the server answered " + status)
                    : McpException.refused(0, "the server answered " + status);
        };
    }

    private static @Nullable Duration seconds(@Nullable String text) {
        return text != null && text.matches("\\d{1,6}") ? Duration.ofSeconds(Long.parseLong(text)) : null;
    }

    private JsonNode stream(long id, InputStream in, @Nullable String version) throws IOException, McpException {
        SseReader events = new SseReader(in);
        int asked = 0;
        for (byte[] data = events.next(); data != null; data = events.next()) {
            JsonNode message = message(data);
            if (!Answers.isMessage(message)) {
                continue;
            }
            if (message.has("method")) {
                asked += message.has("id") ? 1 : 0;
                if (asked > MAX_ASKED) {
                    throw McpException
                            .unreadable("the server asks more than " + MAX_ASKED + " times in one answer");
                }
                asked(message, version);
            } else if (Answers.answered(message) == id) {
                OutsideJson.reserveGrown(message, 0);
                return Answers.result(message);
            }
        }
        throw McpException.lost("the stream of events ended before the answer");
    }

    private static JsonNode message(byte[] data) throws McpException {
        try {
            return OutsideJson.readPassing(data);
        } catch (StreamConstraintsException e) {
            throw McpException.outOfBounds(e);
        } catch (JacksonException e) {
            throw McpException.unreadable("an event of the answer is not JSON");
        }
    }

    /** A server of the era with handshakes may ask over the stream, and waits for the answer. */
    private void asked(JsonNode message, @Nullable String version) {
        if (message.path("method").asString("").equals("notifications/tools/list_changed")) {
            changed.set(true);
        }
        if (message.has("id") && !Mcp.MODERN.equals(version)) {
            besides("POST", version, Json.write(Answers.toServer(message)));
        }
    }

    /** Sends something whose outcome does not matter. */
    private void besides(String method, @Nullable String version, byte @Nullable [] body) {
        Map<String, String> all = new LinkedHashMap<>(headers);
        if (tokens != null) {
            tokens.issued().stream().findFirst().ifPresent(token -> all.put("Authorization", "Bearer " + token));
        }
        all.put("Content-Type", "application/json");
        all.put("Accept", "application/json, text/event-stream");
        all.put("User-Agent", "keelson");
        all.put(Mcp.VERSION_HEADER, version == null ? Mcp.LEGACY : version);
        String known = session;
        if (known != null) {
            all.put(Mcp.SESSION_HEADER, known);
        }
        var _ = outbound.stream(new OutboundRequest(method, url, all, body, BESIDES, MAX_ERROR_BODY), BESIDES,
                (status, answered, in) -> status);
    }

    @Override
    public boolean usable() {
        return !closed;
    }

    @Override
    public boolean toolsChanged() {
        return changed.getAndSet(false);
    }

    /** Ends the session at the server, where there is one. */
    @Override
    public void close() {
        boolean open = !closed;
        closed = true;
        if (open && session != null) {
            besides("DELETE", null, null);
        }
    }
}
