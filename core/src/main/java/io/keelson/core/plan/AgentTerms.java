package io.keelson.core.plan;

import io.keelson.core.policy.CallApprovals;
import java.util.List;
import java.util.Map;
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
 *            agent
 * @param runsOn where its turns are taken
 * @param limits of the task, beside its turns
 * @param approvals rules about persons' approval of its calls
 * @param openWorld its tools whose results come from outside
 * @param refused tools of the agent that the task may not use, with the level that refuses them. {@link #OTHERS} has
 *            the level that refuses all tools in neither list; without it the agent's own list does
 */
public record AgentTerms(@Nullable String type, @Nullable Integer id, @Nullable String slug, @Nullable String model,
        List<String> tools, int maxTurns, List<String> candidates, RunsOn runsOn, TurnLimits limits,
        CallApprovals approvals, List<String> openWorld, Map<String, ToolPolicy.Level> refused) {

    /** The key in {@link #refused} for all other tools. */
    public static final String OTHERS = "*";

    public static final String ROSTER = "roster";
    public static final String CONTRACTOR = "contractor";

    /** Reads parts of results that are too long for a transcript. */
    public static final String READS_RESULTS = "artifact.read";

    /** The tool by which an agent asks a person. The engine itself executes its calls. */
    public static final String ASK = "agent.ask";

    /** The tool by which an agent has another agent of the roster do a task, as a child run. The engine executes its calls. */
    public static final String DELEGATE = "agent.delegate";

    /** The tool by which an agent proposes a change of the plan to people. */
    public static final String PROPOSE = "plan.propose";

    /** The code of a turn that has summarised the turns before it. */
    public static final String TURNS_COMPACTED = "TURNS_COMPACTED";

    /** Tools only for plans: they belong to the engine, or would let an agent's turn make turns. */
    public static final Set<String> NEVER = Set.of(RunsOn.WORKERS.tool(), RunsOn.SERVER.tool(), "approval", "wait",
            "signal.wait", "run.start");

    public AgentTerms {
        tools = List.copyOf(tools);
        candidates = List.copyOf(candidates);
        openWorld = List.copyOf(openWorld);
        refused = Map.copyOf(refused);
    }

    /** Terms without further limits and rules. */
    public AgentTerms(@Nullable String type, @Nullable Integer id, @Nullable String slug, @Nullable String model,
            List<String> tools, int maxTurns, List<String> candidates, RunsOn runsOn) {
        this(type, id, slug, model, tools, maxTurns, candidates, runsOn, TurnLimits.NONE, CallApprovals.NONE,
                List.of(), Map.of());
    }

    /** Terms of an agent whose turns workers take. */
    public AgentTerms(@Nullable String type, @Nullable Integer id, @Nullable String slug, @Nullable String model,
            List<String> tools, int maxTurns, List<String> candidates) {
        this(type, id, slug, model, tools, maxTurns, candidates, RunsOn.WORKERS);
    }

    /** A copy of the terms with those limits. */
    public AgentTerms limited(TurnLimits other) {
        return new AgentTerms(type, id, slug, model, tools, maxTurns, candidates, runsOn, other,
                approvals, openWorld, refused);
    }

    /** A copy of the terms with those approval rules. */
    public AgentTerms ruled(CallApprovals other) {
        return new AgentTerms(type, id, slug, model, tools, maxTurns, candidates, runsOn, limits, other, openWorld,
                refused);
    }

    /** A copy of the terms with those open-world tools. */
    public AgentTerms reaching(List<String> outside) {
        return new AgentTerms(type, id, slug, model, tools, maxTurns, candidates, runsOn, limits, approvals, outside,
                refused);
    }

    /** A copy of the terms without those tools, which the levels refuse. */
    public AgentTerms refusing(Map<String, ToolPolicy.Level> levels) {
        return new AgentTerms(type, id, slug, model, tools.stream().filter(tool -> !levels.containsKey(tool)).toList(),
                maxTurns, candidates, runsOn, limits, approvals, openWorld, levels);
    }

    /**
     * Whether its turns may call the tool. An agent that may call any may read the results of its calls; a contractor
     * does not delegate.
     */
    public boolean allows(String tool) {
        return (tools.contains(tool) || tool.equals(READS_RESULTS) && !tools.isEmpty()) && !NEVER.contains(tool)
                && !(tool.equals(DELEGATE) && CONTRACTOR.equals(type));
    }

    /** The level that refuses the tool; null where its turns may call it. */
    public ToolPolicy.@Nullable Level refusedBy(String tool) {
        return allows(tool) ? null
                : refused.getOrDefault(tool,
                        refused.getOrDefault(OTHERS, ToolPolicy.Level.AGENT));
    }
}
