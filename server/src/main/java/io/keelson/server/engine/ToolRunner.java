package io.keelson.server.engine;

import io.keelson.core.policy.ErrorClass;
import io.keelson.server.artifact.ArtifactOwner;
import io.keelson.server.artifact.ArtifactStore;
import io.keelson.server.expr.ExpressionException;
import io.keelson.server.tool.StepLog;
import io.keelson.server.tool.ToolCall;
import io.keelson.server.tool.ToolCatalog;
import io.keelson.server.tool.ToolFailure;
import io.keelson.server.tool.ToolResult;
import java.time.Clock;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** Calls a built-in tool for one execution: its input resolved and checked first. */
final class ToolRunner {
    private final ToolCatalog catalog;
    private final Scopes scopes;
    private final ArtifactStore artifacts;
    private final Function<Execution, StepLog> logs;
    private final Clock clock;

    ToolRunner(ToolCatalog catalog, Scopes scopes, ArtifactStore artifacts, Function<Execution, StepLog> logs,
            Clock clock) {
        this.catalog = catalog;
        this.scopes = scopes;
        this.artifacts = artifacts;
        this.logs = logs;
        this.clock = clock;
    }

    boolean knows(String tool) {
        return catalog.find(tool).isPresent();
    }

    /**
     * @throws ToolFailure the tool's own, and for inputs that cannot be resolved or break the tool's schema
     */
    ToolResult run(Execution execution) throws ToolFailure, InterruptedException {
        ArtifactOwner owner = new ArtifactOwner(execution.workspaceId(), execution.runId(), execution.stepId(),
                execution.attempt(), execution.leaseEpoch());
        return catalog.execute(execution.tool(),
                new ToolCall(execution.workspaceId(), execution.runId(), execution.taskId(),
                        execution.stepId(), execution.runName(), input(execution), execution.attempt(),
                        execution.leaseEpoch(),
                        execution.effectKey(), clock.instant().plus(execution.timeout()), logs.apply(execution),
                        artifacts.sinkFor(owner)));
    }

    private JsonNode input(Execution execution) throws ToolFailure {
        try {
            return scopes.resolve(execution.runId(), execution.taskId(), execution.input());
        } catch (ExpressionException e) {
            throw new ToolFailure(e.code(), ErrorClass.PERMANENT, "the step's input: " + e.getMessage());
        }
    }
}
