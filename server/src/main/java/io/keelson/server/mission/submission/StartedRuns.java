package io.keelson.server.mission.submission;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.StepError;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.execute.ChildMissions;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.execute.TurnText;
import io.keelson.server.engine.store.read.ScopeReader.Caller;
import io.keelson.server.engine.store.read.ScopeReader.Starter;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.recipe.RecipeRow;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Prepares child runs: runs that {@code run.start} steps start, of a mission or a recipe, and runs to which agents
 * delegate tasks.
 */
public final class StartedRuns implements ChildMissions {

    private static final List<String> MISSION_MEMBERS = List.of("goal", "plan", "output", "config");

    private final RecipeMissions missions;
    private final Delegations delegations;
    private final Tracing tracing;

    /** @param roster the agents of a workspace */
    public StartedRuns(RecipeMissions missions, Function<UUID, List<RosterAgent>> roster, Tracing tracing) {
        this.missions = missions;
        this.delegations = new Delegations(roster);
        this.tracing = tracing;
    }

    @Override
    public Evaluation make(Starter starter, boolean untrusted, JsonNode input) {
        ObjectNode request = request(starter, untrusted, input);
        return switch (input.path("recipe").isString() ? recipe(starter, request, input)
                : plan(starter, request, input)) {
            case ReadResult.Ok<PreparedMission>(PreparedMission prepared) -> new Evaluation.Starts(input.toString(),
                    run(starter, prepared),
                    budget(input.path("budget_usd")), input.path("on_parent_close").asString("").equals("abandon"),
                    timeout(input.path("timeout_seconds")));
            case ReadResult.Invalid<PreparedMission>(List<PlanProblem> problems) ->
                broken("CHILD_RUN_INVALID", problems);
        };
    }

    @Override
    public Evaluation delegate(Starter starter, Caller caller, JsonNode call) {
        ReadResult<PreparedMission> read = switch (delegations.mission(starter, caller, call)) {
            case ReadResult.Ok<ObjectNode>(ObjectNode mission) ->
                Delegations.ofCall(missions.read(starter.workspaceId(), mission));
            case ReadResult.Invalid<ObjectNode>(List<PlanProblem> problems) -> new ReadResult.Invalid<>(problems);
        };
        return switch (read) {
            case ReadResult.Ok<PreparedMission>(PreparedMission prepared) -> new Evaluation.Starts(
                    TurnText.literal(call).toString(), run(starter, prepared), budget(call.path("budget_usd")), false,
                    null);
            case ReadResult.Invalid<PreparedMission>(List<PlanProblem> problems) ->
                broken("DELEGATION_INVALID", problems);
        };
    }

    private NewRun run(Starter starter, PreparedMission prepared) {
        return prepared.mission().newRun(UuidCreator.getTimeOrderedEpoch(), starter.workspaceId(), starter.createdBy(),
                null, prepared.origin(), starter.trace().given() == null ? null : tracing.ofRun(starter.trace()));
    }

    private static Evaluation broken(String code, List<PlanProblem> problems) {
        return new Evaluation.Broken(new StepError(code, ErrorClass.PERMANENT,
                problems.stream().map(StartedRuns::line).collect(Collectors.joining("; "))));
    }

    private static String line(PlanProblem problem) {
        return SafeText.clean(problem.pointer()) + ": " + SafeText.clean(problem.message()) + " (" + problem.code()
                + ")";
    }

    private ReadResult<PreparedMission> recipe(Starter starter, ObjectNode request, JsonNode input) {
        String named = input.get("recipe").stringValue();
        Optional<RecipeRow> found = missions.find(starter.workspaceId(), named);
        if (found.isEmpty()) {
            return new ReadResult.Invalid<>(List.of(RecipeMissions.unknownRecipe(named)));
        }
        request.set("input", input.has("inputs") ? input.get("inputs") : JsonNodeFactory.instance.objectNode());
        return missions.ofRecipe(found.get(), found.get().version(), found.get().mission(), request, "/inputs");
    }

    private ReadResult<PreparedMission> plan(Starter starter, ObjectNode document, JsonNode input) {
        document.put("name", input.path("name").asString(starter.name()));
        ObjectNode declared = document.putObject("inputs");
        ObjectNode values = document.putObject("input");
        input.path("inputs").properties().forEach(each -> {
            declared.putObject(each.getKey());
            values.set(each.getKey(), each.getValue());
        });
        return missions.read(starter.workspaceId(), document);
    }

    private static ObjectNode request(Starter starter, boolean untrusted, JsonNode input) {
        ObjectNode request =
                JsonNodeFactory.instance.objectNode().put("trigger", "run.start").put("priority", starter.priority());
        if (input.path("name").isString()) {
            request.set("name", input.get("name"));
        }
        MISSION_MEMBERS.stream().filter(input::has).forEach(key -> request.set(key, input.get(key)));
        if (untrusted && (!input.has("config") || input.get("config").isObject())) {
            ObjectNode config = JsonNodeFactory.instance.objectNode();
            input.path("config").properties().forEach(each -> config.set(each.getKey(), each.getValue()));
            request.set("config", config.put("untrusted_input", true));
        }
        return request;
    }

    private static @Nullable BigDecimal budget(JsonNode number) {
        return number.isNumber() ? number.decimalValue() : null;
    }

    private static @Nullable Duration timeout(JsonNode number) {
        return number.isNumber() ? Duration.ofMillis(Math.round(number.asDouble() * 1000)) : null;
    }
}
