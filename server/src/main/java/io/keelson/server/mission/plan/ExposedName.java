package io.keelson.server.mission.plan;

import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** The name of the tool that a recipe is for clients of the Model Context Protocol: the recipe's own. */
public final class ExposedName {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    /** Names of the tools that every workspace has. */
    public static final Set<String> TAKEN = Set.of("mission_start", "create_mission", "mission_status", "explain",
            "run_cancel", "inbox_list", "inbox_answer", "approve_plan");

    private ExposedName() {}

    static void check(JsonNode recipe, Problems problems) {
        if (!recipe.path("mcp").asBoolean(false) || !recipe.path("name").isString()) {
            return;
        }
        String name = recipe.get("name").stringValue();
        if (!NAME.matcher(name).matches()) {
            problems.add("INVALID_VALUE", "/name", "the name of a recipe with `mcp` is a tool's name:"
                    + " at most 64 letters, digits, '_' and '-'");
        } else if (TAKEN.contains(name)) {
            problems.add("INVALID_VALUE", "/name", "this is the name of a tool that every workspace has");
        }
    }
}
