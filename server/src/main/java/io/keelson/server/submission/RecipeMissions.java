package io.keelson.server.submission;

import io.keelson.core.plan.Problem;
import io.keelson.server.db.Database;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.Excerpt;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Json;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.plan.ReadResult;
import io.keelson.server.recipe.Recipe;
import io.keelson.server.recipe.Recipes;
import io.keelson.server.schedule.ScheduleSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A recipe, and what a request says of one run of it, made into a mission. */
public final class RecipeMissions {
    /** What a run of a recipe cannot have otherwise. */
    private static final Set<String> THE_RECIPES = Set.of("plan", "inputs", "output");

    private final Database database;
    private final Recipes recipes;
    private final Function<UUID, MissionReader> missions;

    public RecipeMissions(Database database, Recipes recipes, Function<UUID, MissionReader> missions) {
        this.database = database;
        this.recipes = recipes;
        this.missions = missions;
    }

    /**
     * A mission that is to become a run.
     *
     * @param origin what it was made of; null for nothing that is kept
     */
    public record PreparedMission(Mission mission, @Nullable ObjectNode origin) {}

    public Optional<Recipe> find(UUID workspace, String idOrName) {
        UUID id = IdKind.RECIPE.parse(idOrName);
        return database.withConnection(c -> id == null ? recipes.byName(c, workspace, idOrName)
                : recipes.find(c, workspace, id));
    }

    /**
     * What is asked for in the shape of a mission, which may name a recipe in the place of a plan.
     *
     * @param document not changed
     * @throws ApiProblem listing all that is wrong
     */
    public PreparedMission read(UUID workspace, JsonNode document) {
        if (!document.path("recipe").isString()) {
            Optional<Recipe> template = template(workspace, document);
            if (template.isPresent()) {
                return ofTemplate(template.get(), (ObjectNode) document);
            }
            return new PreparedMission(value(withoutTemplate(document, missions.apply(workspace).read(document))),
                    null);
        }
        String named = document.path("recipe").stringValue();
        Recipe recipe = find(workspace, named).orElseThrow(() -> ApiProblem.of(List.of(new Problem("UNKNOWN_REFERENCE",
                "/recipe", "the workspace has no recipe '" + Excerpt.piece(named) + "'"))));
        return draw(recipe, recipe.version(), recipe.mission(), (ObjectNode) document, "/input");
    }

    /** The recipe for goals of the kind that the document names, where it has neither a plan nor a planner. */
    private Optional<Recipe> template(UUID workspace, JsonNode document) {
        return asksForTemplate(document)
                ? database.withConnection(c -> recipes.ofKind(c, workspace, document.get("kind").stringValue()))
                : Optional.empty();
    }

    private static boolean asksForTemplate(JsonNode document) {
        return document.path("kind").isString()
                && (document.path("goal").isString() || document.path("task").isString())
                && !document.has("plan") && !document.has("agent_slug") && !document.path("config").has("planner");
    }

    /** Inputs of a goal are mostly those of the template that its kind names, and that the workspace does not have. */
    private static ReadResult<Mission> withoutTemplate(JsonNode document, ReadResult<Mission> result) {
        if (!(result instanceof ReadResult.Invalid<Mission>(List<Problem> problems)) || !asksForTemplate(document)) {
            return result;
        }
        return new ReadResult.Invalid<>(problems.stream().map(each -> !each.code().equals("INPUT_UNKNOWN") ? each
                : new Problem(each.code(), each.pointer(),
                        each.message() + "; the workspace has no recipe of the kind '"
                                + Excerpt.piece(document.get("kind").stringValue()) + "'"))
                .toList());
    }

    /** A plan that nobody asked for by its name is put before a human, unless the level says otherwise (lifecycle §1). */
    private PreparedMission ofTemplate(Recipe recipe, ObjectNode request) {
        ObjectNode mission = recipe.mission().deepCopy();
        mission.remove("name");
        JsonNode config = request.path("config").isMissingNode() ? Json.object() : request.get("config");
        ObjectNode asked = request.deepCopy();
        if (config.isObject()) {
            JsonNode autonomy = config.has("autonomy") ? config.get("autonomy")
                    : mission.path("config").path("autonomy");
            if (autonomy.isMissingNode() || autonomy.isObject()) {
                ObjectNode settled = autonomy.isObject() ? (ObjectNode) autonomy.deepCopy() : Json.object();
                settled.putIfAbsent("level", JsonNodeFactory.instance.stringNode("approve"));
                if (settled.path("level").asString("").equals("autonomous")) {
                    settled.putIfAbsent("auto_approve_threshold", JsonNodeFactory.instance.numberNode(0));
                }
                asked.set("config", ((ObjectNode) config.deepCopy()).set("autonomy", settled));
            }
        }
        return draw(recipe, recipe.version(), mission, asked, "/input");
    }

