package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /events}: receives an event of a program with an API key, for all triggers of the workspace that name it. The event is a
 * document with name, id and data, or a CloudEvent 1.0, structured or binary.
 */
final class EventActions {

    private static final String CLOUD_EVENT = "application/cloudevents+json";
    private static final String JSON = "application/json";
    private static final Set<String> ATTRIBUTES = Set.of("id", "source", "type", "subject", "time", "dataschema");
    private static final int ACCEPTED = 202;

    private final Hooks hooks;
    private final EventExpressions expressions;
    private final EventIntake intake;

    EventActions(Hooks hooks, EventExpressions expressions, EventIntake intake) {
        this.hooks = hooks;
        this.expressions = expressions;
        this.intake = intake;
    }

    void addTo(Route.Table table) {
        table.postRaw(Scope.RUNS_WRITE, "/events", this::receive);
    }

    /**
     * An event by its name.
     *
     * @param id identity of the event: its source or name, which contains no space, and its id
     */
    private record Named(String name, String id, ObjectNode headers, JsonNode body) {}

    private ApiResponse receive(ApiRequest request) throws IOException {
        request.body().requireType(JSON, CLOUD_EVENT);
        JsonNode document = SafeText.clean(request.body().document(HookMount.MAX_BYTES));
        if (JsonSize.isTooDeep(document)) {
            throw ApiProblem.of(ErrorCode.INVALID_BODY,
                    "the body has more than " + JsonSize.MAX_DEPTH + " nested objects and arrays");
        }
        Named event = request.body().type().equals(CLOUD_EVENT) ? structured(document)
                : request.header("ce-specversion") == null ? plain(document) : binary(request, document);
        UUID workspace = request.workspace();
        // All keys before the first delivery: a request that is refused stores nothing.
        Map<UUID, Boolean> grouped = new HashMap<>();
        List<EventIntake.Incoming> incoming = new ArrayList<>();
        Event texts = Event.of(event.id(), event.headers(), event.body());
        for (Hooks.Receiver each : hooks.ofEvents(workspace)) {
            TriggerRow trigger = each.trigger();
            Trigger.Definition definition = each.definition();
            if (takes(definition.source(), event.name())) {
                grouped.put(trigger.id(), FlowGate.groups(definition));
                incoming.add(new EventIntake.Incoming(trigger.id(),
                        texts.withKey(key(trigger, definition, event))));
            }
        }
        List<JsonNode> receipts = new ArrayList<>();
        if (!incoming.isEmpty()) {
            intake.accept(workspace, incoming).forEach(each -> receipts.add(Json.document(
                    each.receipt(grouped.getOrDefault(each.delivery().triggerId(), false)))));
        }
        return ApiResponse.json(ACCEPTED, Lists.page(receipts, null));
    }

    private static boolean takes(Trigger.NewSource source, String name) {
        String wanted = source.event();
        return wanted != null && (wanted.endsWith("*") ? name.startsWith(wanted.substring(0, wanted.length() - 1))
                : name.equals(wanted));
    }

    private String key(TriggerRow trigger, Trigger.Definition definition, Named event) {
        String expression = definition.key();
        try {
            return expression == null ? event.id()
                    : expressions.key(trigger.workspaceId(), expression, Event.scope(event.headers(), event.body()));
        } catch (ExpressionException e) {
            throw ApiProblem.of(ErrorCode.DELIVERY_KEY_INVALID,
                    "the key of the event for trigger '" + trigger.name() + "': " + e.getMessage());
        }
    }

    private static Named plain(JsonNode document) {
        List<PlanProblem> problems = new ArrayList<>();
        String name = text(document, "name", problems);
        String id = text(document, "id", problems);
        document.propertyStream().map(each -> each.getKey())
                .filter(each -> !Set.of("name", "id", "data").contains(each)).forEach(each -> problems
                        .add(new PlanProblem("UNKNOWN_KEY", "/" + each, "an event has name, id and data")));
        refuseSpaces(name, "/name", problems);
        refuse(problems);
        return event(name, name + " " + id, Json.object().put("ce-type", name).put("ce-id", id), document.path("data"));
    }

    private static Named structured(JsonNode document) {
        List<PlanProblem> problems = new ArrayList<>();
        if (!document.path("specversion").asString("").equals("1.0")) {
            problems.add(new PlanProblem("INVALID_VALUE", "/specversion", "must be 1.0"));
        }
        String name = text(document, "type", problems);
        String source = text(document, "source", problems);
        String id = text(document, "id", problems);
        refuseSpaces(source, "/source", problems);
        refuse(problems);
        ObjectNode headers = Json.object();
        document.propertyStream().filter(each -> !each.getKey().startsWith("data") && each.getValue().isValueNode())
                .forEach(each -> headers.put("ce-" + each.getKey(), each.getValue().asString()));
        return event(name, source + " " + id, headers,
                document.has("data") ? document.get("data") : document.path("data_base64"));
    }

    private static Named binary(ApiRequest request, JsonNode document) {
        ObjectNode headers = Json.object();
        ATTRIBUTES.forEach(each -> {
            String value = request.header("ce-" + each);
            if (value != null) {
                headers.put("ce-" + each, SafeText.clean(value));
            }
        });
        for (String each : List.of("ce-type", "ce-source", "ce-id")) {
            if (headers.path(each).asString("").isBlank()) {
                throw ApiProblem.of(ErrorCode.INVALID_PARAMETER, "a CloudEvent requires the header " + each)
                        .with("parameter", each);
            }
        }
        if (headers.get("ce-source").stringValue().contains(" ")) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER, "the source of a CloudEvent has no spaces")
                    .with("parameter", "ce-source");
        }
        return event(headers.get("ce-type").stringValue(),
                headers.get("ce-source").stringValue() + " " + headers.get("ce-id").stringValue(), headers, document);
    }

    private static Named event(String name, String id, ObjectNode headers, JsonNode data) {
        if (id.length() > Event.MAX_KEY) {
            throw ApiProblem.of(ErrorCode.DELIVERY_KEY_INVALID,
                    "the identity of an event has at most " + Event.MAX_KEY + " characters");
        }
        return new Named(name, id, headers, data.isMissingNode() ? Json.object() : data);
    }

    private static String text(JsonNode document, String member, List<PlanProblem> problems) {
        JsonNode value = document.path(member);
        String text = value.isString() ? value.stringValue() : "";
        if (text.isBlank() || text.length() > Event.MAX_KEY) {
            problems.add(new PlanProblem(value.isMissingNode() ? "REQUIRED" : "INVALID_VALUE", "/" + member,
                    "a text of 1 to " + Event.MAX_KEY + " characters is required"));
        }
        return text;
    }

    /** A space ends the first part of the identity. */
    private static void refuseSpaces(String text, String pointer, List<PlanProblem> problems) {
        if (text.contains(" ")) {
            problems.add(new PlanProblem("INVALID_VALUE", pointer, "may not contain spaces"));
        }
    }

    private static void refuse(List<PlanProblem> problems) {
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
    }
}
