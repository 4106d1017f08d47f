package io.keelson.core.plan;

import io.keelson.core.policy.CallApprovals;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An agent that can receive tasks, with the current facts for a choice.
 *
 * @param slug unique in its workspace
 * @param model null when it names none
 * @param instructions for its turns; null if absent
 * @param tools all that its turns may call
 * @param capabilities kinds of tasks that it does well
 * @param maxTurns maximum turns of a task; 0 applies the run's limit
 * @param runsOn where its turns are taken; null leaves it to its model
 * @param approvals its rules about persons' approval of its calls
 * @param open its tasks that have not ended
 * @param price of its model, credits for a million tokens of input and a million of output; null when there is none
 * @param history by type of task: how many percent of its latest {@link #LATEST} ended tasks were completed; none without
 *                any
 */
public record RosterAgent(int id, String slug, String name, @Nullable String model, @Nullable String instructions,
        List<String> tools, List<String> capabilities, int maxTurns, @Nullable RunsOn runsOn,
        CallApprovals approvals, int open, @Nullable BigDecimal price, Map<String, Integer> history) {

    /** Maximum number of ended tasks that are looked at. */
    public static final int LATEST = 20;

    public RosterAgent {
        tools = List.copyOf(tools);
        history = Map.copyOf(history);
        capabilities = List.copyOf(capabilities);
    }

    /** A copy of the agent with one more open task. */
    public RosterAgent busier() {
        return new RosterAgent(id, slug, name, model, instructions, tools, capabilities, maxTurns, runsOn, approvals,
                open + 1, price, history);
    }
}
