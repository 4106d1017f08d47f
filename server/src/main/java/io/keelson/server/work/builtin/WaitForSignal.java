package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;

/** {@code signal.wait}: waits for a signal of that name. The engine handles it; it occupies no worker. */
final class WaitForSignal implements Tool {

    private static final ToolSpec SPEC = new ToolSpec("signal.wait",
            "Waits durably until the run is sent a signal of that name, and yields its payload; holds no worker.",
            Specs.json("""
            {"type": "object", "additionalProperties": false, "required": ["name"], "properties": {
              "name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,100}$"},
              "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 31622400,
                "description": "How long it waits; as long as the run does where it is left out"},
              "on_timeout": {"enum": ["fail", "continue"], "default": "fail",
                "description": "Fail with SIGNAL_TIMEOUT, or complete with null"},
              "schema": {"type": "object", "description": "JSON Schema that a payload has to fit to be taken"}}}"""),
            Specs.json("{\"description\": \"The signal's payload\"}"),
            Duration.ofDays(367), true).having(Effects.READ);

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        throw new IllegalStateException("the engine carries out signal.wait; no executor may claim it");
    }
}
