package io.keelson.server.work.builtin;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Proposed;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code proposal.create}: sends people a proposal, and does not wait for their answer. */
final class ProposalCreate implements Tool {

    private static final ToolSpec SPEC = Specs.spec("proposal.create", Effects.IDEMPOTENT,
            "Creates a proposal for people; the run does not wait for their answer.", """
            {"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
              "title": {"type": "string", "minLength": 1, "maxLength": 200},
              "body": {"type": "string", "maxLength": 20000},
              "data": {"description": "any value, for programs; at most 64 KiB as JSON"},
              "expires_in_seconds": {"type": "integer", "minimum": 1, "maximum": 31536000,
               "description": "for how long it may be decided; for ever when absent"}}}""", """
            {"type": "object", "required": ["proposal_id"], "properties": {
              "proposal_id": {"type": "string"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        JsonNode input = call.input();
        JsonNode data = input.get("data");
        if (data != null && data.toString().length() > Proposed.MAX_DATA) {
            throw ToolFailure.permanent("PROPOSAL_TOO_LARGE",
                    "the proposal's data has more than " + Proposed.MAX_DATA + " characters");
        }
        UUID id = UuidCreator.getTimeOrderedEpoch();
        JsonNode seconds = input.get("expires_in_seconds");
        Proposed proposal = new Proposed(id, input.get("title").stringValue(),
                input.has("body") ? input.get("body").stringValue() : null, data,
                seconds == null ? null : Duration.ofSeconds(seconds.asLong()));
        return new ToolResult(JsonNodeFactory.instance.objectNode().put("proposal_id", "prop_" + id), ToolUsage.NONE,
                List.of(), List.of(proposal));
    }
}
