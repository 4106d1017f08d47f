package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRefusedException;
import io.keelson.server.base.outbound.OutboundRequest;
import io.keelson.server.base.outbound.OutboundResponse;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code http.request}: one request to the public Internet, redirects only as many as asked for. */
final class HttpRequest implements Tool {

    private static final ToolSpec SPEC = Specs.spec("http.request", Effects.DESTRUCTIVE,
            "Sends an HTTP request. Requests that can change something carry the step's effect key as Idempotency-Key.",
            Duration.ofSeconds(30), """
            {"type": "object", "additionalProperties": false, "required": ["url"],
             "not": {"required": ["body", "json"]},
             "dependentSchemas": {
               "body": {"required": ["method"], "properties": {"method": {"enum": ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]}}},
               "json": {"required": ["method"], "properties": {"method": {"enum": ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]}}}},
             "properties": {
              "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "default": "GET"},
              "url": {"type": "string", "minLength": 1, "maxLength": 8192},
              "headers": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 100},
              "body": {"type": "string", "description": "not with GET and HEAD"},
              "json": {"description": "any value, sent as application/json; not with GET and HEAD"},
              "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 3600, "default": 30},
              "max_bytes": {"type": "integer", "minimum": 0, "maximum": 700000, "default": 262144},
              "max_redirects": {"type": "integer", "minimum": 0, "maximum": 10, "default": 0},
              "allow_status": {"type": "array", "items": {"type": "integer", "minimum": 100, "maximum": 599},
                               "description": "statuses besides 2xx that count as success"}}}""", """
            {"type": "object", "required": ["status", "url", "headers"], "properties": {
              "status": {"type": "integer"}, "url": {"type": "string"},
              "headers": {"type": "object", "additionalProperties": {"type": "string"}, "properties": {
                "set-cookie": {"type": "array", "items": {"type": "string"}, "description": "one text for each cookie"}}},
              "json": {"description": "the body of a JSON answer"}, "body": {"type": "string"},
              "body_base64": {"type": "string", "description": "the body of an answer that is no text"}}}""").waiting()
            .reachingOut();

    private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS");
    private static final Set<Integer> RETRYABLE = Set.of(408, 425, 429);
    /** Statuses of a system that takes no calls. 500 is not one of them: it may be the answer to this call alone. */
    private static final Set<Integer> OUT_OF_ORDER = Set.of(429, 502, 503, 504);

    private final OutboundClient client;
    private final Clock clock;

    HttpRequest(OutboundClient client, Clock clock) {
        this.client = client;
        this.clock = clock;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        OutboundRequest request = request(call);
        try {
            OutboundResponse response = send(call, request);
            for (int left = call.input().path("max_redirects").asInt(0); left > 0
                    && Redirects.isRedirect(response); left--) {
                request = Redirects.next(request, response);
                response = send(call, request);
            }
            check(call.input(), request, response);
            return ToolResult.of(HttpAnswer.toJson(request.url(), response));
        } catch (OutboundRefusedException e) {
            throw ToolFailure.permanent(e.code(), String.valueOf(e.getMessage()));
        } catch (IOException e) {
            String code = code(e);
            ToolFailure failure = ToolFailure.infrastructure(code,
                    request.method() + " " + withoutQuery(request.url()) + ": " + reason(code, e));
            boolean outage = code.equals("HTTP_CONNECT_FAILED")
                    || code.equals("HTTP_BROKEN_OFF") && !(e instanceof ProtocolException);
            throw outage ? failure.outOfOrder(system(request)) : failure;
        }
    }

    private OutboundResponse send(ToolCall call, OutboundRequest request) throws IOException, InterruptedException {
        call.execution().waitBegins();
        OutboundResponse response = client.send(request, call.execution()::waitEnds);
        call.log().line(request.method() + " " + withoutQuery(request.url()) + " " + response.status());
        return response;
    }

