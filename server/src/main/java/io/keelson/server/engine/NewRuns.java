package io.keelson.server.engine;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Chain;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.StepRow;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.commit.Committer;
import io.keelson.server.engine.commit.Draft;
import io.keelson.server.engine.execute.ChainReports;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.StepExecution;
import io.keelson.server.engine.store.KeyUse;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Executes the first chain of a new run before the run's first commit, so that a run of one chain is written once, in its final
 * state. The draft of a decision has these steps. No reader sees the run before the commit, which decides
 * again. The caller's answer comes with that commit.
 */
final class NewRuns {
    private final Committer committer;
    private final LocalDispatcher work;
    private final LocalExecutor executor;
    private final Predicate<String> chains;
    private final Clock clock;

    /** @param chains the tools whose steps form chains */
    NewRuns(Committer committer, LocalDispatcher work, LocalExecutor executor, Predicate<String> chains, Clock clock) {
        this.committer = committer;
        this.work = work;
        this.executor = executor;
        this.chains = chains;
        this.clock = clock;
    }

    /** Completes with the reply to the creation, after its commit; null if the run is not executed before it. */
    @Nullable CompletableFuture<Reply> submit(Command.Create create, @Nullable KeyUse key) {
        if (!create.start() || !mayBeginWithChain(create.run())) {
            return null;
        }
        LocalCapacity capacity = work.offerOwn();
        try {
            return execute(committer.draft(create, key, capacity, clock.instant()));
        } finally {
            work.settled(capacity);
        }
    }

    /** Whether its only task may begin with a chain at once. The draft decides; this saves drafts of all other runs. */
    private boolean mayBeginWithChain(NewRun run) {
        if (run.fork() != null || run.startAt() != null || run.policy().concurrency() != null
                || run.policy().approvePlan() || run.plan().tasks().size() != 1) {
            return false;
        }
        TaskSpec task = run.plan().tasks().getFirst();
        if (!task.policy().ladder().isEmpty()) {
            return false; // the row of a new task has the agent of its plan
        }
        List<StepSpec> steps = task.steps();
        StepSpec first = steps.isEmpty() ? null : steps.getFirst();
        return first != null && first.kind() == StepKind.TOOL && chains.test(first.tool())
                && !first.input().contains("${");
    }

    private @Nullable CompletableFuture<Reply> execute(Draft draft) {
        ChangeSet changes = draft.changes();
        if (!draft.isAccepted() || changes.started().size() != 1) {
            return null;
        }
        Map.Entry<StepRow, RunRow> started = changes.started().entrySet().iterator().next();
        StepRow step = started.getKey();
        RunRow run = started.getValue();
        Chain chain = changes.chainOf(step);
        if (!chain.repeatable()) {
            return null;
        }
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        StepExecution first = StepExecution.of(run, step, draft.time());
        executor.startNew(first, chain.steps().stream().map(each -> first.followedBy(run, each)).toList(),
                chain.endsAtCharge(), creation(draft, first.tool(), answer));
        return answer;
    }

    /** Completes the answer with the reply to the creation. */
    private static ChainReports.Opening creation(Draft draft, String tool, CompletableFuture<Reply> answer) {
        return new ChainReports.Opening() {
            @Override
            public CompletableFuture<Reply> commit(@Nullable Command report) {
                Draft.Replies replies = draft.commit(tool, report);
                return replies.creation().thenCompose(created -> {
                    answer.complete(created);
                    return report == null ? replies.creation() : replies.report();
                }).exceptionallyCompose(failure -> withoutReport(draft, report, failure, answer));
            }

            @Override
            public void abandon() {
                var _ = commit(null);
            }
        };
    }

    /** The database may refuse the report: the run is created without it, and its steps are executed again. */
    private static CompletableFuture<Reply> withoutReport(Draft draft, @Nullable Command report, Throwable failure,
            CompletableFuture<Reply> answer) {
        CompletableFuture<Reply> created = report == null || Committer.isFinal(failure)
                ? CompletableFuture.failedFuture(failure)
                : draft.commitAlone();
        return created.handle((reply, refusal) -> {
            if (refusal == null) {
                answer.complete(reply);
            } else {
                answer.completeExceptionally(Committer.cause(refusal));
            }
            return Reply.UNCHANGED;
        });
    }
}
