package io.keelson.core.plan;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * On what terms an agent does a task in turns, as they were when the plan was read: what becomes of the agent later is
 * nothing to a task that has it.
 *
 * @param type {@code roster} or {@code contractor}; null when no agent was chosen and the run's default agent does it
 * @param id of the agent in the roster; null for any other
 * @param slug null when no agent was chosen
 * @param model that the agent is to use; null when neither task nor agent names one
 * @param tools all that its turns may call
 * @param maxTurns at most so many turns, the first included; 0 leaves it to the run's limit
 * @param candidates how the choice was made, a line for each agent that was weighed, the best first; empty when the
 *     plan named the agent
 */
public record AgentTerms(@Nullable String type, @Nullable Integer id, @Nullable String slug, @Nullable String model,
        List<String> tools, int maxTurns, List<String> candidates) {

    public static final String ROSTER = "roster";
    public static final String CONTRACTOR = "contractor";

    /** What only a plan may ask for: these belong to the engine, or would let an agent's turn make turns. */
    public static final Set<String> NEVER = Set.of("agent.turn", "approval", "wait", "signal.wait", "run.start");

    public AgentTerms {
        tools = List.copyOf(tools);
        candidates = List.copyOf(candidates);
    }

    public boolean allows(String tool) {
        return tools.contains(tool) && !NEVER.contains(tool);
    }
}
