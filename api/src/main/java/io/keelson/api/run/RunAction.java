package io.keelson.api.run;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.MaxCharacters;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Requests of people that change a run. */
public final class RunAction {

    private RunAction() {}

    /**
     * Changes the budget of a run.
     *
     * @param hardLimitUsd limit of the charges of all attempts together; unchanged if absent
     * @param softLimitUsd amount at which one warning is sent; unchanged if absent
     * @param tasks new budgets in credits, by the ids in the plan of tasks that have one; the others keep theirs
     */
    @Request
    public record Budget(@Nullable @Range(min = 0, max = 1_000_000_000, decimals = 6) BigDecimal hardLimitUsd,
            @Nullable @Range(min = 0, max = 1_000_000_000, decimals = 6) BigDecimal softLimitUsd,
            @Default("{}") Map<@Text(max = 200) String, @Ref("PositiveAmount") BigDecimal> tasks) {}

    /**
     * Starts the next attempt.
     *
     * @param from {@code failed} carries over completed tasks with their outputs; {@code start} begins again
     */
    @Request
    public record Retry(@Default("failed") @OneOf({"failed", "start"}) String from) {}

    /**
     * Approves a plan.
     *
     * @param reason stored with the decision
     * @param plan the plan to approve instead, as in a mission
     */
    @Request
    public record PlanApproval(@Nullable @Text(max = 2000) String reason, @Nullable ObjectNode plan) {}

    /**
     * Sends a signal.
     *
     * @param payload any JSON, at most 65,536 characters; null if absent
     */
    @Request
    public record Signal(@Nullable @MaxCharacters(65_536) JsonNode payload) {}

    /**
     * Forks a run.
     *
     * @param task id of the task in the plan; {@code TASK#7} begins with round 7 of a task with {@code repeat}
     * @param turn the first turn of the task that is taken again, by its number in the transcript; the task must have ended
     * @param overrides differences of the task's agent from the run
     * @param inputs values of inputs, by name
     * @param calls {@code live}: calls of the task are made. {@code recorded}: they have the results that they had in the run;
     *     the task must have ended and have turns
     * @param taskOnly whether the fork has the task and the tasks it depends on only, which must have completed. It has no
     *     hooks, acceptance, ladder, new plans and checks by people
     * @param name name of the new run; the name of the source if absent
     */
    @Request
    public record Fork(@Text(format = "name", pattern = "\\S", max = 200) String task,
            @Nullable @Range(min = 1, max = 100_000) Integer turn, @Nullable Overrides overrides,
            @Nullable ObjectNode inputs, @Default("live") @OneOf({
                    "live", "recorded"}) String calls,
            @Default("false") boolean taskOnly, @Nullable @Text(format = "name", max = 200) String name) {

        /** Whether calls have the results that they had in the source. */
        public boolean recorded() {
            return calls.equals("recorded");
        }
    }

    /**
     * Differences of a task's agent from the run.
     *
     * @param model model of its turns
     * @param instructions instructions for the model
     * @param tools names of its tools
     */
    @Request
    public record Overrides(@Nullable @Text(format = "name", pattern = "\\S", max = 200) String model,
            @Nullable @Text(max = 20_000) String instructions,
            @Nullable @Size(max = 200) List<@Text(format = "name", pattern = "\\S", max = 200) String> tools) {}

    /**
     * Creates a run of one task that one agent executes in turns.
     *
     * @param agentSlug slug of an agent of the roster
     * @param goal the goal of the task; exactly one of goal and task is given
     * @param task alias of {@code goal}
     * @param inputs values that the agent gets with each turn
     * @param name the run's name, as in a mission
     * @param description the run's description, as in a mission
     * @param config the run's configuration, as in a mission
     * @param priority the run's priority, as in a mission
     * @param trigger the run's trigger, as in a mission
     * @param tags the run's tags, as in a mission
     * @param externalId the run's external id, as in a mission
     * @param externalIdPolicy the policy for an external id that is in use, as in a mission
     */
    @Request
    public record OfAgent(@Text(pattern = "\\S", max = 255) String agentSlug,
            @Nullable @Text(max = 100_000) String goal,
            @Nullable @Text(max = 100_000) String task, @Nullable ObjectNode inputs, @Nullable JsonNode name,
            @Nullable JsonNode description, @Nullable JsonNode config, @Nullable JsonNode priority,
            @Nullable JsonNode trigger, @Nullable JsonNode tags, @Nullable JsonNode externalId,
            @Nullable JsonNode externalIdPolicy) {}
}
