package io.keelson.server.work.builtin;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.AgentQuestions;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;

/** {@code agent.ask}: an agent asks a person. The engine executes such calls of agents; a plan has approvals instead. */
final class AgentAsk implements Tool {

    private static final ToolSpec SPEC = Specs.spec(AgentTerms.ASK, Effects.READ,
            "Asks a person a question and waits for the answer, which may take days. For agents only.",
            AgentQuestions.SCHEMA.toString(),
            "{\"description\": \"the person's answer\"}");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        throw ToolFailure.permanent("ONLY_FOR_AGENTS",
                "agent.ask is called by agents; a plan asks by an approval step");
    }
}