    private OutboundRequest request(ToolCall call) {
        JsonNode input = call.input();
        String method = input.path("method").asString("GET");
        Map<String, String> headers = new LinkedHashMap<>();
        input.path("headers").properties().forEach(each -> headers.put(each.getKey(), each.getValue().stringValue()));
        Set<String> given = new HashSet<>();
        headers.keySet().forEach(name -> given.add(name.toLowerCase(Locale.ROOT)));
        if (input.has("json") && !given.contains("content-type")) {
            headers.put("Content-Type", "application/json");
        }
        if (!SAFE.contains(method) && !given.contains("idempotency-key")) {
            headers.put("Idempotency-Key", call.effectKey());
        }
        if (call.traceparent() != null && !given.contains("traceparent")) {
            headers.put("traceparent", call.traceparent());
        }
        if (!given.contains("user-agent")) {
            headers.put("User-Agent", "keelson");
        }
        return new OutboundRequest(method, input.get("url").stringValue(), headers, body(input), timeout(call),
                input.path("max_bytes").asInt(262_144));
    }

    private static byte @Nullable [] body(JsonNode input) {
        String text = input.has("json") ? input.get("json").toString()
                : input.has("body") ? input.get("body").stringValue() : null;
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private Duration timeout(ToolCall call) {
        Duration own = Duration.ofMillis((long) (call.input().path("timeout_seconds").asDouble(30) * 1000));
        Duration left = call.deadline().remaining();
        return own.compareTo(left) < 0 ? own : left;
    }

    /** The server that answers, for all calls to it. */
    private static String system(OutboundRequest request) {
        return "http:" + URI.create(request.url()).getAuthority();
    }

    private void check(JsonNode input, OutboundRequest request, OutboundResponse response) throws ToolFailure {
        int status = response.status();
        boolean allowed = status / 100 == 2
                || input.path("allow_status").valueStream().anyMatch(each -> each.intValue() == status);
        if (allowed) {
            return;
        }
        boolean retryable = RETRYABLE.contains(status) || status >= 500;
        String location = response.header("location");
        ToolFailure failure =
                new ToolFailure("HTTP_STATUS_" + status, retryable ? ErrorClass.INFRASTRUCTURE : ErrorClass.PERMANENT,
                        "the server answered " + status + (location == null ? "" : " to " + location),
                        retryable ? RetryAfter.parse(response.header("retry-after"), clock.instant()) : null);
        throw OUT_OF_ORDER.contains(status) ? failure.outOfOrder(system(request)) : failure;
    }

    private static String code(IOException e) {
        return switch (e) {
            case UnknownHostException ignored -> "HTTP_UNKNOWN_HOST";
            case ConnectException ignored -> "HTTP_CONNECT_FAILED";
            case NoRouteToHostException ignored -> "HTTP_CONNECT_FAILED";
            case InterruptedIOException ignored -> "HTTP_TIMEOUT";
            case SSLException ignored -> "HTTP_TLS_FAILED";
            default -> "HTTP_BROKEN_OFF";
        };
    }

    /** The meaning for the author of the plan, before the message of the JDK. */
    private static String reason(String code, IOException e) {
        String words = switch (code) {
            case "HTTP_UNKNOWN_HOST" -> "unknown host";
            case "HTTP_CONNECT_FAILED" -> "connection refused";
            case "HTTP_TIMEOUT" -> "no response in time";
            case "HTTP_TLS_FAILED" -> "TLS handshake failed";
            default -> "the connection was closed before the response was complete";
        };
        return e.getMessage() == null ? words : words + " (" + e.getMessage() + ")";
    }

    /** Queries carry secrets too often to be logged. */
    private static String withoutQuery(String url) {
        return url.replaceAll("[?#].*", "");
    }

    /** The {@code Retry-After} header: seconds or an HTTP date. */
    static final class RetryAfter {

        private static final Duration MAX = Duration.ofDays(1);

        private RetryAfter() {}

        /** From now on, at most a day; null when the header is absent or makes no sense. */
        static @Nullable Duration parse(@Nullable String header, Instant now) {
            if (header == null) {
                return null;
            }
            try {
                Duration wait = header.strip().matches("[0-9]{1,9}")
                        ? Duration.ofSeconds(Long.parseLong(header.strip()))
                        : Duration.between(now,
                                ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
                return wait.isNegative() ? Duration.ZERO : wait.compareTo(MAX) > 0 ? MAX : wait;
            } catch (DateTimeException e) {
                return null;
            }
        }
    }
}
