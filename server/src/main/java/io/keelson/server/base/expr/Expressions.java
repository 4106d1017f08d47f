package io.keelson.server.base.expr;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * jq in {@code ${ … }}, as in the CNCF Serverless Workflow language. An expression sees its scope ({@code .inputs},
 * {@code .tasks.<id>.output|state}, {@code .steps.<name>.output}, {@code .run}, {@code .task}, {@code .item},
 * {@code .index}) and
 * nothing else: no clock, environment or files. Every evaluation is bounded by {@link ExpressionLimits} and ends on
 * interrupt. Safe for use by many threads; never to be called on a thread that commits.
 */
public final class Expressions {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final int MAX_TEMPLATE_DEPTH = 200;
    /** Templates, programs, and trees of templates, that are kept parsed. */
    private static final int MAX_CACHED = 2_000;
    /** A longer tree of templates is parsed each time. */
    private static final int MAX_CACHED_CHARS = 4_000;

    /** Work within these bounds runs on the calling thread: a handover would take longer. */
    private static final ExpressionLimits AT_ONCE = new ExpressionLimits(Duration.ofMillis(2), 1_000, 64 << 10,
            256 << 10, 64 << 10, ExpressionLimits.DEFAULT.expressionChars());
    private static final Set<String> BOUNDS =
            Set.of("EXPRESSION_TIMEOUT", "EXPRESSION_TOO_DEEP", "EXPRESSION_OUTPUT_TOO_LARGE");

    private final ExpressionLimits limits;
    private final LoadingCache<String, Template> templates;
    private final LoadingCache<String, JqProgram> programs;
    private final Cache<String, Parsed> trees;
    private final Computation computation;
    private final @Nullable Tenant tenant;

    /**
     * A parsed tree of templates and its references.
     *
     * @param json never to be changed: evaluations share it
     */
    public record Parsed(JsonNode json, References references, boolean plain) {}

    /**
     * The owner of evaluations, and actions around an evaluation on another thread.
     *
     * @param owner read only for an evaluation on another thread
     */
    public record Tenant(Supplier<Computation.Owner> owner, Runnable before, Runnable after) {}

    public Expressions() {
        this(ExpressionLimits.DEFAULT);
    }

    public Expressions(ExpressionLimits limits) {
        this(limits, Computation.direct());
    }

    /** @param computation executes evaluations of tenants that are too long for the calling thread */
    public Expressions(ExpressionLimits limits, Computation computation) {
        this(limits, Caffeine.newBuilder().maximumSize(MAX_CACHED).build(Template::parse),
                Caffeine.newBuilder().maximumSize(MAX_CACHED)
                        .build(text -> JqProgram.compile(text, limits.expressionChars())),
                Caffeine.newBuilder().maximumSize(MAX_CACHED).build(), computation, null);
    }

    private Expressions(ExpressionLimits limits, LoadingCache<String, Template> templates,
            LoadingCache<String, JqProgram> programs, Cache<String, Parsed> trees, Computation computation,
            @Nullable Tenant tenant) {
        this.limits = limits;
        this.templates = templates;
        this.programs = programs;
        this.trees = trees;
        this.computation = computation;
        this.tenant = tenant;
    }

    /** Expressions for a tenant: a long evaluation takes its turn in the computation. */
    public Expressions on(Tenant whom) {
        return new Expressions(limits, templates, programs, trees, computation, whom);
    }

    /** The threads for tenants' computations. */
    public Computation computation() {
        return computation;
    }

    /** All problems of the template's expressions; empty if they can run. */
    public List<ExprProblem> check(String template) {
        Template parsed;
        try {
            parsed = templates.get(template);
        } catch (ExpressionException e) {
            return List.of(new ExprProblem(e.code(), e.getMessage(), 0));
        }
        List<ExprProblem> problems = new ArrayList<>();
        for (Template.Part part : parsed.expressions()) {
            try {
                var _ = programs.get(Objects.requireNonNull(part.expression()));
            } catch (ExpressionException e) {
                problems.add(new ExprProblem(e.code(), e.getMessage(), part.offset()));
            }
        }
        return problems;
    }

    /** All problems of a bare jq expression (without {@code ${ }}); empty if it can run. It opens no secrets. */
    public List<ExprProblem> checkProgram(String expression) {
        try {
            return programs.get(expression).usage().secrets().isEmpty() ? List.of()
                    : List.of(new ExprProblem("SECRET_NOT_ALLOWED",
                            "secrets can be used in ${ } in the input of a tool only", 0));
        } catch (ExpressionException e) {
            return List.of(new ExprProblem(e.code(), e.getMessage(), 0));
        }
    }

