package io.keelson.server.api.http.definitions;

import io.keelson.api.Absent;
import io.keelson.api.definition.Recipe;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.recipe.RecipeStore;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Recipes as clients see them. */
final class RecipeDocuments {

    private RecipeDocuments() {}

    /** Without its mission; {@code omitted} names the inputs where they are too large. */
    static ObjectNode listed(RecipeStore.Listed listed) {
        RecipeRow recipe = listed.recipe();
        boolean omitted = listed.inputsOmitted();
        return document(recipe, recipe.version(), omitted ? null : inputs(recipe.mission()),
                omitted ? List.of("inputs") : List.of(), recipe.updatedBy(), recipe.updatedAt(), null);
    }

    /** Steps and configuration are displayed as they are stored: rows of the platform may have others. */
    static ObjectNode whole(RecipeRow recipe) {
        ObjectNode document = document(recipe, recipe.version(), inputs(recipe.mission()), null, recipe.updatedBy(),
                recipe.updatedAt(), recipe.mission());
        document.set("steps", recipe.steps());
        document.set("execution_config", recipe.executionConfig());
        return document;
    }

    /** A version of a recipe, without members that only the newest version has. */
    static ObjectNode whole(RecipeRow recipe, RecipeStore.Version version) {
        return document(recipe, version.version(), inputs(version.mission()), null, version.createdBy(),
                version.createdAt(), version.mission());
    }

    private static JsonNode inputs(ObjectNode mission) {
        return mission.path("inputs").isObject() ? mission.path("inputs") : Json.object();
    }

    private static ObjectNode document(RecipeRow recipe, int version, @Nullable JsonNode inputs,
            @Nullable List<String> omitted, @Nullable String updatedBy, Instant updatedAt,
            @Nullable ObjectNode mission) {
        return Json.document(new Recipe(recipe.id().toString(), recipe.workspaceId().toString(), recipe.name(),
                recipe.description(), version, Absent.asNull(inputs), omitted,
                recipe.tags().valueStream().map(tag -> tag.asString("")).toList(), recipe.templateId(),
                Objects.toString(recipe.originatedFrom(), null), recipe.createdBy(), recipe.createdAt(), updatedBy,
                updatedAt, mission, null, null));
    }
}
