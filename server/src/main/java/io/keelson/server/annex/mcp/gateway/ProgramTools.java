package io.keelson.server.annex.mcp.gateway;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.policy.Effects;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.execute.TurnText;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.engine.store.read.ProgramCallRecords;
import io.keelson.server.engine.tool.AgentQuestions;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.mission.plan.ToolRules;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The tools that a step's program may call: of servers, of MCP servers of the workspace, of workers, and a question to a person. */
final class ProgramTools {
    /** The name of the tool for a question to a person. */
    static final String ASK = "ask_person";
    private static final int MAX_NAME = 64;
    private static final int MAX_SHOWN = 10;
    /** Tools for agents and plans only; models are requested below {@code /gateway}. */
    private static final Set<String> OTHERS =
            Set.of(AgentTerms.DELEGATE, AgentTerms.PROPOSE, AgentTerms.READS_RESULTS);
    private static final String MODELS = "model.";
    private static final String QUESTION = """
            Asks a person a question and waits for the answer, which may take days. With a JSON Schema of the answer the person \
            fills in a form.""";

    private final Sources sources;

    /**
     * Parts of the server that tools are read from.
     *
     * @param announced the announcements of a workspace's workers, by tool
     * @param rules of workspaces about tools
     */
    record Sources(ToolCatalog catalog, Function<UUID, Map<String, JsonNode>> announced,
            Function<UUID, ToolPolicy.Rule> rules, ProgramCallRecords records) {}

    ProgramTools(Sources sources) {
        this.sources = sources;
    }

    /**
     * A tool that the program may call.
     *
     * @param tool its name in plans
     * @param schema of its input
     */
    record Offered(String name, String tool, String description, JsonNode schema, TurnText.Terms terms,
            boolean openWorld) {

        /** As lists show it. */
        ObjectNode document() {
            ObjectNode document = Json.object().put("name", name).put("title", tool).put("description", description);
            ObjectNode input = schema instanceof ObjectNode object ? object.deepCopy() : Json.object();
            document.set("inputSchema", input.put("type", "object"));
            Effects effects = terms.effects();
            document.putObject("annotations").put("readOnlyHint", effects == Effects.READ)
                    .put("destructiveHint", effects == null || effects == Effects.DESTRUCTIVE)
                    .put("idempotentHint", effects == Effects.READ || effects == Effects.IDEMPOTENT)
                    .put("openWorldHint", openWorld);
            return document;
        }

        /** Why a call with these arguments cannot be made, with JSON pointers; empty if it can. */
        String problems(JsonNode arguments) {
            return tool.equals(AgentTerms.ASK) ? AgentQuestions.problems(arguments)
                    : new DeclaredSchema(schema).check(arguments).stream().limit(MAX_SHOWN)
                            .map(flaw -> (flaw.pointer().isEmpty() ? "" : flaw.pointer() + ": ") + flaw.message())
                            .collect(Collectors.joining("; "));
        }
    }

    /** The tools, by the names under which they are shown. A program does not call the tool that it serves. */
    Map<String, Offered> of(Found caller) {
        UUID workspace = caller.lease().workspaceId();
        ProgramCallRecords.Rules plan = sources.records.rules(caller.lease().stepId()).orElse(null);
        if (plan == null) {
            return Map.of();
        }
        ToolPolicy policy = new ToolRules(sources.rules.apply(workspace), plan.config()).of(plan.task());
        Map<String, JsonNode> ofWorkers = new TreeMap<>(sources.announced.apply(workspace));
        Map<String, Offered> offered = new LinkedHashMap<>();
        for (Tool each : sources.catalog.in(workspace).all()) {
            ToolSpec spec = each.spec();
            ofWorkers.remove(spec.name());
            if (spec.name().equals(AgentTerms.ASK) && allows(caller, policy, ASK, spec.name())) {
                offered.put(ASK, new Offered(ASK, spec.name(), QUESTION, AgentQuestions.SCHEMA, terms(spec), false));
            } else if (!spec.name().equals(AgentTerms.ASK) && callable(spec.name()) && !spec.engineOwned()
                    && !spec.name().equals(plan.tool()) && allows(caller, policy, spec.name(), spec.name())) {
                String name = free(offered.keySet(), spec.name());
                offered.put(name, new Offered(name, spec.name(), spec.description(), spec.inputSchema(), terms(spec),
                        spec.openWorld()));
            }
        }
        ofWorkers.forEach((tool, announced) -> {
            if (callable(tool) && !tool.equals(plan.tool()) && allows(caller, policy, tool, tool)) {
                String name = free(offered.keySet(), tool);
                offered.put(name, ofWorkers(name, tool, announced));
            }
        });
        return offered;
    }

    private static boolean allows(Found caller, ToolPolicy policy, String granted, String tool) {
        return (caller.grant().allowsTool(granted) || caller.grant().allowsTool(tool))
                && policy.refusedBy(tool) == null;
    }

    private static boolean callable(String tool) {
        return !AgentTerms.NEVER.contains(tool) && !OTHERS.contains(tool) && !tool.startsWith(MODELS);
    }

    private static TurnText.Terms terms(ToolSpec spec) {
        return new TurnText.Terms(spec.defaultTimeout(), spec.effects());
    }

    private static Offered ofWorkers(String name, String tool, JsonNode announced) {
        JsonNode schema = announced.path("input_schema");
        return new Offered(name, tool, announced.path("description").asString("The tool " + tool + " of a worker."),
                schema.isObject() ? schema : Json.object(),
                new TurnText.Terms(StepSpec.OF_TASK, effects(announced.path("effects").asString(""))), true);
    }

    private static @Nullable Effects effects(String announced) {
        return announced.isEmpty() ? null : Effects.valueOf(announced.toUpperCase(Locale.ROOT));
    }

    /** A name that providers of models take: letters, digits, {@code _} and {@code -}. */
    private static String free(Collection<String> taken, String tool) {
        String plain = tool.replaceAll("[^A-Za-z0-9_-]", "_");
        String name = plain.substring(0, Math.min(plain.length(), MAX_NAME));
        for (int i = 2; taken.contains(name) || name.equals(ASK); i++) {
            String end = "_" + i;
            name = plain.substring(0, Math.min(plain.length(), MAX_NAME - end.length())) + end;
        }
        return name;
    }

    /** The tool that a program calls by the name shown or by the name in plans; null if it may call no such tool. */
    @Nullable Offered find(Found caller, String name) {
        Map<String, Offered> offered = of(caller);
        Offered shown = offered.get(name);
        return shown != null ? shown
                : offered.values().stream().filter(each -> each.tool().equals(name)).findFirst().orElse(null);
    }
}
