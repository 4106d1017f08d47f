package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code fail}: fails with the given error, for the first {@code times} attempts or always. */
final class Fail implements Tool {

    private static final ToolSpec SPEC = Specs.spec("fail", Effects.READ,
            "Fails with a code and class, always or for the first attempts; reports declared tokens and cost. For tests.",
            """
            {"type": "object", "additionalProperties": false, "properties": {
              "code": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]{0,99}$", "default": "FAILED_ON_PURPOSE"},
              "class": {"enum": ["infrastructure", "quality", "permanent", "human_rejection", "budget", "dependency",
                                 "cancelled"], "default": "infrastructure"},
              "message": {"type": "string", "maxLength": 10000},
              "times": {"type": "integer", "minimum": 0,
                        "description": "fail the first n attempts, then succeed; absent: always"},
              "retry_after_seconds": {"type": "number", "minimum": 0, "maximum": 86400},
              {usage}"output": {"description": "the output once it succeeds"}}}""".replace("{usage}",
                    DeclaredUsage.MEMBERS),
            "true");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        JsonNode input = call.input();
        if (input.has("times") && call.attempt() > input.get("times").asLong()) {
            return new ToolResult(input.has("output")
                    ? input.get("output")
                    : JsonNodeFactory.instance.objectNode().put("attempt", call.attempt()), DeclaredUsage.of(input),
                    List.of());
        }
        throw new ToolFailure(input.path("code").asString("FAILED_ON_PURPOSE"),
                ErrorClass.fromWire(input.path("class").asString("infrastructure")),
                input.path("message").asString("failed as asked, attempt " + call.attempt()),
                retryAfter(input)).spending(DeclaredUsage.of(input));
    }

    private static @Nullable Duration retryAfter(JsonNode input) {
        return input.has("retry_after_seconds")
                ? Duration.ofMillis((long) (input.get("retry_after_seconds").doubleValue() * 1000))
                : null;
    }
}
