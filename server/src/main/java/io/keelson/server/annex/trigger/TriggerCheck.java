package io.keelson.server.annex.trigger;

import io.keelson.api.tenant.Secret;
import io.keelson.api.trigger.Trigger;
import io.keelson.api.trigger.Trigger.NewSource;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.submission.PreparedMission;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.tenant.secret.SecretStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
        if ((given.recipe() == null) == (given.mission() == null)) {
            throw ApiProblem.of("REQUIRED", "/recipe", "exactly one of recipe and mission is required");
        }
        refuse(members(workspace, given));
        String named = given.recipe();
        UUID recipe = named == null ? null
                : missions.find(workspace, named).map(RecipeRow::id)
                        .orElseThrow(() -> ApiProblem.of(List.of(RecipeMissions.unknownRecipe(named))));
        ObjectNode inputs = given.example() == null ? given.inputs() : evaluated(workspace, given, given.example());
        var _ = SubmissionMapping.value(missions.ofSchedule(workspace, recipe, inputs, given.mission(), "webhook"));
        return recipe;
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
        boolean any = given.key() != null || given.filter() != null || expressions.hasAny(given.inputs());
        if (any && given.example() == null) {
            problems.add(new PlanProblem("REQUIRED", "/example",
                    "an example is required, with which the expressions are checked"));
        }
        return problems;
    }

    private List<PlanProblem> source(UUID workspace, NewSource source) {
        List<PlanProblem> problems = new ArrayList<>();
        if (source.header() != null && !source.kind().equals("secret")) {
            problems.add(new PlanProblem("INVALID_VALUE", "/source/header", "only the kind 'secret' has a header"));
        }
        if ((source.user() != null) != source.kind().equals("basic")) {
            problems.add(
                    new PlanProblem("INVALID_VALUE", "/source/user", "the kind 'basic' has a user, and no other kind"));
        }
        Set<String> known = secrets.list(workspace).stream().map(Secret::name).collect(Collectors.toSet());
        for (int i = 0; i < source.secrets().size(); i++) {
            if (!known.contains(source.secrets().get(i))) {
                problems.add(new PlanProblem("UNKNOWN_REFERENCE", "/source/secrets/" + i,
                        "the workspace has no such secret; set it with: keelson secrets set NAME"));
            }
        }
        return problems;
    }

    private List<PlanProblem> single(@Nullable String expression, String pointer) {
        if (expression == null) {
            return List.of();
        }
        if (!expression.startsWith("${") || !expression.endsWith("}")) {
            return List.of(new PlanProblem("EXPRESSION_SYNTAX", pointer, "it must be exactly one ${ … }"));
        }
        return expressions.problems(JsonNodeFactory.instance.stringNode(expression), pointer);
    }

    /** The inputs of the example. */
    private ObjectNode evaluated(UUID workspace, Trigger.Definition given, Trigger.Example example) {
        ObjectNode scope = Event.scope(lowerCase(example.headers()), example.body());
        String key = given.key();
        if (key != null) {
            var _ = expecting("/key", () -> expressions.key(workspace, key, scope));
        }
        if (!expecting("/filter", () -> expressions.passes(workspace, given.filter(), scope))) {
            throw ApiProblem.of(EXAMPLE_REJECTED, "/filter", "the example does not meet the filter");
        }
        return expecting("/inputs", () -> expressions.inputs(workspace, given, scope));
    }

    /** The result that an event would have. */
    Trigger.Tested tested(TriggerRow trigger, Trigger.Example event) {
        Trigger.Definition definition = trigger.read();
        ObjectNode scope = Event.scope(lowerCase(event.headers()), event.body());
        String key = null;
        ObjectNode inputs = null;
        try {
            key = definition.key() == null ? null
                    : expressions.key(trigger.workspaceId(), definition.key(), scope);
            if (!expressions.passes(trigger.workspaceId(), definition.filter(), scope)) {
                return new Trigger.Tested(key, null, "FILTERED", "the event does not meet the filter");
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
