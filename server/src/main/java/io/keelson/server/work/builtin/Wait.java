package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;

/** {@code wait}: a durable timer. The engine keeps it in the database; it holds no thread and no worker. */
final class Wait implements Tool {

    private static final ToolSpec SPEC = new ToolSpec("wait",
            "Waits durably for a number of seconds or until a time, holding no worker.",
            Specs.json("""
            {"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1, "properties": {
              "seconds": {"type": "number", "minimum": 0, "maximum": 31622400},
              "until": {"type": "string", "format": "date-time", "description": "RFC 3339"}}}"""),
            Specs.json("""
            {"type": "object", "properties": {"waited_until": {"type": "string", "format": "date-time"}}}"""),
            Duration.ofDays(367), true).having(Effects.READ);

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        throw new IllegalStateException("the engine carries out wait; no executor may claim it");
    }
}
