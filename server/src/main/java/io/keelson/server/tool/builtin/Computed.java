package io.keelson.server.tool.builtin;

import io.keelson.server.compute.Computation;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolCall;
import io.keelson.server.tool.ToolFailure;
import io.keelson.server.tool.ToolResult;
import io.keelson.server.tool.ToolSpec;

/** A tool that only computes: it takes its turn among what is computed for tenants. */
record Computed(Tool tool, Computation computation) implements Tool {

    @Override
    public ToolSpec spec() {
        return tool.spec();
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        try {
            return computation.<ToolResult, Exception>run(
                    () -> new Computation.Owner(call.workspaceId(), call.runId()), () -> tool.execute(call));
        } catch (Computation.SpentException e) {
            throw ToolFailure.permanent("RUN_COMPUTATION_SPENT", String.valueOf(e.getMessage()));
        } catch (ToolFailure | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
