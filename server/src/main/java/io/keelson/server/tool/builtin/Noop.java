package io.keelson.server.tool.builtin;

import io.keelson.core.money.Tokens;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolCall;
import io.keelson.server.tool.ToolResult;
import io.keelson.server.tool.ToolSpec;
import io.keelson.server.tool.ToolUsage;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code noop}: does nothing, and reports the tokens and the cost of its input. */
final class Noop implements Tool {

    private static final ToolSpec SPEC = Specs.spec("noop",
            "Does nothing; reports declared tokens and cost. For tests and benchmarks.", """
            {"type": "object", "additionalProperties": false, "properties": {
              "tokens": {"type": "integer", "minimum": 0, "maximum": 1000000000000, "default": 0},
              "cost": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "in USD; as priced when left out"},
              "output": {"description": "what the step's output is to be"}}}""", "true");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        JsonNode input = call.input();
        JsonNode output = input.has("output") ? input.get("output") : JsonNodeFactory.instance.objectNode();
        @Nullable BigDecimal cost = input.has("cost") ? input.get("cost").decimalValue() : null;
        return new ToolResult(output, new ToolUsage(null, Tokens.undivided(input.path("tokens").asLong(0)), cost),
                List.of());
    }
}
