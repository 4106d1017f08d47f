package io.keelson.server.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.ToolKnowledge;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The tools that a plan names for its agents. A name of a tool of an MCP server that no call reaches is a problem. */
final class NeededTools {
    private NeededTools() {}

    /** @param plan as written, with pointers from {@code /plan} */
    static List<PlanProblem> check(JsonNode plan, ToolKnowledge tools) {
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < plan.path("tasks").size(); i++) {
            for (String list : List.of("/tools_needed", "/suggested_agent/tools")) {
                List<String> names = JsonFields.texts(plan.path("tasks").path(i).at(list));
                for (int j = 0; j < names.size(); j++) {
                    String why = tools.unusable(names.get(j));
                    if (why != null) {
                        problems.add(new PlanProblem(tools.knows(names.get(j)) ? "MCP_TOOL_CHANGED" : "UNKNOWN_TOOL",
                                "/plan/tasks/" + i + list + "/" + j, Pointers.shown(names.get(j)) + ": " + why));
                    }
                }
            }
        }
        return problems;
    }
}
