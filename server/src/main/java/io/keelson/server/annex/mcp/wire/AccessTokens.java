package io.keelson.server.annex.mcp.wire;

import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRefusedException;
import io.keelson.server.base.outbound.OutboundRequest;
import io.keelson.server.base.outbound.OutboundResponse;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Access tokens for a server behind HTTP, by OAuth client credentials (RFC 6749, section 4.4). A token is kept until shortly before
 * it expires. Thread-safe.
 */
public final class AccessTokens {
    private static final int MAX_BYTES = 65_536;
    private static final int MAX_REMEMBERED = 3;
    private static final Duration MARGIN = Duration.ofSeconds(30);
    private static final Duration LONGEST = Duration.ofDays(30);

    /**
     * The client, opened.
     *
     * @param resource the server that the tokens are for (RFC 8707)
     * @param scope null for the default of the token endpoint
     */
    public record Client(String tokenUrl, String clientId, String clientSecret, String resource,
            @Nullable String scope) {
        @Override
        public String toString() {
            return "Client[" + clientId + "]";
        }
    }

    private final OutboundClient outbound;
    private final Client client;
    private final LongSupplier nanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<String> issued = new ArrayDeque<>();
    private @Nullable String current;
    private long expiresAt;

    /** @param nanos a monotonic clock, in nanoseconds */
    public AccessTokens(OutboundClient outbound, Client client, LongSupplier nanos) {
        this.outbound = outbound;
        this.client = client;
        this.nanos = nanos;
    }

    /** The token to send; waits for a new one where the last has expired. */
    String token(Duration timeout) throws McpException, InterruptedException {
        lock.lockInterruptibly();
        try {
            String known = current;
            if (known != null && nanos.getAsLong() - expiresAt < 0) {
                return known;
            }
            JsonNode answer = fetched(timeout);
            String token = answer.path("access_token").asString("");
            if (token.isEmpty() || !answer.path("token_type").asString("").equalsIgnoreCase("bearer")) {
                throw McpException.forbidden("MCP_AUTH_REFUSED", "the token endpoint answered without a bearer token");
            }
            current = token;
            expiresAt = nanos.getAsLong() + kept(answer.path("expires_in").asLong(LONGEST.toSeconds())).toNanos();
            issued.addFirst(token);
            if (issued.size() > MAX_REMEMBERED) {
                issued.removeLast();
            }
            return token;
        } finally {
            lock.unlock();
        }
    }

    private static Duration kept(long seconds) {
        Duration whole = Duration.ofSeconds(Math.clamp(seconds, 0, LONGEST.toSeconds()));
        return whole.compareTo(MARGIN.multipliedBy(2)) > 0 ? whole.minus(MARGIN) : whole.dividedBy(2);
    }

    /** After the server has refused that token. */
    void refused(String token) {
        lock.lock();
        try {
            if (token.equals(current)) {
                current = null;
            }
        } finally {
            lock.unlock();
        }
    }

    /** The last tokens, to redact them. */
    public List<String> issued() {
        lock.lock();
        try {
            return List.copyOf(issued);
        } finally {
            lock.unlock();
        }
    }

    private JsonNode fetched(Duration timeout) throws McpException, InterruptedException {
        Map<String, String> form = new LinkedHashMap<>(Map.of("grant_type", "client_credentials"));
        form.put("resource", client.resource);
        if (client.scope != null) {
            form.put("scope", client.scope);
        }
        String basic = encoded(client.clientId) + ":" + encoded(client.clientSecret);
        Map<String, String> headers = Map.of("Content-Type", "application/x-www-form-urlencoded", "Accept",
                "application/json", "User-Agent", "keelson", "Authorization",
                "Basic " + Base64.getEncoder().encodeToString(basic.getBytes(StandardCharsets.UTF_8)));
        byte[] body = form.entrySet().stream().map(each -> each.getKey() + "=" + encoded(each.getValue()))
                .collect(Collectors.joining("&")).getBytes(StandardCharsets.UTF_8);
        try {
            return read(outbound.send(new OutboundRequest("POST", client.tokenUrl, headers, body, timeout, MAX_BYTES)));
        } catch (OutboundRefusedException e) {
            throw McpException.forbidden(e.code(), "the token endpoint: " + e.getMessage());
        } catch (IOException e) {
            throw McpException.unreachable("the token endpoint: " + e.getMessage());
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static JsonNode read(OutboundResponse response) throws McpException {
        int status = response.status();
        if (status == 429 || status >= 500) {
            throw McpException.unreachable("the token endpoint answered " + status);
        }
        JsonNode answer;
        try {
            answer = OutsideJson.readPassing(response.body());
        } catch (JacksonException e) {
            answer = Json.object();
        }
        if (status != 200) {
            throw McpException.forbidden("MCP_AUTH_REFUSED", "the token endpoint answered " + status + " "
                    + answer.path("error").asString(""));
        }
        return answer;
    }
}
