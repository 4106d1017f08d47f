package io.keelson.api.definition;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Creates or replaces an agent of the roster.
 *
 * @param slug 1 to 100 small letters, digits and '-', with a letter among them; unique in the workspace, never changed.
 *     A new agent requires it
 * @param name the slug if absent
 * @param description for people
 * @param model the model for its turns
 * @param instructions given to it with each turn
 * @param tools all that its turns may call
 * @param capabilities the types of tasks that it is good at
 * @param limits limits of each task of the agent
 * @param runsOn where its turns are executed; if absent, in the server if its model is configured there, else in workers
 */
@Request
public record AgentDefinition(
        @Nullable @Text(pattern = "^([a-z]|[0-9][0-9-]*[a-z])[a-z0-9-]*$", max = 100) String slug,
        @Nullable @Text(format = "name", max = 200) String name, @Nullable @Text(max = 20_000) String description,
        @Nullable @Text(max = 200) String model, @Nullable @Text(max = 20_000) String instructions,
        @Default("[]") @Size(max = 200) List<@Text(pattern = "^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$") String> tools,
        @Default("[]") @Size(max = 8) List<@OneOf({
                "research", "analysis", "writing", "coding", "verification",
                "review", "synthesis", "other"}) String> capabilities,
        @Nullable Limits limits, @Nullable @OneOf({"server", "workers"}) String runsOn) {

    /**
     * Limits of each task of the agent.
     *
     * @param maxTurns maximum number of turns of one task; the run's setting if absent
     * @param approvals by tool, a rule or several: which calls wait for a person
     */
    @Request
    public record Limits(@Nullable @Range(min = 1, max = 1000) Integer maxTurns,
            @Default("{}") @Ref("CallApprovals") Map<String, JsonNode> approvals) {}
}
