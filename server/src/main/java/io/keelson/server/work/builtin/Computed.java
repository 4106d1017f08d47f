package io.keelson.server.work.builtin;

import io.keelson.server.base.compute.Computation;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;

/** A tool that only computes: it takes its turn in the tenants' computation. */
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
