package io.keelson.server.mission.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.plan.ToolPolicy.Level;
import io.keelson.core.plan.ToolPolicy.Rule;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * Rules of a workspace, a mission and a task about tools: {@code allowed_tools} and {@code denied_tools}.
 *
 * @param workspace the workspace's rule
 * @param config the run's
 */
public record ToolRules(Rule workspace, JsonNode config) {
    private static final String ALLOWED = "allowed_tools";
    private static final String DENIED = "denied_tools";

    /** The rules of all levels but the agent's. */
    public ToolPolicy of(JsonNode task) {
        return new ToolPolicy(List.of(workspace, rule(Level.MISSION, config), rule(Level.TASK, task)));
    }

    private static Rule rule(Level level, JsonNode said) {
        return new Rule(level, said.path(ALLOWED).isArray() ? JsonFields.texts(said.path(ALLOWED)) : null,
                JsonFields.texts(said.path(DENIED)));
    }

    /** The tools of an agent that the task may not use, with the level that refuses them. */
    Map<String, Level> refused(Collection<String> tools, JsonNode task) {
        ToolPolicy policy = of(task);
        Map<String, Level> refused = new TreeMap<>();
        for (String tool : tools) {
            Level level = policy.refusedBy(tool);
            if (level != null) {
                refused.put(tool, level);
            }
        }
        return refused;
    }

    /**
     * Steps, checks, tools that a task needs and hooks with refused tools, and needed tools that no call reaches. A planner is no
     * part of the plan.
     *
     * @param plan as written, with pointers from {@code /plan}
     * @param read the same plan
     */
    List<PlanProblem> check(JsonNode plan, Plan read, ToolKnowledge tools) {
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < read.tasks().size(); i++) {
            TaskSpec task = read.tasks().get(i);
            JsonNode raw = plan.path("tasks").path(i);
            ToolPolicy policy = of(raw);
            String at = "/plan/tasks/" + i;
            for (int j = 0; j < task.steps().size() && !FlatPlan.added(raw); j++) {
                StepSpec step = task.steps().get(j);
                if (step.kind() == StepKind.TOOL || step.kind() == StepKind.RUN) {
                    add(problems, policy, step.tool(), at + "/steps/" + j + "/tool");
                }
            }
            undos(problems, policy, raw.path(UndoReader.UNDO), at + "/" + UndoReader.UNDO);
            for (int j = 0; j < raw.path("steps").size(); j++) {
                undos(problems, policy, raw.path("steps").path(j).path(UndoReader.UNDO),
                        at + "/steps/" + j + "/" + UndoReader.UNDO);
            }
            List<String> needed = JsonFields.texts(raw.path("tools_needed"));
            for (int j = 0; j < needed.size(); j++) {
                add(problems, policy, needed.get(j), at + "/tools_needed/" + j);
            }
            for (int j = 0; j < raw.path("verify").size(); j++) {
                add(problems, policy, JsonFields.text(raw.path("verify").path(j), "tool"),
                        at + "/verify/" + j + "/tool");
            }
        }
        ToolPolicy own = of(MissingNode.getInstance());
        Stream.of("/hooks/before_run", "/hooks/after_run").forEach(
                call -> add(problems, own, JsonFields.text(config.at(call), "tool"), "/config" + call + "/tool"));
        needed(problems, plan, tools);
        return problems;
    }

    private static void undos(List<PlanProblem> problems, ToolPolicy policy, JsonNode undo, String at) {
        if (undo.isObject()) {
            add(problems, policy, JsonFields.text(undo, "tool"), at + "/tool");
        }
        for (int i = 0; i < undo.size() && undo.isArray(); i++) {
            add(problems, policy, JsonFields.text(undo.path(i), "tool"), at + "/" + i + "/tool");
        }
    }

    /** The tools that a plan names for its agents. A name that no call reaches is a problem. */
    private static void needed(List<PlanProblem> problems, JsonNode plan, ToolKnowledge tools) {
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
    }

    private static void add(List<PlanProblem> problems, ToolPolicy policy, @Nullable String tool, String pointer) {
        Level level = tool == null ? null : policy.refusedBy(tool);
        if (level != null) {
            problems.add(new PlanProblem("TOOL_REFUSED_BY", pointer, "the tool '" + Pointers.shown(String.valueOf(tool))
                    + "' is refused by a rule of the " + level.wire()
                    + (level == Level.WORKSPACE ? ": an operator sets it with `keelson workspaces tools`" : "")));
        }
    }
}
