package io.keelson.server.annex.trigger;

import io.keelson.api.tenant.Secret;
import io.keelson.api.trigger.Trigger;
import io.keelson.api.trigger.Trigger.NewSource;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.submission.PreparedMission;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.tenant.secret.SecretStore;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Checks definitions of triggers: their members, and their expressions by the example. */
final class TriggerCheck {

    /** Kinds whose senders give no id of an event. */
    private static final Set<String> WITHOUT_ID = Set.of("secret", "basic");

    private static final String EVENT = "event";
    private static final String EXAMPLE_REJECTED = "EXAMPLE_REJECTED";

    private final EventExpressions expressions;
    private final RecipeMissions missions;
    private final SecretStore secrets;

    TriggerCheck(EventExpressions expressions, RecipeMissions missions, SecretStore secrets) {
        this.expressions = expressions;
        this.missions = missions;
        this.secrets = secrets;
    }

    /**
     * The recipe of a definition; null if it has a mission.
     *
     * @throws ApiProblem that lists the problems
     */
    @Nullable UUID recipe(UUID workspace, Trigger.Definition given) {
        if (IdKind.TRIGGER.parse(given.name()) != null) {
            throw ApiProblem.of("INVALID_VALUE", "/name", "a name may not look like an id");
        }
        List<String> targets = targets(given);
        if (targets.size() != 1) {
            throw ApiProblem.of("REQUIRED", "/recipe", "exactly one of recipe, mission and signal is required; "
                    + (targets.isEmpty() ? "none is given" : "given: " + String.join(", ", targets)));
        }
        refuse(members(workspace, given));
        if (given.signal() != null) {
            if (given.example() != null) {
                var _ = evaluated(workspace, given, given.example());
            }
            return null;
        }
        String named = given.recipe();
        UUID recipe = named == null ? null
                : missions.find(workspace, named).map(RecipeRow::id)
                        .orElseThrow(() -> ApiProblem.of(List.of(RecipeMissions.unknownRecipe(named))));
        Evaluation found = given.example() == null ? new Evaluation(given.inputs(), null)
                : evaluated(workspace, given, given.example());
        var _ = SubmissionMapping.value(missions.ofSchedule(workspace, recipe, found.inputs(), given.mission(),
                "webhook", found.priority()));
        return recipe;
    }

    private static List<String> targets(Trigger.Definition given) {
        List<String> targets = new ArrayList<>();
        if (given.recipe() != null) {
            targets.add("recipe");
        }
        if (given.mission() != null) {
            targets.add("mission");
        }
        if (given.signal() != null) {
            targets.add("signal");
        }
        return targets;
    }

    private static void refuse(List<PlanProblem> problems) {
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
    }

    private List<PlanProblem> members(UUID workspace, Trigger.Definition given) {
        List<PlanProblem> problems = new ArrayList<>(source(workspace, given.source()));
        if (given.key() == null && WITHOUT_ID.contains(given.source().kind())) {
            problems.add(new PlanProblem("REQUIRED", "/key",
                    "a sender of the kind '" + given.source().kind() + "' gives no id: name one by an expression"));
        }
        problems.addAll(single(given.key(), "/key"));
        problems.addAll(single(given.filter(), "/filter"));
        problems.addAll(expressions.problems(given.inputs(), "/inputs"));
        problems.addAll(single(given.priority(), "/priority"));
        if (TriggerRow.ofRuns(given) && given.key() != null) {
            problems.add(new PlanProblem("INVALID_VALUE", "/key",
                    "the kind 'run' has no key: the ends of runs have an identity of their own"));
        }
        Trigger.Signal signal = given.signal();
        if (signal != null) {
            problems.addAll(signal(given, signal));
        }
        boolean any = given.key() != null || given.filter() != null || given.priority() != null
                || expressions.hasAny(given.inputs()) || signal != null && expressions.hasAny(Json.document(signal));
        if (given.flow() != null) {
            problems.addAll(flow(given.flow()));
            any |= keys(given.flow()).values().stream().anyMatch(Objects::nonNull);
        }
        if (any && given.example() == null) {
            problems.add(new PlanProblem("REQUIRED", "/example",
                    "an example is required, with which the expressions are checked"));
        }
        return problems;
    }