    /** Whether the text has at least one {@code ${ … }}. */
    public boolean isTemplate(String text) {
        return text.contains("${") && !templates.get(text).expressions().isEmpty();
    }

    /**
     * The tree with every expression replaced: a string that is exactly one {@code ${ … }} becomes the value with its
     * type (null when it gives none), any other string is interpolated, where values that are not text stand as JSON.
     * Field names are left alone. All expressions of one tree share one set of bounds.
     *
     * @throws ExpressionException when one cannot be parsed, fails, gives several values, or goes over its bounds; {@code OUTPUT_INVALID} for a value of too many levels
     */
    public JsonNode resolve(JsonNode template, JsonNode scope) {
        return resolve(template, usage(template).plain, scope);
    }

    /** {@link #resolve(JsonNode, JsonNode)} of a parsed tree. */
    public JsonNode resolve(Parsed template, JsonNode scope) {
        return resolve(template.json, template.plain, scope);
    }

    private JsonNode resolve(JsonNode template, boolean plain, JsonNode scope) {
        if (tenant == null || plain) {
            return resolve(template, scope, limits);
        }
        try {
            return resolve(template, scope, AT_ONCE);
        } catch (ExpressionException e) {
            if (!BOUNDS.contains(e.code())) {
                throw e;
            }
        }
        ScopedValue.CallableOp<JsonNode, ExpressionException> evaluation =
                () -> resolve(template, scope, limits);
        if (!SecretNames.OPENED.isBound()) {
            return handedOver(tenant, evaluation);
        }
        Map<String, String> opened = SecretNames.OPENED.get();
        return handedOver(tenant, () -> ScopedValue.where(SecretNames.OPENED, opened).call(evaluation));
    }

    private JsonNode resolve(JsonNode template, JsonNode scope, ExpressionLimits within) {
        JsonNode value = bounded(within, () -> walk(template,
                new Evaluation(programs, within, scope), "", 0));
        if (JsonSize.isTooDeep(value)) {
            throw new ExpressionException("OUTPUT_INVALID",
                    "the result has more than " + JsonSize.MAX_DEPTH + " nested objects and arrays");
        }
        return value;
    }

    private <T> T handedOver(Tenant whom, ScopedValue.CallableOp<T, ExpressionException> evaluation) {
        whom.before().run();
        try {
            return computation.run(whom.owner(), evaluation);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ExpressionException("EXPRESSION_INTERRUPTED", "the evaluation was interrupted");
        } catch (Computation.SpentException e) {
            throw new ExpressionException("RUN_COMPUTATION_SPENT", String.valueOf(e.getMessage()));
        } finally {
            whom.after().run();
        }
    }

    /**
     * Resolves a template that may open secrets.
     *
     * @param secrets values of the named secrets, by name
     */
    public JsonNode resolve(JsonNode template, JsonNode scope, Map<String, String> secrets) {
        ScopedValue.CallableOp<JsonNode, ExpressionException> resolved = () -> resolve(template, scope);
        return ScopedValue.where(SecretNames.OPENED, secrets).call(resolved);
    }

    /**
     * Whether the template, which must be exactly one expression, gives a value other than null and false; no value
     * counts as false.
     */
    public boolean condition(String template, JsonNode scope) {
        if (templates.get(template).single() == null) {
            throw new ExpressionException("EXPRESSION_SYNTAX", "a condition must be exactly one ${ … }");
        }
        JsonNode value = resolve(NODES.stringNode(template), scope);
        return !value.isNull() && !(value.isBoolean() && !value.booleanValue());
    }

    /** All values a bare jq expression (without {@code ${ }}) gives for an input, in order. */
    public List<JsonNode> evaluate(String expression, JsonNode input) {
        return bounded(limits, () -> new Evaluation(programs, limits, input).all(expression));
    }

    /**
     * Evaluates an expression on an input that may contain secrets.
     *
     * @param secretive whether it contains secrets: a failure then shows no values
     */
    public List<JsonNode> evaluate(String expression, JsonNode input, boolean secretive) {
        try {
            return evaluate(expression, input);
        } catch (ExpressionException e) {
            throw secretive && e.code().equals("EXPRESSION_FAILED")
                    ? new ExpressionException(e.code(), JqProgram.WITHOUT_VALUES)
                    : e;
        }
    }

