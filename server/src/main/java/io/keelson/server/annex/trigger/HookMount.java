package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Body;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import io.keelson.server.base.json.SafeText;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /hooks/{id}}: receives an event of a trigger, and answers 202 once it is stored. Senders have a
 * secret of the trigger, and no API key.
 */
final class HookMount implements Mount {

    /** Maximum bytes of a body. */
    static final int MAX_BYTES = 1 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(HookMount.class);
    private static final int ACCEPTED = 202;
    private static final String FORM = "application/x-www-form-urlencoded";
    /** Credentials, which are not stored. */
    private static final Set<String> CREDENTIALS = Set.of("authorization", "proxy-authorization", "cookie");

    private final Hooks hooks;
    private final EventExpressions expressions;
    private final EventIntake intake;
    private final Clock clock;

    HookMount(Hooks hooks, EventExpressions expressions, EventIntake intake, Clock clock) {
        this.hooks = hooks;
        this.expressions = expressions;
        this.intake = intake;
        this.clock = clock;
    }

    @Override
    public String path() {
        return "/hooks";
    }

    @Override
    public ApiResponse refusal(MountedRequest request, ApiProblem problem) {
        return problem.answer();
    }

    @Override
    public ApiResponse answer(MountedRequest request) throws IOException {
        UUID id = request.path().isEmpty() ? null : IdKind.TRIGGER.parse(request.path().substring(1));
        if (id == null) {
            throw ApiProblem.of(ErrorCode.ROUTE_NOT_FOUND, "a trigger receives events at /hooks/ and its id");
        }
        if (!request.method().equals("POST")) {
            throw ApiProblem.of(ErrorCode.METHOD_NOT_ALLOWED, "a trigger receives events by POST").header("Allow",
                    "POST");
        }
        Hooks.Hook hook = hooks.find(id).orElseThrow(() -> unknown(id));
        return Tenancy.<ApiResponse, IOException>within(hook.trigger().workspaceId(), () -> receive(hook, request));
    }

    private ApiResponse receive(Hooks.Hook hook, MountedRequest request) throws IOException {
        TriggerRow trigger = hook.trigger();
        Trigger.Definition definition = hook.definition();
        // Requests without a proof take memory from their workspace, and not from the paths of others.
        request.body().assign(trigger.workspaceId());
        byte[] bytes = request.body().bytes(MAX_BYTES);
        if (!Signatures.verify(definition.source(), secretsOf(hook),
                new Signatures.Request(request::header, bytes), clock.instant())) {
            intake.unverified();
            throw ApiProblem.of(ErrorCode.SIGNATURE_INVALID, "the request has no valid proof of the kind '"
                    + definition.source().kind() + "', or its time is too far from the server's");
        }
        request.admit();
        JsonNode body = SafeText.clean(body(request.body()));
        ObjectNode headers = headers(request, definition.source());
        String challenge = challenge(definition.source(), body);
        if (challenge != null) {
            return ApiResponse.ok(Json.object().put("challenge", challenge));
        }
        Event event = Event.of(key(trigger, definition, request, headers, body), headers, body);
        return intake.accept(trigger.workspaceId(), List.of(new EventIntake.Incoming(trigger.id(), event))).stream()
                .findFirst()
                .map(each -> ApiResponse.json(ACCEPTED, Json.document(each.receipt(FlowGate.groups(definition)))))
                .orElseThrow(() -> unknown(trigger.id()));
    }

    /** The values that exist. An old secret that is removed leaves the new one. */
    private static List<String> secretsOf(Hooks.Hook hook) {
        if (hook.secrets().isEmpty()) {
            LOG.warn("trigger {} of workspace {} has none of its secrets: {}", hook.trigger().id(),
                    hook.trigger().workspaceId(), hook.definition().source().secrets());
            throw ApiProblem.of(ErrorCode.TRIGGER_SECRET_MISSING, "the trigger has no secret; nothing was changed")
                    .header("Retry-After", "60");
        }
        return hook.secrets();
    }

    private static JsonNode body(Body body) throws IOException {
        JsonNode read = body.type().equals(FORM) ? form(new String(body.bytes(MAX_BYTES), StandardCharsets.UTF_8))
                : body.document(MAX_BYTES);
        if (JsonSize.isTooDeep(read)) {
            throw ApiProblem.of(ErrorCode.INVALID_BODY,
                    "the body has more than " + JsonSize.MAX_DEPTH + " nested objects and arrays");
        }
        return read;
    }

    private static ObjectNode form(String text) {
        ObjectNode fields = Json.object();
        for (String each : text.split("&")) {
            String[] pair = each.split("=", 2);
            try {
                if (!pair[0].isEmpty()) {
                    fields.put(URLDecoder.decode(pair[0], StandardCharsets.UTF_8),
                            pair.length == 1 ? "" : URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
                }
            } catch (IllegalArgumentException e) {
                throw ApiProblem.of(ErrorCode.MALFORMED_REQUEST, "the body is not a form");
            }
        }
        return fields;
    }

    private static ObjectNode headers(MountedRequest request, Trigger.NewSource source) {
        String secret = source.header() == null ? Signatures.DEFAULT_HEADER : source.header();
        ObjectNode kept = Json.object();
        request.headers().forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (!CREDENTIALS.contains(lower) && !lower.equalsIgnoreCase(secret)) {
                kept.put(lower, SafeText.clean(value));
            }
        });
        return kept;
    }

    /** The value with which Slack checks an address; null for another request. */
    private static @Nullable String challenge(Trigger.NewSource source, JsonNode body) {
        return source.kind().equals("slack") && body.path("type").asString("").equals("url_verification")
                ? body.path("challenge").asString("")
                : null;
    }

    private String key(TriggerRow trigger, Trigger.Definition definition, MountedRequest request, ObjectNode headers,
            JsonNode body) {
        String expression = definition.key();
        try {
            if (expression != null) {
                return expressions.key(trigger.workspaceId(), expression, Event.scope(headers, body));
            }
        } catch (ExpressionException e) {
            throw ApiProblem.of(ErrorCode.DELIVERY_KEY_INVALID, "the key of the event: " + e.getMessage());
        }
        String given = switch (definition.source().kind()) {
            case "standard" -> request.header("webhook-id");
            case "github" -> request.header("X-GitHub-Delivery");
            case "stripe" -> body.path("id").asString("");
            case "slack" -> body.path("event_id").asString(body.path("trigger_id").asString(""));
            default -> null;
        };
        if (given == null || given.isBlank() || given.length() > Event.MAX_KEY) {
            throw ApiProblem.of(ErrorCode.DELIVERY_KEY_INVALID, "the event has no id of its sender of 1 to "
                    + Event.MAX_KEY + " characters; the trigger can name one by `key`");
        }
        return SafeText.clean(given);
    }

    private static ApiProblem unknown(UUID id) {
        return ApiProblem.of(ErrorCode.TRIGGER_NOT_FOUND, "no trigger " + id + " receives events");
    }
}
