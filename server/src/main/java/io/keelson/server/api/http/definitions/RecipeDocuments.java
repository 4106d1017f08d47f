package io.keelson.server.api.http.definitions;

import io.keelson.server.api.http.support.Lists;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.recipe.RecipeStore;
import tools.jackson.databind.node.ObjectNode;

/** Recipes as clients see them. */
final class RecipeDocuments {

    private RecipeDocuments() {}

    /** Without its mission; {@code omitted} names the inputs where they are too large. */
    static ObjectNode listed(RecipeStore.Listed listed) {
        return Lists.omitted(brief(listed.recipe()), "inputs", listed.inputsOmitted());
    }

    private static ObjectNode brief(RecipeRow recipe) {
        ObjectNode document = Json.object().put("id", recipe.id().toString())
                .put("workspace_id", recipe.workspaceId().toString()).put("name", recipe.name())
                .put("description", recipe.description()).put("version", recipe.version());
        document.set("inputs", recipe.mission().path("inputs").isObject() ? recipe.mission().path("inputs")
                : Json.object());
        document.set("tags", recipe.tags());
        document.put("template_id", recipe.templateId())
                .put("originated_from", recipe.originatedFrom() == null ? null : recipe.originatedFrom().toString())
                .put("created_by", recipe.createdBy()).put("created_at", Json.time(recipe.createdAt()))
                .put("updated_by", recipe.updatedBy()).put("updated_at", Json.time(recipe.updatedAt()));
        return document;
    }

    static ObjectNode whole(RecipeRow recipe) {
        ObjectNode document = brief(recipe);
        document.set("mission", recipe.mission());
        document.set("steps", recipe.steps());
        document.set("execution_config", recipe.executionConfig());
        return document;
    }

    /** A version of a recipe, without members that only the newest version has. */
    static ObjectNode whole(RecipeRow recipe, RecipeStore.Version version) {
        ObjectNode document = brief(recipe);
        document.put("version", version.version());
        document.set("inputs", version.mission().path("inputs").isObject() ? version.mission().path("inputs")
                : Json.object());
        document.put("updated_by", version.createdBy()).put("updated_at", Json.time(version.createdAt()));
        document.set("mission", version.mission());
        return document;
    }

    static ObjectNode version(RecipeStore.ListedVersion version) {
        return Json.object().put("version", version.version()).put("created_by", version.createdBy())
                .put("created_at", Json.time(version.createdAt()));
    }
}
