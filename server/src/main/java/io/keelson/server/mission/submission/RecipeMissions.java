package io.keelson.server.mission.submission;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.mission.plan.CheckedMission;
import io.keelson.server.mission.plan.MissionCache;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.recipe.RecipeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads requests for runs into missions: given plans, goals, recipes with the values of one run, schedules. */
public final class RecipeMissions {

    /** Members of a mission that only the recipe may set. */
    private static final Set<String> RECIPE_MEMBERS = Set.of("plan", "inputs", "output");
    private static final Pattern ID =
            Pattern.compile("(?:rec_)?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})");

    private final Database database;
    private final RecipeStore recipes;
    private final Function<UUID, MissionReader> missions;
    private final MissionCache cache = new MissionCache();

    /** @param missions the reader of a workspace, which knows the tools of its workers */
    public RecipeMissions(Database database, RecipeStore recipes, Function<UUID, MissionReader> missions) {
        this.database = database;
        this.recipes = recipes;
        this.missions = missions;
    }

    public Optional<RecipeRow> find(UUID workspace, String idOrName) {
        Matcher id = ID.matcher(idOrName);
        return database.withConnection(c -> id.matches() ? recipes.find(c, workspace, UUID.fromString(id.group(1)))
                : recipes.byName(c, workspace, idOrName));
    }

    /** The problem of a document that names a recipe that the workspace does not have. */
    public static PlanProblem unknownRecipe(String named) {
        return new PlanProblem("UNKNOWN_REFERENCE", "/recipe",
                "the workspace has no recipe '" + Excerpt.piece(named) + "'");
    }

    /**
     * Reads a document in the shape of a mission, which may name a recipe instead of a plan.
     *
     * @param document not changed
     */
    public ReadResult<PreparedMission> read(UUID workspace, JsonNode document) {
        if (!document.path("recipe").isString()) {
            Optional<RecipeRow> template = template(workspace, document);
            return template.isPresent() ? ofTemplate(template.get(), (ObjectNode) document)
                    : prepared(withoutTemplate(document, missions.apply(workspace).read(document)), null);
        }
        String named = document.path("recipe").stringValue();
        Optional<RecipeRow> recipe = find(workspace, named);
        return recipe.isEmpty() ? new ReadResult.Invalid<>(List.of(unknownRecipe(named)))
                : ofRecipe(recipe.get(), recipe.get().version(), recipe.get().mission(), (ObjectNode) document,
                        "/input");
    }

    /** The mission of a document that was read before, if it is valid now. */
    public Optional<PreparedMission> known(MissionCache.Key key) {
        return Optional.ofNullable(cache.find(key, missions.apply(key.workspace())))
                .map(mission -> new PreparedMission(mission, null));
    }

    /**
     * Reads a mission from the cache; see {@link #read(UUID, JsonNode)}. {@link #known} then finds it.
     *
     * @param document of the key's bytes
     */
    public ReadResult<PreparedMission> read(MissionCache.Key key, JsonNode document) {
        return document.has("recipe") || asksForTemplate(document) ? read(key.workspace(), document)
                : prepared(cache.read(key, document, missions.apply(key.workspace())), null);
    }

    /** Missions that are known by their documents. */
    public MissionCache cache() {
        return cache;
    }

    /** The recipe for goals of the kind that the document names, where it has neither a plan nor a planner. */
    private Optional<RecipeRow> template(UUID workspace, JsonNode document) {
        return asksForTemplate(document)
                ? database.withConnection(c -> recipes.ofKind(c, workspace, document.get("kind").stringValue()))
                : Optional.empty();
    }

    private static boolean asksForTemplate(JsonNode document) {
        return document.path("kind").isString()
                && (document.path("goal").isString() || document.path("task").isString())
                && !document.has("plan") && !document.has("agent_slug") && !document.path("config").has("planner");
    }

