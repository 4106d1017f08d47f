package io.keelson.server.model.turn;

import io.keelson.core.plan.AgentTerms;
import io.keelson.server.json.Json;
import io.keelson.server.model.ToolSchema;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** The tools of an agent under names that providers take: letters, digits, {@code _} and {@code -}. */
final class TurnTools {
    private static final int MAX_NAME = 64;

    private final List<ToolSchema> schemas = new ArrayList<>();
    private final Map<String, String> toTool = new HashMap<>();
    private final Map<String, String> toName = new HashMap<>();

    /**
     * @param names of the agent's tools, in any order
     * @param catalogue the tools of the server; those that it does not have are workers', but for tools of
     *                  MCP servers, which are left out
     * @param announced what workers say of their tools, by name
     */
    TurnTools(Collection<String> names, Function<String, Optional<Tool>> catalogue, Map<String, JsonNode> announced) {
        TreeSet<String> all = new TreeSet<>(names);
        if (!all.isEmpty()) {
            all.add(AgentTerms.READS_RESULTS);
        }
        for (String tool : all) {
            boolean missing = tool.startsWith(ToolSpec.MCP) && catalogue.apply(tool).isEmpty();
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

    /** In the order of the tools' names. */
    List<ToolSchema> schemas() {
        return schemas;
    }

    /** The tool that a model calls by this name; the name itself when it is none of the agent's. */
    String tool(String name) {
        return toTool.getOrDefault(name, name);
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