    /** Names in the template's expressions, without running them. Expressions that do not parse have none. */
    public References references(JsonNode template) {
        return references(usage(template));
    }

    /** A tree of templates, parsed once for all runs of a plan. */
    public Parsed parsed(String json) {
        return json.length() > MAX_CACHED_CHARS ? parse(json) : Objects.requireNonNull(trees.get(json, this::parse));
    }

    private Parsed parse(String json) {
        JsonNode tree = Json.read(json);
        Usage usage = usage(tree);
        return new Parsed(tree, references(usage), usage.plain);
    }

    private static References references(Usage usage) {
        return new References(usage.below("tasks"), usage.reachesAll("tasks"), usage.below("steps"),
                usage.reachesAll("steps"), usage.below("inputs"), usage.reachesAll("inputs"), usage.others(),
                usage.secrets, usage.whole, usage.roots);
    }

    private static <T> T bounded(ExpressionLimits within, ScopedValue.CallableOp<T, ExpressionException> evaluation) {
        return ScopedValue.where(EvaluationBudget.CURRENT, new EvaluationBudget(within)).call(evaluation);
    }

    /** @param at JSON pointer of the node */
    private JsonNode walk(JsonNode node, Evaluation evaluation, String at, int depth) {
        if (depth > MAX_TEMPLATE_DEPTH) {
            throw EvaluationBudget.tooDeep();
        }
        if (node.isString()) {
            return text(node, evaluation, at);
        }
        if (node.isArray()) {
            ArrayNode array = NODES.arrayNode(node.size());
            for (int i = 0; i < node.size(); i++) {
                array.add(walk(node.get(i), evaluation, at + "/" + i, depth + 1));
            }
            return array;
        }
        if (node.isObject()) {
            ObjectNode object = NODES.objectNode();
            node.properties().forEach(each -> object.set(each.getKey(), walk(each.getValue(), evaluation,
                    at + "/" + each.getKey().replace("~", "~0").replace("/", "~1"), depth + 1)));
            return object;
        }
        return node;
    }

    private JsonNode text(JsonNode node, Evaluation evaluation, String at) {
        if (!node.stringValue().contains("${")) {
            return node;
        }
        Template template = templates.get(node.stringValue());
        String single = template.single();
        if (single != null) {
            return evaluation.one(single, at);
        }
        StringBuilder text = new StringBuilder();
        for (Template.Part part : template.parts()) {
            text.append(part.expression() == null ? part.literal()
                    : JqText.of(evaluation.one(part.expression(), at), EvaluationBudget.CURRENT.get()));
        }
        return NODES.stringNode(text.toString());
    }

    private Usage usage(JsonNode template) {
        Usage usage = new Usage();
        eachExpression(template, expression -> {
            try {
                usage.add(programs.get(expression).usage());
            } catch (ExpressionException e) {
                // named by check(); running it fails with the same problem
            }
        });
        return usage;
    }

    private void eachExpression(JsonNode node, Consumer<String> consumer) {
        if (node.isString() && node.stringValue().contains("${")) {
            try {
                templates.get(node.stringValue()).expressions().forEach(part -> consumer.accept(part.expression()));
            } catch (ExpressionException e) {
                // as above
            }
        }
        node.forEach(each -> eachExpression(each, consumer));
    }

    private static final class Usage {
        private static final Set<String> KNOWN = Set.of("tasks", "steps", "inputs");

        private final Set<List<String>> paths = new HashSet<>();
        private final Set<String> secrets = new HashSet<>();
        private final Set<String> roots = new HashSet<>();
        private boolean whole;
        private boolean plain = true;

        private void add(ScopeUsage usage) {
            plain &= usage.plain() != null;
            whole |= usage.whole();
            secrets.addAll(usage.secrets());
            roots.addAll(usage.roots());
            paths.addAll(usage.paths());
        }

        private Set<String> below(String top) {
            Set<String> names = new HashSet<>();
            paths.stream().filter(path -> path.size() > 1 && path.getFirst().equals(top))
                    .forEach(path -> names.add(path.get(1)));
            return names;
        }

        private Set<String> others() {
            Set<String> others = new HashSet<>();
            paths.stream().filter(path -> !KNOWN.contains(path.getFirst()))
                    .forEach(path -> others.add(String.join(".", path)));
            return others;
        }

        private boolean reachesAll(String top) {
            return whole || paths.contains(List.of(top));
        }
    }
}
