package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;

/** {@code echo}: its input is its output. */
final class Echo implements Tool {

    private static final ToolSpec SPEC = Specs.spec("echo", Effects.READ, "Returns its input.", "true", "true");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        return ToolResult.of(call.input());
    }
}
