package io.keelson.server.mission.plan;

import io.keelson.server.base.json.SafeText;
import tools.jackson.databind.JsonNode;

/** Refuses control and format characters in a mission's names, of the run, its tasks, its steps and its agents, and in its tags. */
final class VisibleNames {

    private VisibleNames() {}

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
