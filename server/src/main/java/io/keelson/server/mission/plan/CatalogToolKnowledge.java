package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.policy.Effects;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.expr.References;
import io.keelson.server.base.json.ChildInput;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Answers the plan check from this server's tools, its expressions, and what workers have said they serve. A tool that
 * only workers serve has no schema here: it judges its input itself.
 */
public final class CatalogToolKnowledge implements ToolKnowledge {
    private static final Duration MCP_TIMEOUT = Duration.ofSeconds(30);

    private final ToolCatalog catalog;
    private final Expressions expressions;
    private final Predicate<String> served;
    private final Supplier<Set<String>> servedByWorkers;
    private final Supplier<ToolPolicy.Rule> rule;

    /**
     * @param served whether registered workers serve a tool
     * @param servedByWorkers names of the tools that registered workers serve, as of now
     * @param rule the workspace's about tools, as of now
     */
    public CatalogToolKnowledge(ToolCatalog catalog, Expressions expressions, Predicate<String> served,
            Supplier<Set<String>> servedByWorkers, Supplier<ToolPolicy.Rule> rule) {
        this.catalog = catalog;
        this.expressions = expressions;
        this.served = served;
        this.servedByWorkers = servedByWorkers;
        this.rule = rule;
    }

    /** Looks each tool up in the names; without a rule about tools. */
    public CatalogToolKnowledge(ToolCatalog catalog, Expressions expressions, Supplier<Set<String>> servedByWorkers) {
        this(catalog, expressions, tool -> servedByWorkers.get().contains(tool), servedByWorkers,
                () -> new ToolPolicy.Rule(ToolPolicy.Level.WORKSPACE, null, List.of()));
    }

    @Override
    public ToolPolicy.Rule workspaceRule() {
        return rule.get();
    }

    /**
     * How long a call may take when its step says nothing: the tool's own default; of a tool that workers serve, the time of the
     * task. A tool of an MCP server that this node does not know yet has 30 s.
     */
    public Duration timeout(String tool) {
        return catalog.find(tool).map(found -> found.spec().defaultTimeout())
                .orElse(tool.startsWith(ToolSpec.MCP) ? MCP_TIMEOUT : StepSpec.OF_TASK);
    }

    @Override
    public boolean knows(String tool) {
        return catalog.find(tool).isPresent() || served.test(tool);
    }

    @Override
    public boolean openWorld(String tool) {
        return tool.startsWith(ToolSpec.MCP)
                || catalog.find(tool).filter(found -> found.spec().openWorld()).isPresent();
    }

    @Override
    public @Nullable Effects effects(String tool) {
        return catalog.find(tool).map(found -> found.spec().effects()).orElse(null);
    }

    @Override
    public boolean opensSecrets(StepSpec step) {
        return step.input().contains("${") && !expressions.references(parse(step.input())).secrets().isEmpty();
    }

    @Override
    public String hint(String tool) {
        String why = catalog.unusable(tool);
        return why != null ? "; " + why
                : NameSuggestion.hint(tool, Stream.concat(catalog.all().stream().map(each -> each.spec().name()),
                        servedByWorkers.get().stream()).toList());
    }

    @Override
    public String hint(String name, Collection<String> known) {
        return NameSuggestion.hint(name, known);
    }

    @Override
    public @Nullable String unusable(String tool) {
        return catalog.unusable(tool);
    }

    @Override
    public List<PlanProblem> checkInput(StepSpec step, String pointer) {
        JsonNode input = parse(step.input());
        List<PlanProblem> problems = new ArrayList<>();
        syntax(input, pointer, problems);
        if (step.kind().engineOwned()) {
            noSecrets(step.kind() == StepKind.RUN ? ChildInput.outer(input) : input, pointer, problems);
        }
        if (step.kind() == StepKind.SIGNAL && input.path("schema").isObject()) {
            new DeclaredSchema(input.path("schema")).flaws().forEach(flaw -> problems
                    .add(new PlanProblem("SCHEMA_INVALID", pointer + "/schema" + flaw.pointer(), flaw.message())));
        }
        String held = catalog.find(step.tool()).isPresent() ? catalog.unusable(step.tool()) : null;
        if (held != null) {
            problems.add(new PlanProblem("MCP_TOOL_CHANGED",
                    pointer.substring(0, pointer.lastIndexOf('/')) + "/tool", held));
        }
        if (step.kind() != StepKind.APPROVAL) {
            catalog.find(step.tool()).ifPresent(tool -> schema(tool, input, pointer, problems));
        }
        return problems;
    }

