package io.keelson.server.mission.plan;

import io.keelson.server.base.json.SafeText;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** The names in a mission: of its run, tasks, steps and agents, its tags, and the tool that a recipe is for MCP clients. */
public final class MissionNames {
    /** Names of the tools that every workspace has. */
    public static final Set<String> TAKEN = Set.of("mission_start", "create_mission", "mission_status", "explain",
            "run_cancel", "inbox_list", "inbox_answer", "approve_plan");

    private static final Pattern TOOL = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final int NAME_LENGTH = 200;

    private MissionNames() {}

    /** The run's name: the mission's, else the beginning of its goal. */
    static String ofRun(JsonNode document, Problems problems) {
        String goal = JsonFields.text(document, "goal", JsonFields.text(document, "task", ""));
        if (!goal.equals(JsonFields.text(document, "task", goal))) {
            problems.add("INVALID_VALUE", "/task", "goal and task are synonyms: remove one");
        }
        if (!document.has("name") && !document.has("goal") && !document.has("task")) {
            problems.add("REQUIRED", "/name", "a name or a goal is required");
        }
        String line = goal.lines().filter(each -> !each.isBlank()).findFirst().orElse("").strip();
        String start = line.codePoints().filter(each -> !SafeText.hides(each)).limit(NAME_LENGTH)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
        return JsonFields.text(document, "name", start.isEmpty() ? "run" : start);
    }

    /** The name of a recipe with {@code mcp} is that of its tool. */
    static void checkTool(JsonNode recipe, Problems problems) {
        if (!recipe.path("mcp").asBoolean(false) || !recipe.path("name").isString()) {
            return;
        }
        String name = recipe.get("name").stringValue();
        if (!TOOL.matcher(name).matches()) {
            problems.add("INVALID_VALUE", "/name", "the name of a recipe with `mcp` is a tool's name:"
                    + " at most 64 letters, digits, '_' and '-'");
        } else if (TAKEN.contains(name)) {
            problems.add("INVALID_VALUE", "/name", "this is the name of a tool that every workspace has");
        }
    }

    /** Refuses control and format characters. */
    static void check(JsonNode document, Problems problems) {
        check(document.path("name"), "/name", problems);
        JsonNode tags = document.path("tags");
        for (int i = 0; tags.isArray() && i < tags.size(); i++) {
            check(tags.path(i), "/tags/" + i, problems);
        }
        JsonNode tasks = document.path("plan").path("tasks");
        for (int i = 0; tasks.isArray() && i < tasks.size(); i++) {
            JsonNode task = tasks.path(i);
            String at = "/plan/tasks/" + i;
            check(task.path("title"), at + "/title", problems);
            check(task.path("suggested_agent").path("agent_name"), at + "/suggested_agent/agent_name", problems);
            JsonNode steps = task.path("steps");
            for (int j = 0; steps.isArray() && j < steps.size(); j++) {
                check(steps.path(j).path("name"), at + "/steps/" + j + "/name", problems);
            }
        }
    }

    private static void check(JsonNode name, String pointer, Problems problems) {
        String hidden = name.isString() ? SafeText.hidden(name.stringValue()) : null;
        if (hidden != null) {
            problems.add("INVALID_TEXT", pointer, "contains the control or format character " + hidden);
        }
    }
}
