package io.keelson.server.http;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.Problem;
import io.keelson.core.run.Ids;
import io.keelson.server.auth.Scope;
import io.keelson.server.db.Database;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.plan.Reading;
import io.keelson.server.recipe.NewRecipe;
import io.keelson.server.recipe.Recipe;
import io.keelson.server.recipe.Recipes;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Recipes: kept, changed, saved from runs, and run. */
final class RecipeActions {

    private static final int MAX_NAME = 200;
    private static final int MAX_VERSION = Integer.MAX_VALUE - 1;
    private static final String UNIQUE_VIOLATION = "23505";
    private static final String FOREIGN_KEY_VIOLATION = "23503";

    private final Recipes recipes;
    private final Database database;
    private final Function<UUID, MissionReader> missions;
    private final RecipeMissions drawing;
    private final RunCreation runs;
    private final Reads reads;
    private final Ids ids;
    private final KeyedTransaction keyed;

    RecipeActions(Recipes recipes, Database database, Function<UUID, MissionReader> missions, RecipeMissions drawing,
            RunCreation runs, Reads reads, Ids ids, KeyedTransaction keyed) {
        this.recipes = recipes;
        this.database = database;
        this.missions = missions;
        this.drawing = drawing;
        this.runs = runs;
        this.reads = reads;
        this.ids = ids;
        this.keyed = keyed;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/recipes", this::list);
        table.post(Scope.RUNS_WRITE, "/recipes", this::create);
        table.get(Scope.RUNS_READ, "/recipes/{id}", this::show);
        table.put(Scope.RUNS_WRITE, "/recipes/{id}", this::replace);
        table.delete(Scope.RUNS_WRITE, "/recipes/{id}", this::remove);
        table.get(Scope.RUNS_READ, "/recipes/{id}/versions", this::versions);
        table.post(Scope.RUNS_WRITE, "/recipes/{id}/run", this::run);
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/save-as-recipe", this::save);
    }

    private Answer list(Call call) {
        Query query = call.query();
        Cursor cursor = new Cursor("recipes");
        String name = query.text("name");
        String after = cursor.read(query, text -> text);
        int limit = query.limit();
        query.done();
        List<Recipe> found = database
                .withConnection(c -> recipes.list(c, call.workspace(), name, after, limit + 1));
        String next = found.size() <= limit ? null : cursor.write(found.get(limit - 1).name());
        return Answer.ok(Lists.page(found.stream().limit(limit).map(RecipeDocuments::brief).toList(), next));
    }

    private Answer create(Call call) throws IOException {
        call.query().done();
        NewRecipe recipe = checked(call, ids.next(), RunCreation.document(call.body()), null);
        return keep(call, recipe);
    }

    private Answer keep(Call call, NewRecipe recipe) {
        return keyed.answer(call, c -> {
            if (!recipes.insert(c, recipe)) {
                throw nameTaken();
            }
            return Answer.created("/api/v1/recipes/" + recipe.id(),
                    RecipeDocuments.whole(recipes.find(c, call.workspace(), recipe.id()).orElseThrow()));
        });
    }

    private Answer show(Call call) {
        UUID id = call.id("id", IdKind.RECIPE);
        int version = (int) call.query().integer("version", 1, MAX_VERSION, 0);
        call.query().done();
        Recipe recipe = recipe(call, id);
        return Answer.resource(version == 0 || version == recipe.version() ? RecipeDocuments.whole(recipe)
                : RecipeDocuments.whole(recipe, version(recipe, version)));
    }

    private Answer replace(Call call) throws IOException {
        call.query().done();
        UUID id = call.id("id", IdKind.RECIPE);
        recipe(call, id);
        NewRecipe recipe = checked(call, id, RunCreation.document(call.body()), null);
        try {
            database.runInTransaction(c -> recipes.replace(c, recipe));
        } catch (SqlFailure e) {
            if (e.sqlState().equals(UNIQUE_VIOLATION)) {
                throw nameTaken();
            }
            throw e;
        }
        return Answer.ok(RecipeDocuments.whole(recipe(call, id)));
    }

    private Answer remove(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        UUID id = call.id("id", IdKind.RECIPE);
        try {
            if (!database.inTransaction(c -> recipes.delete(c, call.workspace(), id))) {
                throw IdKind.RECIPE.notFound(id);
            }
        } catch (SqlFailure e) {
            if (e.sqlState().equals(FOREIGN_KEY_VIOLATION)) {
                throw Refusal.of(ErrorCode.RECIPE_IN_USE, "a schedule makes runs of it: delete the schedule first");
            }
            throw e;
        }
        return Answer.empty(204);
    }

