package io.keelson.server.api.http.definitions;

import io.keelson.api.definition.Recipe;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.runs.RunCreateActions;
import io.keelson.server.api.http.runs.RunMission;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.CheckedMission;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.recipe.NewRecipe;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.recipe.RecipeStore;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Recipes: kept, changed, saved from runs, and run. */
public final class RecipeActions {

    private static final String UNIQUE_VIOLATION = "23505";
    private static final String FOREIGN_KEY_VIOLATION = "23503";

    private final RecipeStore recipes;
    private final Database database;
    private final Function<UUID, MissionReader> missions;
    private final RecipeMissions recipeMissions;
    private final RunCreateActions runs;
    private final Reads reads;
    private final Ids ids;
    private final KeyedTransaction keyed;

    public RecipeActions(RecipeStore recipes, Database database, Function<UUID, MissionReader> missions,
            RecipeMissions recipeMissions, RunCreateActions runs, Reads reads, Ids ids, KeyedTransaction keyed) {
        this.recipes = recipes;
        this.database = database;
        this.missions = missions;
        this.recipeMissions = recipeMissions;
        this.runs = runs;
        this.reads = reads;
        this.ids = ids;
        this.keyed = keyed;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/recipes", this::list);
        table.postRaw(Scope.RUNS_WRITE, "/recipes", this::create);
        table.get(Scope.RUNS_READ, "/recipes/{id}", this::show);
        table.putRaw(Scope.RUNS_WRITE, "/recipes/{id}", this::replace);
        table.delete(Scope.RUNS_WRITE, "/recipes/{id}", this::remove);
        table.get(Scope.RUNS_READ, "/recipes/{id}/versions", this::versions);
        table.postRaw(Scope.RUNS_WRITE, "/recipes/{id}/run", this::run);
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/save-as-recipe", Recipe.OfRun.class, this::save);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("recipes");
        String name = query.text("name");
        String kind = query.text("kind");
        String after = cursor.read(query, text -> text);
        int limit = query.limit();
        if (kind != null) {
            Optional<RecipeRow> template = database.withConnection(c -> recipes.ofKind(c, request.workspace(), kind));
            return ApiResponse.ok(Lists.page(template.stream()
                    .filter(each -> name == null || name.equals(each.name()))
                    .map(each -> RecipeDocuments.listed(new RecipeStore.Listed(each, false))).toList(), null));
        }
        Page<RecipeStore.Listed> found = database
                .withConnection(c -> recipes.list(c, request.workspace(), name, after, limit));
        return ApiResponse.ok(Lists.page(found, cursor, listed -> listed.recipe().name(), RecipeDocuments::listed));
    }

    private ApiResponse create(ApiRequest request) throws IOException {
        NewRecipe recipe = checked(request, ids.next(), RunCreateActions.document(request.body()), null);
        return keep(request, recipe);
    }

    private ApiResponse keep(ApiRequest request, NewRecipe recipe) {
        return keyed.answer(request, c -> {
            if (!recipes.insert(c, recipe)) {
                throw nameTaken();
            }
            return ApiResponse.created("/api/v1/recipes/" + recipe.id(),
                    RecipeDocuments.whole(recipes.find(c, request.workspace(), recipe.id()).orElseThrow()));
        });
    }

    private ApiResponse show(ApiRequest request) {
        UUID id = request.id("id", IdKind.RECIPE);
        int version = (int) request.query().integer("version", 0);
        RecipeRow recipe = recipe(request, id);
        return version == 0 || version == recipe.version() ? answer(recipe)
                : ApiResponse.resource(RecipeDocuments.whole(recipe, version(recipe, version)),
                        String.valueOf(version));
    }

    private ApiResponse replace(ApiRequest request) throws IOException {
        UUID id = request.id("id", IdKind.RECIPE);
        recipe(request, id);
        NewRecipe recipe = checked(request, id, RunCreateActions.document(request.body()), null);
        try {
            database.runInTransaction(c -> {
                RecipeRow before = Reads.found(recipes.locked(c, request.workspace(), id), IdKind.RECIPE, id);
                request.requireVersion(String.valueOf(before.version()), RecipeDocuments.whole(before));
                recipes.replace(c, recipe);
            });
        } catch (SqlFailure e) {
            if (e.sqlState().equals(UNIQUE_VIOLATION)) {
                throw nameTaken();
            }
            throw e;
        }
        return answer(recipe(request, id));
    }

    private static ApiResponse answer(RecipeRow recipe) {
        return ApiResponse.resource(RecipeDocuments.whole(recipe), String.valueOf(recipe.version()));
    }

    private ApiResponse remove(ApiRequest request) {
        UUID id = request.id("id", IdKind.RECIPE);
        try {
            if (!database.inTransaction(c -> recipes.delete(c, request.workspace(), id))) {
                throw IdKind.RECIPE.notFound(id);
            }
        } catch (SqlFailure e) {
            if (e.sqlState().equals(FOREIGN_KEY_VIOLATION)) {
                throw ApiProblem.of(ErrorCode.RECIPE_IN_USE, "a schedule or trigger uses the recipe; delete it first");
            }
            throw e;
        }
        return ApiResponse.empty(204);
    }

