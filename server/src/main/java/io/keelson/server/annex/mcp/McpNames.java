package io.keelson.server.annex.mcp;

import io.keelson.server.mission.plan.NameSuggestion;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The names of tools in a server's definition, compared with the tools that the server has.
 *
 * @param read false while the server's tools have never been read
 * @param known names of the tools that the server had when they were last read, sorted
 */
record McpNames(String server, McpDefinition definition, boolean read, List<String> known) {
    private static final int MAX_LISTED = 20;

    /** @param tools of the server */
    public static McpNames of(McpServerRow server, List<McpToolRow> tools) {
        return new McpNames(server.name(), server.definition(), server.spoken() != null,
                tools.stream().filter(tool -> tool.seen() != null).map(McpToolRow::name).sorted().toList());
    }

    /** True when both definitions name the same server, so that its known tools count for both. */
    public boolean same(McpDefinition other) {
        return definition.place().equals(other.place());
    }

    /** Names in another definition of the same server that neither the server nor this definition has, by JSON pointer. */
    public Map<String, String> unknownIn(McpDefinition other) {
        Map<String, String> unknown = unknown(other);
        unknown.values().removeAll(
                Stream.concat(definition.tools().stream(), definition.effects().keySet().stream()).toList());
        return unknown;
    }

    private Map<String, String> unknown(McpDefinition named) {
        Map<String, String> unknown = new LinkedHashMap<>();
        for (int i = 0; i < named.tools().size(); i++) {
            String tool = named.tools().get(i);
            if (!tool.equals(McpDefinition.ALL) && !known.contains(tool)) {
                unknown.put("/tools/" + i, tool);
            }
        }
        named.effects().keySet().stream().sorted().filter(tool -> !known.contains(tool)).forEach(
                tool -> unknown.put("/effects/" + tool.replace("~", "~0").replace("/", "~1"), tool));
        return unknown;
    }

    /** Why a name that the server does not have is refused. */
    public String message(String tool) {
        String listed = String.join(", ", known.stream().limit(MAX_LISTED).toList());
        int more = known.size() - MAX_LISTED;
        return "the MCP server '" + server + "' has no usable tool '" + tool + "'" + NameSuggestion.hint(tool, known)
                + (known.isEmpty() ? "" : "; it has " + listed + (more > 0 ? " and " + more + " more" : ""));
    }

    /** One sentence for each name of the definition that the server does not have, or that cannot be compared yet. */
    public List<String> warnings() {
        List<String> names = unknown(definition).values().stream().distinct().toList();
        if (read || names.isEmpty()) {
            return names.stream().map(this::message).toList();
        }
        return List
                .of("the tools of the MCP server '" + server + "' are not known yet, so these names are not checked: "
                        + String.join(", ", names));
    }
}
