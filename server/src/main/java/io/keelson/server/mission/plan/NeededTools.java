package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.ToolKnowledge;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The tools that a plan names for its agents. A name that no call reaches is a problem. */
final class NeededTools {
    private NeededTools() {}

    /** @param plan as written, with pointers from {@code /plan} */
    static List<PlanProblem> check(JsonNode plan, ToolKnowledge tools) {
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < plan.path("tasks").size(); i++) {
            for (String list : List.of("/tools_needed", "/suggested_agent/tools")) {
                List<String> names = JsonFields.texts(plan.path("tasks").path(i).at(list));
                for (int j = 0; j < names.size(); j++) {
                    String name = names.get(j);
                    String at = "/plan/tasks/" + i + list + "/" + j;
                    String why = tools.unusable(name);
                    if (why != null) {
                        problems.add(new PlanProblem(tools.knows(name) ? "MCP_TOOL_CHANGED" : "UNKNOWN_TOOL", at,
                                Pointers.shown(name) + ": " + why));
                    } else if (!tools.knows(name)) {
                        problems.add(new PlanProblem("UNKNOWN_TOOL", at,
                                "no tool '" + Pointers.shown(name) + "'" + tools.hint(name)));
                    }
                }
            }
        }
        return problems;
    }
}