    private void schema(Tool tool, JsonNode input, String pointer, List<PlanProblem> problems) {
        for (ToolCatalog.Problem problem : catalog.validateTemplate(tool, input)) {
            problems.add(new PlanProblem("TOOL_INPUT_INVALID", pointer + problem.pointer(), problem.message()));
        }
        tool.spec().inputSchema().path("properties").properties().stream()
                .filter(property -> property.getValue().path("format").asString("").equals("jq"))
                .forEach(property -> jq(input.path(property.getKey()), Pointers.of(pointer, property.getKey()),
                        problems));
    }

    /**
     * Checks a member that is itself a program. A program that an expression computes is known only later, or its error
     * was reported before.
     */
    private void jq(JsonNode program, String at, List<PlanProblem> problems) {
        if (program.isString() && expressions.check(program.stringValue()).isEmpty()
                && !expressions.isTemplate(program.stringValue())) {
            expressions.checkProgram(program.stringValue())
                    .forEach(each -> problems.add(new PlanProblem(each.code(), at, each.message())));
        }
    }

    @Override
    public List<PlanProblem> checkExpression(String expression, String pointer) {
        List<PlanProblem> problems = new ArrayList<>();
        text(expression, pointer, problems);
        noSecrets(JsonNodeFactory.instance.stringNode(expression), pointer, problems);
        return problems;
    }

    @Override
    public List<PlanProblem> checkTemplate(String json, String pointer) {
        List<PlanProblem> problems = new ArrayList<>();
        JsonNode template = parse(json);
        syntax(template, pointer, problems);
        noSecrets(template, pointer, problems);
        return problems;
    }

    @Override
    public Names namesInExpression(String expression) {
        return names(JsonNodeFactory.instance.stringNode(expression));
    }

    @Override
    public Names namesInTemplate(String json) {
        return json.contains("${") ? names(parse(json)) : Names.NONE;
    }

    @Override
    public Names namesInInput(StepSpec step) {
        return step.kind() == StepKind.RUN ? names(ChildInput.outer(parse(step.input())))
                : namesInTemplate(step.input());
    }

    private Names names(JsonNode template) {
        References references = expressions.references(template);
        return new Names(references.tasks(), references.allTasks(), references.steps(), references.inputs(),
                references.roots(), references.others().stream()
                        .filter(each -> each.startsWith("output.") || each.startsWith("previous.")).toList());
    }

    private void syntax(JsonNode node, String at, List<PlanProblem> problems) {
        if (node.isString()) {
            text(node.stringValue(), at, problems);
        }
        node.properties().forEach(each -> syntax(each.getValue(), Pointers.of(at, each.getKey()), problems));
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            syntax(node.path(i), Pointers.of(at, i), problems);
        }
    }

    private void text(String text, String at, List<PlanProblem> problems) {
        expressions.check(text).forEach(each -> problems.add(new PlanProblem(each.code(), at,
                each.message() + " (at character " + (each.offset() + 1) + ")")));
    }

    /** Nothing but a tool ever sees a secret: everything else is written down. */
    private void noSecrets(JsonNode template, String at, List<PlanProblem> problems) {
        if (!expressions.references(template).secrets().isEmpty()) {
            problems.add(new PlanProblem("SECRET_NOT_ALLOWED", at, "secrets can be used in the input of a tool only"));
        }
    }

    private static JsonNode parse(String json) {
        return Json.read(json);
    }
}
