package io.keelson.server.engine.execute;

import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.json.LargeDocuments;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolUsage;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes the reports of one execution of a step.
 *
 * @param input the resolved input for the record; null if the plan's own row has it, or while it is unknown
 */
record StepReports(StepExecution execution, RecordedRequests sent, @Nullable String input, ToolRunner runner,
        Actor actor) {

    /** The step goes back. */
    Command release(@Nullable Deferral deferral, @Nullable CallWait call, List<LostAnswer> lost) {
        return new Command.Release(execution.runId(), execution.stepId(), execution.leaseEpoch(), deferral, call,
                lost, actor);
    }

    /** The step has completed. */
    Command complete(ToolResult result) {
        List<NewArtifact> artifacts = artifacts(Stream.concat(result.artifacts().stream(), sent.stored().stream()));
        ToolUsage usage = result.usage();
        return new Command.Complete(execution.runId(), execution.stepId(), execution.leaseEpoch(),
                new Result(LargeDocuments.work(result.output(), result.output()::toString), usage.tokens(),
                        usage.cost(), usage.model(), artifacts, ProposalTexts.of(result.proposals()),
                        VerdictText.of(result.output()),
                        runner.turn(execution.workspaceId(), execution.taskId(), result.output()), input, null,
                        usage.asked(), usage.estimated()),
                null, sent.unused(), actor);
    }

    private static List<NewArtifact> artifacts(Stream<StoredArtifact> stored) {
        return stored.map(a -> new NewArtifact(a.name(), a.contentType(), a.sizeBytes(), a.sha256(), a.storageKey(),
                a.retention() == null ? null : a.retention().toSeconds())).toList();
    }

    Command fail(StepError error) {
        return fail(error, ToolUsage.NONE, sent.abandon());
    }

    Command fail(StepError error, ToolUsage spent, List<LostAnswer> lost) {
        return new Command.Fail(execution.runId(), execution.stepId(), execution.leaseEpoch(), error,
                Result.spent(spent.tokens(), spent.cost(), spent.model()).withInput(input)
                        .insteadOf(spent.asked()).estimated(spent.estimated())
                        .storing(artifacts(sent.stored().stream())),
                lost, actor);
    }
}
