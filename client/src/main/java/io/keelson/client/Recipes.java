package io.keelson.client;

import io.keelson.api.definition.Recipe;
import io.keelson.api.run.Run;
import io.keelson.client.plan.Mission;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Missions that are kept to be run again. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Recipes {

    private static final String ID = "([a-z]+_)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

    private final Api api;

    Recipes(Api api) {
        this.api = api;
    }

    /** All of them, by name, without their missions. */
    public List<Recipe> list() {
        return Page
                .all(cursor -> Page.of(api.get(RequestPath.of("/recipes").with("cursor", cursor).toString()),
                        Recipe.class));
    }

    /** Reads a recipe with its mission. */
    public Recipe get(String id) {
        return recipe(Call.get(RequestPath.of("/recipes/", id)));
    }

    /** As it was in that version. */
    public Recipe get(String id, int version) {
        return recipe(Call.get(RequestPath.of("/recipes/", id).with("version", version)));
    }

    /** Finds a recipe by name, without its mission; empty if the name is unknown. */
    public Optional<Recipe> byName(String name) {
        return first("name", name);
    }

    /** By name without its mission, or by id; empty when there is none. */
    public Optional<Recipe> find(String nameOrId) {
        if (!nameOrId.matches(ID)) {
            return byName(nameOrId);
        }
        try {
            return Optional.of(get(nameOrId));
        } catch (KeelsonException e) {
            if (e.code().equals("RECIPE_NOT_FOUND")) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** The template for goals of that kind, without its mission; empty when there is none. */
    public Optional<Recipe> ofKind(String kind) {
        return first("kind", kind);
    }

    private Optional<Recipe> first(String parameter, String value) {
        return Page.of(api.get(RequestPath.of("/recipes").with(parameter, value).toString()), Recipe.class).items()
                .stream().findFirst();
    }

    /** Stores a mission under its name; all that is wrong with it is said at once. */
    public Recipe create(Mission mission) {
        return recipe(Call.post("/recipes", mission.toJson()).keyed(null));
    }

    /** Replaces the mission. Creates a new version, unless the mission is unchanged. */
    public Recipe replace(String id, Mission mission) {
        return recipe(Call.put(RequestPath.of("/recipes/", id), mission.toJson()));
    }

    /**
     * Saves a completed run: its plan without its results, its inputs as parameters with its values as defaults.
     *
     * @param name null for the run's; saving a run again under the same name gives the same recipe
     */
    public Recipe save(String run, @Nullable String name) {
        ObjectNode body = Json.object();
        if (name != null) {
            body.put("name", name);
        }
        return recipe(Call.post(RequestPath.of("/runs/", run, "/save-as-recipe"), body).repeatable());
    }

    /**
     * Starts a run of the recipe.
     *
     * @param inputs values by name: any that Jackson can write
     */
    public Run run(String id, Map<String, ?> inputs) {
        return run(id, RecipeRunRequest.of(inputs));
    }

    /** Creates a run of the recipe. It starts at once, unless the request has a start time. */
    public Run run(String id, RecipeRunRequest request) {
        return Json.document(api.send(request.call(id)).body(), Run.class);
    }

    /** Deletes the recipe. Its runs stay. */
    public void delete(String id) {
        api.send(Call.of("DELETE", RequestPath.of("/recipes/", id), null));
    }

    private Recipe recipe(Call call) {
        return Json.document(api.send(call).body(), Recipe.class);
    }
}
