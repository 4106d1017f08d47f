package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.endpoint.OfferedTool.Hints;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.recipe.RecipeStore;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The recipes with {@code mcp: true}, each a tool that starts a run. */
record RecipeTools(Database database, RecipeStore recipes, RecipeMissions missions, RunStarts starts) {

    private static final int MAX_DESCRIPTION = 4_096;

    /** @param after the name of the last tool of the page before; null for the first page */
    Page<OfferedTool> page(UUID workspace, @Nullable String after, int limit) {
        Page<RecipeStore.Listed> found =
                database.withConnection(c -> recipes.exposed(c, workspace, null, after, limit));
        return new Page<>(found.items().stream().map(this::tool).toList(), found.more());
    }

    Optional<OfferedTool> find(UUID workspace, String name) {
        List<RecipeStore.Listed> found =
                database.withConnection(c -> recipes.exposed(c, workspace, name, null, 1)).items();
        return found.stream().findFirst().map(this::tool);
    }

    private OfferedTool tool(RecipeStore.Listed listed) {
        RecipeRow recipe = listed.recipe();
        String said = recipe.description();
        String description = "Starts a run of the recipe" + (said == null ? "."
                : ": "
                        + said.substring(0, Math.min(said.length(), MAX_DESCRIPTION)));
        ObjectNode schema = listed.inputsOmitted() ? Json.object().put("type", "object")
                : schema(recipe.mission().path("inputs"));
        return new OfferedTool(recipe.name(), recipe.name(), description, Scope.RUNS_WRITE, schema, null,
                OfferedTool.schema(OfferedRunDocuments.SCHEMA), Hints.STARTS, true,
                (call, given) -> starts.start(call, recipe.name(), null, given, () -> {
                    RecipeRow now = missions.find(call.workspace(), recipe.name()).orElseThrow(
                            () -> ApiProblem.of(ErrorCode.RECIPE_NOT_FOUND, "the recipe is no longer there"));
                    ObjectNode run = Json.object().put("start", true).put("trigger", "mcp");
                    run.set("input", given);
                    return missions.ofRecipe(now, now.version(), now.mission(), run, "");
                }));
    }

    /** An input without a default must be given. */
    private static ObjectNode schema(JsonNode inputs) {
        ObjectNode schema = Json.object().put("type", "object").put("additionalProperties", false);
        ObjectNode properties = schema.putObject("properties");
        ArrayNode required = Json.array();
        inputs.forEachEntry((name, declaration) -> {
            properties.set(name, declaration);
            if (!declaration.has("default")) {
                required.add(name);
            }
        });
        if (!required.isEmpty()) {
            schema.set("required", required);
        }
        return schema;
    }
}
