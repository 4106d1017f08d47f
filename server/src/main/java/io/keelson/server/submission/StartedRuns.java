package io.keelson.server.submission;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.plan.Problem;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.StepError;
import io.keelson.server.db.Database;
import io.keelson.server.engine.execute.ChildMissions;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.Excerpt;
import io.keelson.server.http.support.Json;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.recipe.Recipe;
import io.keelson.server.recipe.Recipes;
import io.keelson.server.run.read.ScopeReader.Starter;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads what {@code run.start} is given as a mission, or as what is particular to one run of a recipe. */
public final class StartedRuns implements ChildMissions {
    private static final List<String> OWN = List.of("goal", "plan", "output", "config");

    private final RecipeMissions missions;
    private final Tracing tracing;

    /** @param missions reads missions of a workspace */
    public StartedRuns(Database database, Recipes recipes, Function<UUID, MissionReader> missions, Tracing tracing) {
        this.tracing = tracing;
        this.missions = new RecipeMissions(database, recipes, missions);
    }

    @Override
    public Evaluation make(Starter starter, JsonNode input) {
        try {
            RecipeMissions.PreparedMission prepared =
                    input.path("recipe").isString() ? recipe(starter, input) : plan(starter, input);
            return new Evaluation.Starts(input.toString(),
                    prepared.mission().newRun(UuidCreator.getTimeOrderedEpoch(), starter.workspaceId(),
                            starter.createdBy(), null, prepared.origin(),
                            starter.trace().given() == null ? null : tracing.ofRun(starter.trace())),
                    budget(input.path("budget_usd")), input.path("on_parent_close").asString("").equals("abandon"),
                    timeout(input.path("timeout_seconds")));
        } catch (ApiProblem problem) {
            return new Evaluation.Broken(new StepError("CHILD_RUN_INVALID", ErrorClass.PERMANENT,
                    problem.document().path("problems").valueStream().map(StartedRuns::told)
                            .collect(Collectors.joining("; "))));
        }
    }

    private static String told(JsonNode problem) {
        return problem.path("pointer").asString() + ": " + problem.path("message").asString() + " ("
                + problem.path("code").asString() + ")";
    }

    private RecipeMissions.PreparedMission recipe(Starter starter, JsonNode input) {
        String named = input.get("recipe").stringValue();
        Recipe recipe = missions.find(starter.workspaceId(), named).orElseThrow(() -> ApiProblem.of(List.of(new Problem(
                "UNKNOWN_REFERENCE", "/recipe", "the workspace has no recipe '" + Excerpt.piece(named) + "'"))));
        ObjectNode request = request(starter, input);
        request.set("input", input.has("inputs") ? input.get("inputs") : Json.object());
        return missions.draw(recipe, recipe.version(), recipe.mission(), request, "/inputs");
    }

    private RecipeMissions.PreparedMission plan(Starter starter, JsonNode input) {
        ObjectNode document = request(starter, input);
        document.put("name", input.path("name").asString(starter.name()));
        ObjectNode declared = document.putObject("inputs");
        ObjectNode values = document.putObject("input");
        input.path("inputs").properties().forEach(each -> {
            declared.putObject(each.getKey());
            values.set(each.getKey(), each.getValue());
        });
        return missions.read(starter.workspaceId(), document);
    }

    private static ObjectNode request(Starter starter, JsonNode input) {
        ObjectNode request = Json.object().put("trigger", "run.start").put("priority", starter.priority());
        if (input.path("name").isString()) {
            request.set("name", input.get("name"));
        }
        OWN.stream().filter(input::has).forEach(key -> request.set(key, input.get(key)));
        return request;
    }

    private static @Nullable BigDecimal budget(JsonNode number) {
        return number.isNumber() ? number.decimalValue() : null;
    }

    private static @Nullable Duration timeout(JsonNode number) {
        return number.isNumber() ? Duration.ofMillis(Math.round(number.asDouble() * 1000)) : null;
    }
}
