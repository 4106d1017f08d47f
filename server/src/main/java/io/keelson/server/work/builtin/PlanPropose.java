package io.keelson.server.work.builtin;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.policy.Effects;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.Proposed;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** {@code plan.propose}: an agent proposes work to people that the plan does not have. Only an acceptance changes the plan. */
final class PlanPropose implements Tool {

    private static final ToolSpec SPEC = Specs.spec(AgentTerms.PROPOSE, Effects.IDEMPOTENT,
            "Proposes to people a change of the plan, such as work that it lacks. The plan stays as it is; a person decides.",
            """
            {"type": "object", "additionalProperties": false, "required": ["reason", "work"], "properties": {
              "reason": {"type": "string", "minLength": 1, "maxLength": 200, "description": "why the plan should change"},
              "work": {"type": "string", "minLength": 1, "maxLength": 20000,
                "description": "what should be done, as instructions for the planner"}}}""", """
            {"type": "object", "required": ["proposal_id"], "properties": {"proposal_id": {"type": "string"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        JsonNode input = call.input();
        UUID id = UuidCreator.getTimeOrderedEpoch();
        return new ToolResult(Json.object().put("proposal_id", "prop_" + id), ToolUsage.NONE, List.of(),
                List.of(new Proposed(id, input.get("reason").stringValue(), input.get("work").stringValue(),
                        Json.object().put("kind", "plan_change"), null)));
    }
}