    private List<PlanProblem> signal(Trigger.Definition given, Trigger.Signal signal) {
        List<PlanProblem> problems = new ArrayList<>();
        if ((signal.externalId() == null) == (signal.tag() == null)) {
            problems.add(new PlanProblem("REQUIRED", "/signal/external_id",
                    "exactly one of external_id and tag is required; " + (signal.tag() == null ? "none is" : "both are")
                            + " given"));
        }
        problems.addAll(expressions.problems(Json.document(signal), "/signal"));
        if (!given.inputs().isEmpty()) {
            problems.add(new PlanProblem("INVALID_VALUE", "/inputs", "a signal has a payload, and no inputs"));
        }
        if (given.priority() != null) {
            problems.add(new PlanProblem("INVALID_VALUE", "/priority", "a signal starts no run"));
        }
        if (given.flow() != null && given.flow().singleton() != null) {
            problems.add(new PlanProblem("INVALID_VALUE", "/flow/singleton", "a signal starts no run"));
        }
        return problems;
    }

    private List<PlanProblem> flow(Trigger.Flow flow) {
        List<PlanProblem> problems = new ArrayList<>();
        if (flow.batch() != null && flow.debounce() != null) {
            problems.add(new PlanProblem("INVALID_VALUE", "/flow/debounce",
                    "a trigger has `batch` or `debounce`, and not both"));
        }
        if (flow.debounce() != null && flow.debounce().timeoutSeconds() < flow.debounce().periodSeconds()) {
            problems.add(new PlanProblem("OUT_OF_RANGE", "/flow/debounce/timeout_seconds",
                    flow.debounce().timeoutSeconds() + " is less than the " + flow.debounce().periodSeconds()
                            + " of period_seconds"));
        }
        keys(flow).forEach((pointer, key) -> problems.addAll(single(key, pointer)));
        return problems;
    }

    /** The expressions of keys by their pointers; null for a rule without one. */
    private static Map<String, @Nullable String> keys(Trigger.Flow flow) {
        Map<String, @Nullable String> keys = new LinkedHashMap<>();
        if (flow.rate() != null) {
            keys.put("/flow/rate/key", flow.rate().key());
        }
        if (flow.batch() != null) {
            keys.put("/flow/batch/key", flow.batch().key());
        }
        if (flow.debounce() != null) {
            keys.put("/flow/debounce/key", flow.debounce().key());
        }
        if (flow.singleton() != null) {
            keys.put("/flow/singleton/key", flow.singleton().key());
        }
        return keys;
    }

    private List<PlanProblem> source(UUID workspace, NewSource source) {
        List<PlanProblem> problems = new ArrayList<>();
        String kind = "the kind '" + source.kind() + "' ";
        if (source.header() != null && !source.kind().equals("secret")) {
            problems.add(new PlanProblem("INVALID_VALUE", "/source/header",
                    kind + "has no header: only 'secret' has one"));
        }
        problems.addAll(ofKind("basic", source, source.user(), "/source/user", "a user"));
        problems.addAll(ofKind(EVENT, source, source.event(), "/source/event", "the name of its events"));
        boolean secret = !source.kind().equals(EVENT) && !source.kind().equals("run");
        if (source.secrets().isEmpty() == secret) {
            problems.add(new PlanProblem(secret ? "REQUIRED" : "INVALID_VALUE", "/source/secrets",
                    kind + (secret ? "needs the name of at least one secret of the workspace" : "has no secrets")));
        }
        Set<String> known = secrets.list(workspace).stream().map(Secret::name).collect(Collectors.toSet());
        for (int i = 0; i < source.secrets().size(); i++) {
            if (!known.contains(source.secrets().get(i))) {
                problems.add(new PlanProblem("UNKNOWN_REFERENCE", "/source/secrets/" + i,
                        "the workspace has no secret '" + source.secrets().get(i)
                                + "'; set it with: keelson secrets set "
                                + source.secrets().get(i)));
            }
        }
        return problems;
    }

    /** A member that one kind needs, and no other kind has. */
    private static List<PlanProblem> ofKind(String only, NewSource source, @Nullable String value, String pointer,
            String text) {
        boolean needed = source.kind().equals(only);
        if ((value != null) == needed) {
            return List.of();
        }
        return List.of(needed ? new PlanProblem("REQUIRED", pointer, "the kind '" + only + "' needs " + text)
                : new PlanProblem("INVALID_VALUE", pointer,
                        "the kind '" + source.kind() + "' has none: only '" + only + "' has " + text));
    }

