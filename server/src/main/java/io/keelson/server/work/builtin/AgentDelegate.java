package io.keelson.server.work.builtin;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;

/**
 * {@code agent.delegate}: an agent has another agent do a task, as a child run. The engine executes such calls of agents; a
 * plan has {@code run.start} instead.
 */
final class AgentDelegate implements Tool {

    private static final ToolSpec SPEC = Specs.spec(AgentTerms.DELEGATE, Effects.ONCE,
            "Has another agent of the roster do a task, waits for its end and returns its output. The other agent sees only"
                    + " the task and the inputs, and has at most the tools of the agent that delegates. For agents only.",
            """
            {"type": "object", "additionalProperties": false, "required": ["agent", "task", "budget_usd"], "properties": {
              "agent": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Slug or name of the other agent"},
              "task": {"type": "string", "minLength": 1, "maxLength": 20000,
                "description": "What it is to do, with all that it needs to know"},
              "inputs": {"type": "object", "description": "Values for the task, by name"},
              "budget_usd": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000000000,
                "description": "The most that the task may cost; never more than what this run has left"}}}""",
            "{\"description\": \"the output of the other agent's task\"}");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        throw ToolFailure.permanent("ONLY_FOR_AGENTS",
                "agent.delegate is called by agents; a plan starts a run by a run.start step");
    }
}