    private Answer versions(Call call) {
        UUID id = call.id("id", IdKind.RECIPE);
        Query query = call.query();
        Cursor cursor = new Cursor("recipe versions " + id);
        Integer before = cursor.read(query, Integer::valueOf);
        int limit = query.limit();
        query.done();
        recipe(call, id);
        List<Recipes.Version> found = database.withConnection(c -> recipes.versions(c, call.workspace(), id,
                before == null ? Integer.MAX_VALUE : before, limit + 1));
        String next = found.size() <= limit ? null : cursor.write(String.valueOf(found.get(limit - 1).version()));
        return Answer.ok(Lists.page(found.stream().limit(limit).map(RecipeDocuments::version).toList(), next));
    }

    private Answer run(Call call) throws IOException, InterruptedException {
        call.query().done();
        UUID id = call.id("id", IdKind.RECIPE);
        Recipe recipe = recipe(call, id);
        JsonNode body = call.body().bytes().length == 0 ? Json.object() : RunCreation.document(call.body());
        if (!(body instanceof ObjectNode request)) {
            throw Refusal.of(List.of(new Problem("WRONG_TYPE", "", "the body must be an object")));
        }
        JsonNode version = request.remove("version");
        if (version != null && (!version.isInt() || version.intValue() < 1)) {
            throw Refusal.of(List.of(new Problem("INVALID_VALUE", "/version", "must be the number of a version")));
        }
        int number = version == null ? recipe.version() : version.intValue();
        ObjectNode mission = number == recipe.version() ? recipe.mission() : version(recipe, number).mission();
        return runs.run(call, drawing.draw(recipe, number, mission, asMission(request), "/inputs"));
    }

    /** The values of inputs are called so here, and it starts at once unless it is told otherwise. */
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

    private Answer save(Call call) throws IOException {
        call.query().done();
        UUID run = call.id("id", IdKind.RUN);
        Fields fields = call.fields();
        String name = fields.optionalText("name", MAX_NAME);
        fields.done();
        ObjectNode row = reads.read((all, c) -> Reads.found(all.mission(c, call.workspace(), run), IdKind.RUN, run));
        String state = row.path("state").asString("");
        if (!state.equals(RunState.COMPLETED.wire())) {
            throw Refusal.of(ErrorCode.INVALID_STATE_TRANSITION,
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
        NewRecipe recipe = checked(call, ids.next(), mission, lineage(run, row));
        Recipe there = drawing.find(call.workspace(), mission.path("name").asString("")).orElse(null);
        return there != null && run.equals(there.originatedFrom()) ? Answer.ok(RecipeDocuments.whole(there))
                : keep(call, recipe);
    }

    /** An agent of the roster that was chosen does the task in runs of the recipe, too (PRD-101 §7.4.3). */
    private static void keepAgent(JsonNode task) {
        JsonNode assigned = task.path("assigned_agent");
        if (task instanceof ObjectNode object && !task.has("suggested_agent")
                && assigned.path("type").asString("").equals("roster")) {
            object.putObject("suggested_agent").put("type", "roster").set("agent_id", assigned.path("agent_id"));
        }
    }

    private static NewRecipe.Lineage lineage(UUID run, ObjectNode row) {
        return new NewRecipe.Lineage(run, row.path("total_cost").decimalValue(), row.path("total_tokens").asLong(),
                row.path("duration_ms").asLong(0), row.path("completed_at").asString());
    }

    private NewRecipe checked(Call call, UUID id, JsonNode document, NewRecipe.@Nullable Lineage from) {
        return switch (missions.apply(call.workspace()).readRecipe(document)) {
            case Reading.Refused<Mission>(List<Problem> problems) -> throw Refusal.of(problems);
            case Reading.Done<Mission>(Mission mission) -> {
                if (IdKind.RECIPE.parse(mission.name()) != null) {
                    throw Refusal.of(List.of(new Problem("INVALID_VALUE", "/name", "a name may not look like an id")));
                }
                ObjectNode kept = ((ObjectNode) document).deepCopy().put("name", mission.name());
                kept.remove("$schema");
                yield new NewRecipe(id, call.workspace(), kept, from, String.valueOf(call.actor().id()));
            }
        };
    }

    private Recipe recipe(Call call, UUID id) {
        return Reads.found(database.withConnection(c -> recipes.find(c, call.workspace(), id)), IdKind.RECIPE, id);
    }

    private Recipes.Version version(Recipe recipe, int version) {
        return database.withConnection(c -> recipes.version(c, recipe.workspaceId(), recipe.id(), version))
                .orElseThrow(() -> Refusal.of(ErrorCode.RECIPE_VERSION_NOT_FOUND, "the recipe has versions 1 to "
                        + recipe.version()));
    }

    private static Refusal nameTaken() {
        return Refusal.of(ErrorCode.RECIPE_NAME_TAKEN, "another recipe of the workspace has this name")
                .with("pointer", "/name");
    }
}