    private List<PlanProblem> single(@Nullable String expression, String pointer) {
        if (expression == null) {
            return List.of();
        }
        if (!expression.startsWith("${") || !expression.endsWith("}")) {
            return List.of(new PlanProblem("EXPRESSION_SYNTAX", pointer, "'" + Excerpt.piece(expression)
                    + "' must be exactly one ${ … }, such as ${ .body.total }"));
        }
        return expressions.problems(JsonNodeFactory.instance.stringNode(expression), pointer);
    }

    private record Evaluation(ObjectNode inputs, @Nullable JsonNode priority) {}

    /** The scope of an event, which is a batch of its own. */
    private static ObjectNode scope(Trigger.Definition given, Trigger.Example example) {
        ObjectNode headers = lowerCase(example.headers());
        ObjectNode scope = Event.scope(headers, example.body());
        if (given.flow() != null && given.flow().batch() != null) {
            scope.putArray("batch").add(Event.scope(headers, example.body()));
        }
        return scope;
    }

    /** The inputs and the priority of the example. */
    private Evaluation evaluated(UUID workspace, Trigger.Definition given, Trigger.Example example) {
        ObjectNode scope = scope(given, example);
        String key = given.key();
        if (key != null) {
            var _ = expecting("/key", () -> expressions.key(workspace, key, scope));
        }
        if (!expecting("/filter", () -> expressions.passes(workspace, given.filter(), scope))) {
            throw ApiProblem.of(EXAMPLE_REJECTED, "/filter",
                    "the example does not meet the filter, so nothing would start for it; give an example that does");
        }
        Trigger.Flow flow = given.flow();
        if (flow != null) {
            keys(flow).forEach((pointer, rule) -> {
                if (rule != null) {
                    var _ = expecting(pointer, () -> expressions.key(workspace, rule, scope));
                }
            });
        }
        Trigger.Signal signal = given.signal();
        if (signal != null) {
            var _ = expecting("/signal", () -> expressions.target(workspace, given.name(), signal, scope));
            return new Evaluation(given.inputs(), null);
        }
        ObjectNode inputs = expecting("/inputs", () -> expressions.inputs(workspace, given, scope));
        JsonNode priority = given.priority() == null ? null
                : expecting("/priority", () -> Objects.requireNonNull(
                        expressions.priority(workspace, given, scope)));
        return new Evaluation(inputs, priority);
    }

    /** The result that an event would have. */
    Trigger.Tested tested(TriggerRow trigger, Trigger.Example event) {
        Trigger.Definition definition = trigger.read();
        ObjectNode scope = scope(definition, event);
        String key = null;
        ObjectNode inputs = null;
        try {
            key = definition.key() == null ? null
                    : expressions.key(trigger.workspaceId(), definition.key(), scope);
            if (!expressions.passes(trigger.workspaceId(), definition.filter(), scope)) {
                return new Trigger.Tested(key, null, "FILTERED", "the event does not meet the filter");
            }
            if (definition.signal() != null) {
                return new Trigger.Tested(key, expressions
                        .target(trigger.workspaceId(), trigger.name(), definition.signal(), scope).payload(), null,
                        null);
            }
            inputs = expressions.inputs(trigger.workspaceId(), definition, scope);
        } catch (ExpressionException e) {
            return new Trigger.Tested(key, null, e.code(), e.getMessage());
        }
        return switch (missions.ofSchedule(trigger.workspaceId(), trigger.recipeId(), inputs, definition.mission(),
                "webhook")) {
            case ReadResult.Ok<PreparedMission> _ -> new Trigger.Tested(key, inputs, null, null);
            case ReadResult.Invalid<PreparedMission>(List<PlanProblem> problems) -> new Trigger.Tested(key, inputs,
                    problems.getFirst().code(), problems.getFirst().pointer() + ": " + problems.getFirst().message());
        };
    }

    private interface Evaluated<T> {
        T get();
    }

    private static <T> T expecting(String pointer, Evaluated<T> value) {
        try {
            return value.get();
        } catch (ExpressionException e) {
            throw ApiProblem.of(EXAMPLE_REJECTED, pointer, "with the example: " + e.code() + ", " + e.getMessage());
        }
    }

    private static ObjectNode lowerCase(ObjectNode headers) {
        ObjectNode lower = JsonNodeFactory.instance.objectNode();
        headers.propertyStream()
                .forEach(each -> lower.set(each.getKey().toLowerCase(Locale.ROOT), text(each.getValue())));
        return lower;
    }

    private static JsonNode text(JsonNode value) {
        return value.isString() ? value : JsonNodeFactory.instance.stringNode(value.toString());
    }
}
