package io.keelson.server.engine.tool;

import io.keelson.server.base.artifact.ArtifactSink;
import io.keelson.server.tenant.secret.Redaction;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One execution of a step's tool.
 *
 * @param input resolved: no expressions are left in it
 * @param attempt counts from 1 for each step
 * @param deferred how long busy systems have deferred this attempt
 * @param leaseEpoch the fencing token of this execution; increases with every acquisition of the step
 * @param effectKey the same for all attempts of one logical step; pass it to external systems for deduplication
 * @param deadline when the caller stops waiting; the thread is interrupted at that time
 * @param traceparent the header of W3C Trace Context for requests made on its behalf; null if absent
 * @param log log lines shown with the step
 * @param redaction redacts the secrets of the input. A tool that truncates its output redacts first; otherwise the beginning
 *            of a secret would be left. All returned text is redacted in any case.
 * @param artifacts where files are put; bound to this execution
 * @param execution announces waits, records requests to models, holds credits
 */
public record ToolCall(
        UUID workspaceId,
        UUID runId,
        UUID taskId,
        UUID stepId,
        String runName,
        JsonNode input,
        int attempt,
        Duration deferred,
        int leaseEpoch,
        String effectKey,
        CallDeadline deadline,
        @Nullable String traceparent,
        StepLog log,
        Redaction redaction,
        ArtifactSink artifacts,
        Execution execution) {

    /** Digits of a digest in the name of an artifact. */
    private static final int DIGITS = 8;

    /** A copy of the call that redacts further values. */
    public ToolCall redacting(Collection<String> values) {
        return new ToolCall(workspaceId, runId, taskId, stepId, runName, input, attempt, deferred, leaseEpoch,
                effectKey, deadline, traceparent, log, redaction.and(values), artifacts, execution);
    }

    /** A copy of the call with another input. */
    public ToolCall asking(JsonNode other) {
        return new ToolCall(workspaceId, runId, taskId, stepId, runName, other, attempt, deferred, leaseEpoch,
                effectKey, deadline, traceparent, log, redaction, artifacts, execution);
    }

    /** Keeps a request to a model as an artifact, whether the execution fails or not, unless it exceeds a quota. */
    public void keepRequest(String sha256, byte[] json) {
        try {
            execution.sent().stored(
                    artifacts.put("request-" + stepId + "-" + leaseEpoch + "-" + sha256.substring(0, DIGITS) + ".json",
                            "application/json", new ByteArrayInputStream(json)));
        } catch (IOException e) {
            log.line("the request could not be kept: " + e.getMessage());
        }
    }
}
