package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.mission.plan.NameSuggestion;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Evaluates the expressions of triggers, within the bounds of tenants' computations. */
final class EventExpressions {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /** The names from which paths can start; {@code batch} is null without {@code flow.batch}. */
    private static final List<String> SCOPE = List.of("batch", "body", "headers");

    /** The key of a rule without an expression. */
    private static final String ALL = "*";

    private final Expressions expressions;

    EventExpressions(Expressions expressions) {
        this.expressions = expressions;
    }

    private Expressions of(UUID workspace) {
        return expressions.on(new Expressions.Tenant(() -> new Computation.Owner(workspace, null), () -> {
        }, () -> {
        }));
    }

    /** All problems of an expression or of a tree with expressions, without its evaluation. */
    List<PlanProblem> problems(JsonNode template, String pointer) {
        if (template.isString() && !expressions.references(template).secrets().isEmpty()) {
            return List.of(new PlanProblem("SECRET_NOT_ALLOWED", pointer,
                    "secrets can be used in the input of a tool only"));
        }
        if (template.isString()) {
            List<PlanProblem> problems = expressions.check(template.stringValue()).stream()
                    .map(each -> new PlanProblem(each.code(), pointer, each.message())).toList();
            return problems.isEmpty() ? unknown(template, pointer) : problems;
        }
        if (template.isObject()) {
            return template.propertyStream().flatMap(each -> problems(each.getValue(),
                    pointer + "/" + each.getKey().replace("~", "~0").replace("/", "~1")).stream()).toList();
        }
        return template.isArray()
                ? template.valueStream().flatMap(each -> problems(each, pointer).stream()).toList()
                : List.of();
    }

    private List<PlanProblem> unknown(JsonNode template, String pointer) {
        return expressions.references(template).roots().stream().filter(name -> !SCOPE.contains(name))
                .map(name -> new PlanProblem("UNKNOWN_REFERENCE", pointer,
                        "the expression names '." + Excerpt.piece(name) + "', which an event does not have"
                                + NameSuggestion.hint(name, SCOPE) + "; known: " + String.join(", ", SCOPE)))
                .toList();
    }

    /** Whether the tree has an expression. */
    boolean hasAny(JsonNode template) {
        return template.isString() ? expressions.isTemplate(template.stringValue())
                : template.valueStream().anyMatch(this::hasAny);
    }

    /**
     * The value of an expression as a key.
     *
     * @throws ExpressionException {@code KEY_INVALID} for another value than a text or number, or a long text
     */
    String key(UUID workspace, String expression, ObjectNode scope) {
        JsonNode value = of(workspace).resolve(NODES.stringNode(expression), scope);
        String text = value.isString() ? value.stringValue() : value.isNumber() ? value.toString() : "";
        if (text.isBlank() || text.length() > Event.MAX_KEY) {
            throw new ExpressionException("KEY_INVALID",
                    "a key must be a number or a text of 1 to " + Event.MAX_KEY + " characters; the expression gives "
                            + (value.isString() ? "a text of " + text.length()
                                    : value.getNodeType().name()
                                            .toLowerCase(Locale.ROOT)));
        }
        return text;
    }

    /**
     * Whether an event meets the filter.
     *
     * @param filter null for all events
     * @throws ExpressionException if it fails
     */
    boolean passes(UUID workspace, @Nullable String filter, ObjectNode scope) {
        return filter == null || of(workspace).condition(filter, scope);
    }

    /**
     * The keys of the rules of a trigger's flow. A rule without an expression counts all events under one key.
     *
     * @throws ExpressionException if an expression fails or gives no key
     */
    FlowGate.Keys keys(UUID workspace, Trigger.Flow flow, ObjectNode scope) {
        Trigger.Rate rate = flow.rate();
        Trigger.Batch batch = flow.batch();
        Trigger.Debounce debounce = flow.debounce();
        Trigger.Singleton singleton = flow.singleton();
        return new FlowGate.Keys(rate == null ? null : keyOr(workspace, "rate", rate.key(), scope),
                batch != null ? keyOr(workspace, "batch", batch.key(), scope)
                        : debounce == null ? null : keyOr(workspace, "debounce", debounce.key(), scope),
                singleton == null ? null : keyOr(workspace, "singleton", singleton.key(), scope));
    }

    private String keyOr(UUID workspace, String rule, @Nullable String expression, ObjectNode scope) {
        try {
            return expression == null ? ALL : key(workspace, expression, scope);
        } catch (ExpressionException e) {
            throw new ExpressionException(e.code(), "/flow/" + rule + "/key: " + e.getMessage());
        }
    }

    /**
     * The priority of an event's run; null for that of the mission. The mission's check refuses other values than whole numbers.
     *
     * @throws ExpressionException if the expression fails
     */
    @Nullable JsonNode priority(UUID workspace, Trigger.Definition definition, ObjectNode scope) {
        String expression = definition.priority();
        return expression == null ? null : of(workspace).resolve(NODES.stringNode(expression), scope);
    }

    /**
     * The signal of an event.
     *
     * @param trigger name of the trigger
     * @throws ExpressionException if an expression fails, or gives another value than a text or a number as external id or tag
     */
    TriggeredSignals.Target target(UUID workspace, String trigger, Trigger.Signal signal, ObjectNode scope) {
        return new TriggeredSignals.Target(trigger, signal.name(),
                signal.externalId() == null ? null : key(workspace, signal.externalId(), scope),
                signal.tag() == null ? null : key(workspace, signal.tag(), scope),
                signal.payload() == null ? NODES.nullNode() : of(workspace).resolve(signal.payload(), scope));
    }

    /**
     * The values of a trigger's inputs.
     *
     * @throws ExpressionException if an expression fails
     */
    ObjectNode inputs(UUID workspace, Trigger.Definition definition, ObjectNode scope) {
        return (ObjectNode) of(workspace).resolve(definition.inputs(), scope);
    }
}
