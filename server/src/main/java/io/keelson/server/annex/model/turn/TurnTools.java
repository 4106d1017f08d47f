package io.keelson.server.annex.model.turn;

import io.keelson.core.plan.AgentTerms;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The tools of an agent under names that providers take: letters, digits, {@code _} and {@code -}. */
final class TurnTools {
    private static final int MAX_NAME = 64;

    private final List<ToolSchema> schemas = new ArrayList<>();
    private final Map<String, String> toTool = new HashMap<>();
    private final Map<String, String> toName = new HashMap<>();
    private final Map<String, String> refusals = new HashMap<>();

    /**
     * @param names of the agent's tools, in any order
     * @param catalogue the tools of the server; those that it does not have are workers', but for tools of
     *                  MCP servers, which are left out
     * @param unusable why calls of a tool fail, by its name; null where they do not
     * @param announced what workers say of their tools, by name
     */
    TurnTools(Collection<String> names, Function<String, Optional<Tool>> catalogue,
            Function<String, @Nullable String> unusable, Map<String, JsonNode> announced) {
        TreeSet<String> all = new TreeSet<>(names);
        if (!all.isEmpty()) {
            all.add(AgentTerms.READS_RESULTS);
        }
        for (String tool : all) {
            boolean missing = tool.startsWith(ToolSpec.MCP) && catalogue.apply(tool).isEmpty();
            String why = missing ? unusable.apply(tool) : null;
            if (why != null) {
                refusals.put(tool, tool + ": " + why);
            }
            if (!AgentTerms.NEVER.contains(tool) && !missing) {
                String name = free(tool);
                toTool.put(name, tool);
                toName.put(tool, name);
                schemas.add(catalogue.apply(tool).map(Tool::spec)
                        .map(spec -> new ToolSchema(name, spec.description(), spec.inputSchema()))
                        .orElseGet(() -> ofWorkers(name, tool, announced.getOrDefault(tool, Json.object()))));
            }
        }
    }

    private static ToolSchema ofWorkers(String name, String tool, JsonNode announced) {
        return new ToolSchema(name, announced.path("description").asString("The tool " + tool + " of a worker."),
                announced.path("input_schema").isObject() ? announced.get("input_schema")
                        : Json.object().put("type", "object"));
    }

    private String free(String tool) {
        String plain = plain(tool);
        String name = plain.length() <= MAX_NAME ? plain : plain.substring(0, MAX_NAME);
        for (int i = 2; toTool.containsKey(name); i++) {
            String end = "_" + i;
            name = plain.substring(0, Math.min(plain.length(), MAX_NAME - end.length())) + end;
        }
        return name;
    }

    /** Why a call of one of the agent's tools is not made; null for a call that may be made. */
    @Nullable String refusal(String tool) {
        return refusals.get(tool);
    }

    /** In the order of the tools' names. */
    List<ToolSchema> schemas() {
        return schemas;
    }

    /**
     * The tool that a model calls by this name; the name itself when it is none of the agent's. A model may know the name of a
     * tool that it is not shown now from earlier turns.
     */
    String tool(String name) {
        String shown = toTool.get(name);
        return shown != null ? shown
                : refusals.keySet().stream().filter(tool -> plain(tool).equals(name)).findFirst().orElse(name);
    }

    /** The name under which models know the tool. */
    String name(String tool) {
        String known = toName.get(tool);
        return known == null ? plain(tool) : known;
    }

    /** With characters only that providers take. */
    static String plain(String tool) {
        return tool.replaceAll("[^A-Za-z0-9_-]", "_");
    }
}