    /**
     * One run of a recipe.
     *
     * @param mission the recipe's, as it was in that version
     * @param request what is particular to the run, in the members of a mission; not changed
     * @param input where the request has the values of inputs
     * @throws ApiProblem listing all that is wrong; what the recipe itself says is pointed at as {@code /recipe}
     */
    public PreparedMission draw(Recipe recipe, int version, ObjectNode mission, ObjectNode request, String input) {
        List<Problem> problems = new ArrayList<>();
        ObjectNode document = merged(mission, request, problems);
        ReadResult<Mission> result = missions.apply(recipe.workspaceId()).read(document);
        if (result instanceof ReadResult.Invalid<Mission>(List<Problem> found)) {
            found.forEach(each -> problems.add(placed(each, recipe, version, request, input)));
        }
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
        return new PreparedMission(value(result), Json.object().put("recipe_id", recipe.id().toString())
                .put("recipe_version", version));
    }

    /**
     * What a schedule makes runs of.
     *
     * @param trigger what its run says that it was caused by
     * @throws ApiProblem listing all that is wrong, in the places of the schedule's document
     */
    public PreparedMission draw(UUID workspace, ScheduleSpec spec, String trigger) {
        ObjectNode run = Json.object().put("trigger", trigger);
        run.set("input", spec.inputs());
        UUID recipe = spec.recipe();
        if (recipe != null) {
            Recipe found = database.withConnection(c -> recipes.find(c, workspace, recipe))
                    .orElseThrow(() -> IdKind.RECIPE.notFound(recipe));
            return draw(found, found.version(), found.mission(), run, "/inputs");
        }
        ObjectNode mission = Objects.requireNonNull(spec.mission());
        List<Problem> problems = new ArrayList<>();
        if (missions.apply(workspace).readRecipe(mission) instanceof ReadResult.Invalid<Mission>(List<Problem> found)) {
            problems.addAll(found);
        } else if (missions.apply(workspace).read(
                mission.deepCopy().setAll(run)) instanceof ReadResult.Invalid<Mission>(List<Problem> found)) {
            problems.addAll(found);
        }
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems.stream()
                    .map(each -> new Problem(each.code(), each.pointer().startsWith("/input/")
                            ? "/inputs" + each.pointer().substring("/input".length())
                            : "/mission" + each.pointer(), each.message()))
                    .toList());
        }
        return new PreparedMission(value(missions.apply(workspace).read(mission.deepCopy().setAll(run))), null);
    }

    private static ObjectNode merged(ObjectNode mission, ObjectNode request, List<Problem> problems) {
        ObjectNode document = mission.deepCopy();
        request.properties().forEach(member -> {
            String key = member.getKey();
            if (THE_RECIPES.contains(key)) {
                problems.add(new Problem("INVALID_VALUE", "/" + key, "this is the recipe's: change the recipe"));
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

    private static Problem placed(Problem problem, Recipe recipe, int version, ObjectNode request,
            String input) {
        String[] path = problem.pointer().split("/", 4);
        if (path.length > 1 && path[1].equals("input")) {
            return new Problem(problem.code(), input + problem.pointer().substring("/input".length()),
                    problem.message());
        }
        boolean asked = path.length < 2 || request.has(path[1])
                && (!path[1].equals("config") || path.length < 3 || request.path("config").has(path[2]));
        return asked ? problem
                : new Problem(problem.code(), "/recipe", "version " + version + " of recipe '"
                        + Excerpt.piece(recipe.name()) + "' at " + problem.pointer() + ": " + problem.message());
    }

    private static Mission value(ReadResult<Mission> result) {
        return switch (result) {
            case ReadResult.Ok<Mission>(Mission mission) -> mission;
            case ReadResult.Invalid<Mission>(List<Problem> problems) -> throw ApiProblem.of(problems);
        };
    }
}
