package io.keelson.core.plan;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The terms of an agent's work on a task in turns, fixed when the plan was read; later changes of the agent do not
 * affect the task.
 *
 * @param type {@code roster} or {@code contractor}; null when no agent was chosen and the run's default agent does it
 * @param id of the agent in the roster; null for any other
 * @param slug null when no agent was chosen
 * @param model that the agent is to use; null when neither task nor agent names one
 * @param tools all that its turns may call
 * @param maxTurns maximum turns, the first included; 0 applies the run's limit
 * @param candidates reasons of the choice, a line for each candidate, the best first; empty when the plan named the
 *                   agent
 * @param runsOn where its turns are taken
 */
public record AgentTerms(@Nullable String type, @Nullable Integer id, @Nullable String slug, @Nullable String model,
        List<String> tools, int maxTurns, List<String> candidates, RunsOn runsOn) {

    public static final String ROSTER = "roster";
    public static final String CONTRACTOR = "contractor";

    /** Tools only for plans: they belong to the engine, or would let an agent's turn make turns. */
    public static final Set<String> NEVER = Set.of(RunsOn.WORKERS.tool(), RunsOn.SERVER.tool(), "approval", "wait",
            "signal.wait", "run.start");

    public AgentTerms {
        tools = List.copyOf(tools);
        candidates = List.copyOf(candidates);
    }

    /** Terms of an agent whose turns workers take. */
    public AgentTerms(@Nullable String type, @Nullable Integer id, @Nullable String slug, @Nullable String model,
            List<String> tools, int maxTurns, List<String> candidates) {
        this(type, id, slug, model, tools, maxTurns, candidates, RunsOn.WORKERS);
    }

    public boolean allows(String tool) {
        return tools.contains(tool) && !NEVER.contains(tool);
    }
}