    private ApiResponse versions(ApiRequest request) {
        UUID id = request.id("id", IdKind.RECIPE);
        Query query = request.query();
        ListCursor cursor = new ListCursor("recipe versions " + id);
        Integer before = cursor.read(query, Integer::valueOf);
        int limit = query.limit();
        recipe(request, id);
        Page<Recipe.Version> found = database.withConnection(c -> recipes.versions(c, request.workspace(),
                id, before == null ? Integer.MAX_VALUE : before, limit));
        return ApiResponse.ok(Lists.page(found, cursor, version -> String.valueOf(version.version())));
    }

    private ApiResponse run(ApiRequest apiRequest) throws IOException, InterruptedException {
        UUID id = apiRequest.id("id", IdKind.RECIPE);
        RecipeRow recipe = recipe(apiRequest, id);
        JsonNode body =
                apiRequest.body().bytes().length == 0 ? Json.object() : RunCreateActions.document(apiRequest.body());
        if (!(body instanceof ObjectNode request)) {
            throw ApiProblem.of(List.of(new PlanProblem("WRONG_TYPE", "", "the body must be an object")));
        }
        JsonNode version = request.remove("version");
        if (version != null && (!version.isInt() || version.intValue() < 1)) {
            throw ApiProblem
                    .of(List.of(new PlanProblem("INVALID_VALUE", "/version", "must be the number of a version")));
        }
        int number = version == null ? recipe.version() : version.intValue();
        ObjectNode mission = number == recipe.version() ? recipe.mission() : version(recipe, number).mission();
        return runs.run(apiRequest,
                () -> recipeMissions.ofRecipe(recipe, number, mission, asMission(request), "/inputs"));
    }

    /** Renames the input values to {@code inputs}, and starts the run at once by default. */
    private static ObjectNode asMission(ObjectNode request) {
        ObjectNode mission = request.deepCopy();
        JsonNode inputs = mission.remove("inputs");
        if (inputs != null) {
            mission.set("input", inputs);
        }
        if (!mission.has("start")) {
            mission.put("start", true);
        }
        return mission;
    }

    private ApiResponse save(ApiRequest request, Recipe.OfRun body) {
        UUID run = request.id("id", IdKind.RUN);
        String name = body.name();
        ObjectNode row = reads.read((all, c) -> Reads.found(all.mission(c, request.workspace(), run), IdKind.RUN, run));
        String state = row.path("state").asString("");
        if (!state.equals(RunState.COMPLETED.wire())) {
            throw ApiProblem.of(ErrorCode.INVALID_STATE_TRANSITION,
                    "only a run that has completed can be saved as a recipe").with("current_state", state);
        }
        ObjectNode mission = RunMission.of(row);
        if (mission.path("plan") instanceof ObjectNode plan) {
            plan.put("version", 1);
            plan.path("tasks").forEach(RecipeActions::keepAgent);
        }
        if (name != null) {
            mission.put("name", name);
        }
        NewRecipe recipe = checked(request, ids.next(), mission, lineage(run, row));
        RecipeRow there = recipeMissions.find(request.workspace(), mission.path("name").asString("")).orElse(null);
        return there != null && run.equals(there.originatedFrom()) ? ApiResponse.ok(RecipeDocuments.whole(there))
                : keep(request, recipe);
    }

    /** The agent of the roster or the contractor that was chosen does the task in runs of the recipe, too. */
    private static void keepAgent(JsonNode task) {
        JsonNode assigned = task.path("assigned_agent");
        if (!(task instanceof ObjectNode object) || task.has("suggested_agent") || !assigned.isObject()) {
            return;
        }
        ObjectNode suggested = object.putObject("suggested_agent").put("type", assigned.path("type").asString());
        if (assigned.path("agent_id").isInt()) {
            suggested.set("agent_id", assigned.path("agent_id"));
        }
    }

    private static NewRecipe.Lineage lineage(UUID run, ObjectNode row) {
        return new NewRecipe.Lineage(run, row.path("total_cost").decimalValue(), row.path("total_tokens").asLong(),
                row.path("duration_ms").asLong(0), row.path("completed_at").asString());
    }

    private NewRecipe checked(ApiRequest request, UUID id, JsonNode document, NewRecipe.@Nullable Lineage from) {
        return switch (missions.apply(request.workspace()).readRecipe(document)) {
            case ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems) -> throw ApiProblem.of(problems);
            case ReadResult.Ok<CheckedMission>(CheckedMission mission) -> {
                if (IdKind.RECIPE.parse(mission.name()) != null) {
                    throw ApiProblem
                            .of(List.of(new PlanProblem("INVALID_VALUE", "/name", "a name may not look like an id")));
                }
                ObjectNode kept = ((ObjectNode) document).deepCopy().put("name", mission.name());
                kept.remove("$schema");
                yield new NewRecipe(id, request.workspace(), kept, from, String.valueOf(request.actor().id()));
            }
        };
    }

    private RecipeRow recipe(ApiRequest request, UUID id) {
        return Reads.found(database.withConnection(c -> recipes.find(c, request.workspace(), id)), IdKind.RECIPE, id);
    }

    private RecipeStore.Version version(RecipeRow recipe, int version) {
        return database.withConnection(c -> recipes.version(c, recipe.workspaceId(), recipe.id(), version))
                .orElseThrow(() -> ApiProblem.of(ErrorCode.RECIPE_VERSION_NOT_FOUND, "the recipe has versions 1 to "
                        + recipe.version()));
    }

    private static ApiProblem nameTaken() {
        return ApiProblem.of(ErrorCode.RECIPE_NAME_TAKEN, "another recipe of the workspace has this name")
                .with("pointer", "/name");
    }
}
