package io.keelson.server.tool.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolCall;
import io.keelson.server.tool.ToolResult;
import io.keelson.server.tool.ToolSpec;

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
