package io.keelson.cli.common;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.app.OfflineToolCatalog;
import io.keelson.server.mission.plan.CheckedMission;
import io.keelson.server.mission.plan.ReadResult;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Checks a mission file without a server, as far as that is possible without its recipes and workers. */
public final class MissionCheck {

    /** Codes that depend on the recipe that a mission is merged with. */
    private static final Set<String> OF_RECIPES = Set.of("RECIPE_UNRESOLVED", "INPUT_UNKNOWN", "UNKNOWN_REFERENCE",
            "REFERENCE_NOT_UPSTREAM");
    private static final String UNKNOWN_TOOL = "UNKNOWN_TOOL";
    private static final String INPUT_MISSING = "INPUT_MISSING";
    private static final String INPUT = "/input/";

    private MissionCheck() {}

    /** @param tools names of tools that workers serve */
    public static List<PlanProblem> problems(JsonNode document, Clock clock, Set<String> tools) {
        return switch (new OfflineToolCatalog(clock).reader(tools).read(document)) {
            case ReadResult.Ok<CheckedMission> _ -> List.of();
            case ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems) -> ofRecipe(document)
                    ? problems.stream().filter(problem -> !OF_RECIPES.contains(problem.code())).toList()
                    : problems;
        };
    }

    /** Whether a server is certain to refuse a mission with these problems. */
    public static boolean certain(List<PlanProblem> problems) {
        return problems.stream().anyMatch(problem -> !problem.code().equals(UNKNOWN_TOOL));
    }

    /** Warnings about needless cost of a valid mission. */
    public static List<String> advice(JsonNode document) {
        return document.path("plan").path("tasks").valueStream()
                .filter(task -> task.path("verify").valueStream()
                        .anyMatch(check -> check.path("kind").asString("").equals("model")))
                .filter(task -> task.path("steps").valueStream()
                        .anyMatch(step -> step.path("tool").asString("").equals("model.generate"))
                        && !task.path("steps").toString().contains(".task.failure"))
                .map(task -> "task '" + task.path("id").asString("")
                        + "': a rejected answer of model.generate is requested again with the same prompt, and judged again; give the prompt"
                        + " the judge's reasons: ${ .task.failure.message }")
                .toList();
    }

    /** Whether a server takes the mission's plan from a recipe: the named recipe, or the template of its kind. */
    static boolean ofRecipe(JsonNode document) {
        return document.has("recipe") || document.has("kind") && goal(document)
                && !document.path("config").has("planner");
    }

    private static boolean goal(JsonNode document) {
        return (document.has("goal") || document.has("task")) && !document.has("plan") && !document.has("agent_slug");
    }

    /** The inputs that a run has to be given, which is no fault of the file. */
    public static List<String> missing(List<PlanProblem> problems) {
        return problems.stream().filter(each -> each.code().equals(INPUT_MISSING))
                .map(each -> each.pointer().substring(INPUT.length())).toList();
    }

    /**
     * The faults of the file.
     *
     * @param tools names of tools that workers will serve
     */
    public static List<PlanProblem> faults(JsonNode document, List<PlanProblem> problems, Set<String> tools) {
        return problems.stream().filter(each -> !each.code().equals(INPUT_MISSING))
                .filter(each -> !each.code().equals(UNKNOWN_TOOL)
                        || !tools.contains(document.at(each.pointer()).asString("")))
                .toList();
    }
}
