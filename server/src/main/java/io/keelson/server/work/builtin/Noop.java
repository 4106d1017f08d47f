package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code noop}: does nothing, and reports the tokens and the cost of its input. */
final class Noop implements Tool {

    private static final ToolSpec SPEC = Specs.spec("noop", Effects.READ,
            "Does nothing; reports declared tokens and cost. For tests and benchmarks.", """
            {"type": "object", "additionalProperties": false, "properties": {
              {usage}"output": {"description": "what the step's output is to be"}}}""".replace("{usage}",
                    DeclaredUsage.MEMBERS),
            "true");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        JsonNode input = call.input();
        JsonNode output = input.has("output") ? input.get("output") : JsonNodeFactory.instance.objectNode();
        return new ToolResult(output, DeclaredUsage.of(input), List.of());
    }
}