    /**
     * The result without a template: inputs of a goal mostly belong to the template of its kind, which the workspace
     * lacks.
     */
    private static ReadResult<CheckedMission> withoutTemplate(JsonNode document, ReadResult<CheckedMission> result) {
        if (!(result instanceof ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems))
                || !asksForTemplate(document)) {
            return result;
        }
        return new ReadResult.Invalid<>(problems.stream().map(each -> !each.code().equals("INPUT_UNKNOWN") ? each
                : new PlanProblem(each.code(), each.pointer(),
                        each.message() + "; the workspace has no recipe of the kind '"
                                + Excerpt.piece(document.get("kind").stringValue()) + "'"))
                .toList());
    }

    /** A template's plan needs approval, unless the autonomy level of the request, template or workspace says otherwise. */
    private ReadResult<PreparedMission> ofTemplate(RecipeRow recipe, ObjectNode request) {
        ObjectNode mission = recipe.mission().deepCopy();
        mission.remove("name");
        return ofRecipe(missions.apply(recipe.workspaceId())::readOfTemplate, recipe, recipe.version(), mission,
                request,
                "/input");
    }

    /**
     * Reads a request for one run of a recipe. Problems of the recipe itself point to {@code /recipe}.
     *
     * @param mission the recipe's mission in that version
     * @param request members of a mission that are particular to the run; not changed
     * @param input the pointer at which the request has the values of inputs
     */
    public ReadResult<PreparedMission> ofRecipe(RecipeRow recipe, int version, ObjectNode mission, ObjectNode request,
            String input) {
        return ofRecipe(missions.apply(recipe.workspaceId())::read, recipe, version, mission, request, input);
    }

    private static ReadResult<PreparedMission> ofRecipe(Function<JsonNode, ReadResult<CheckedMission>> reader,
            RecipeRow recipe, int version,
            ObjectNode mission, ObjectNode request, String input) {
        List<PlanProblem> problems = new ArrayList<>();
        ObjectNode document = merged(mission, request, problems);
        ReadResult<CheckedMission> result = reader.apply(document);
        if (result instanceof ReadResult.Invalid<CheckedMission>(List<PlanProblem> found)) {
            found.forEach(each -> problems.add(placed(each, recipe, version, request, input)));
        }
        return problems.isEmpty() ? prepared(result, JsonNodeFactory.instance.objectNode()
                .put("recipe_id", recipe.id().toString()).put("recipe_version", version))
                : new ReadResult.Invalid<>(problems);
    }

    /**
     * Reads the mission of a schedule. Pointers refer to the schedule's document.
     *
     * @param recipe the recipe of its runs; null if it has a mission of its own
     * @param inputs values of inputs, by name
     * @param trigger the cause that the run records
     */
    public ReadResult<PreparedMission> ofSchedule(UUID workspace, @Nullable UUID recipe, ObjectNode inputs,
            @Nullable ObjectNode own, String trigger) {
        return ofSchedule(workspace, recipe, inputs, own, trigger, null);
    }

    /**
     * Reads the mission of a schedule or trigger, as {@link #ofSchedule(UUID, UUID, ObjectNode, ObjectNode, String)}.
     *
     * @param priority priority of the run; null for that of the mission
     */
    public ReadResult<PreparedMission> ofSchedule(UUID workspace, @Nullable UUID recipe, ObjectNode inputs,
            @Nullable ObjectNode own, String trigger, @Nullable JsonNode priority) {
        ObjectNode run = JsonNodeFactory.instance.objectNode().put("trigger", trigger);
        if (priority != null) {
            run.set("priority", priority);
        }
        run.set("input", inputs);
        if (recipe != null) {
            Optional<RecipeRow> found = database.withConnection(c -> recipes.find(c, workspace, recipe));
            return found.isEmpty()
                    ? new ReadResult.Invalid<>(
                            List.of(new PlanProblem("RECIPE_NOT_FOUND", "/recipe", "no recipe " + recipe)))
                    : ofRecipe(found.get(), found.get().version(), found.get().mission(), run, "/inputs");
        }
        ObjectNode mission = Objects.requireNonNull(own);
        MissionReader reader = missions.apply(workspace);
        ReadResult<CheckedMission> kept = reader.readRecipe(mission);
        ReadResult<CheckedMission> result =
                kept instanceof ReadResult.Invalid<CheckedMission> ? kept : reader.read(mission.deepCopy().setAll(run));
        return result instanceof ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems)
                ? new ReadResult.Invalid<>(problems.stream().map(RecipeMissions::inSchedule).toList())
                : prepared(result, null);
    }

    private static PlanProblem inSchedule(PlanProblem problem) {
        String pointer = problem.pointer();
        return new PlanProblem(problem.code(), pointer.startsWith("/input/")
                ? "/inputs" + pointer.substring("/input".length())
                : "/mission" + pointer, problem.message());
    }

    private static ObjectNode merged(ObjectNode mission, ObjectNode request, List<PlanProblem> problems) {
        ObjectNode document = mission.deepCopy();
        request.properties().forEach(member -> {
            String key = member.getKey();
            if (RECIPE_MEMBERS.contains(key)) {
                problems.add(new PlanProblem("INVALID_VALUE", "/" + key, "this is the recipe's: change the recipe"));
            } else if (key.equals("config") && member.getValue().isObject() && document.path(key).isObject()) {
                ((ObjectNode) document.get(key)).setAll((ObjectNode) member.getValue());
            } else if (!key.equals("recipe")) {
                document.set(key, member.getValue());
            }
        });
        if (request.has("goal")) {
            document.remove(request.has("task") ? "" : "task");
        } else if (request.has("task")) {
            document.remove("goal");
        }
        return document;
    }

    private static PlanProblem placed(PlanProblem problem, RecipeRow recipe, int version, ObjectNode request,
            String input) {
        String[] path = problem.pointer().split("/", 4);
        if (path.length > 1 && path[1].equals("input")) {
            return new PlanProblem(problem.code(), input + problem.pointer().substring("/input".length()),
                    problem.message());
        }
        boolean asked = path.length < 2 || request.has(path[1])
                && (!path[1].equals("config") || path.length < 3 || request.path("config").has(path[2]));
        return asked ? problem
                : new PlanProblem(problem.code(), "/recipe", "version " + version + " of recipe '"
                        + Excerpt.piece(recipe.name()) + "' at " + problem.pointer() + ": " + problem.message());
    }

    private static ReadResult<PreparedMission> prepared(ReadResult<CheckedMission> result,
            @Nullable ObjectNode origin) {
        return switch (result) {
            case ReadResult.Ok<CheckedMission>(CheckedMission mission) ->
                new ReadResult.Ok<>(new PreparedMission(mission, origin));
            case ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems) -> new ReadResult.Invalid<>(problems);
        };
    }
}
