package io.keelson.server.engine;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.StepRow;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.commit.Committer;
import io.keelson.server.engine.commit.Draft;
import io.keelson.server.engine.commit.Executed;
import io.keelson.server.engine.dispatch.Claims;
import io.keelson.server.engine.execute.ChainReports;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.StepExecution;
import io.keelson.server.engine.store.RunStore.Candidate;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Executes chains of the queue before their claims, so that one commit has the claim and the report. Until that commit no other
 * node sees a lease. Nodes that find the same work at the same time both execute it, which has no effect, and the commit refuses the
 * claim of the second. After such a refusal and after the start, claims are committed before executions until a search meets no
 * other node: the first search of a server counts the delivery of a step that ends each server which executes it.
 *
 * <p>{@link #begin} and {@link #underWay} are for the thread that searches.
 */
final class QueuedChains {
    private final Committer committer;
    private final LocalDispatcher work;
    private final LocalExecutor executor;
    private final Claims claims;
    private final Predicate<String> chains;
    private final Runnable searchAgain;
    private final String holder;
    private final Duration lease;
    private final Set<Lane> underWay = ConcurrentHashMap.newKeySet();
    private volatile boolean claimsFirst = true;
    private volatile @Nullable Throwable failure;

    /**
     * @param chains the tools whose steps form chains; none if no chain is executed before its claim
     * @param searchAgain called if a lane was executed and not claimed: it may still be in the queue
     */
    QueuedChains(Committer committer, LocalDispatcher work, LocalExecutor executor, Claims claims,
            Predicate<String> chains, Runnable searchAgain, String holder, Duration lease) {
        this.committer = committer;
        this.work = work;
        this.executor = executor;
        this.claims = claims;
        this.chains = chains;
        this.searchAgain = searchAgain;
        this.holder = holder;
        this.lease = lease;
    }

    /** Lanes that are executed and not claimed. A search that begins now may find them. */
    Set<Lane> underWay() {
        return Set.copyOf(underWay);
    }

    /** The cause of a claim that was not committed since the last call; null if absent. */
    @Nullable Throwable failure() {
        Throwable last = failure;
        failure = null;
        return last;
    }

    /** Begins to execute the chains, and returns the other candidates. */
    List<Candidate> begin(List<Candidate> found) {
        Map<UUID, UUID> runs = new LinkedHashMap<>();
        if (!claimsFirst) {
            found.stream().filter(each -> each.lane() == 0 && chains.test(each.tool()) && !claims.counts(each))
                    .forEach(each -> runs.put(each.taskId(), each.runId()));
        }
        if (runs.isEmpty()) {
            return found;
        }
        Set<UUID> begun = new HashSet<>();
        committer.unclaimed(runs, work.offerOwn(), (run, steps) -> {
            begun.add(steps.getFirst().task().id());
            begin(run, steps);
        });
        return found.stream().filter(each -> each.lane() != 0 || !begun.contains(each.taskId())).toList();
    }

    private void begin(RunRow run, List<StepRow> steps) {
        StepExecution first = StepExecution.unclaimed(run, steps.getFirst(), holder);
        List<StepExecution> following = steps.stream().skip(1).map(each -> first.followedBy(run, each)).toList();
        underWay.add(new Lane(first.taskId(), 0));
        executor.startNew(first, following, false, new Claim(new Command.Claim(run.id(), first.taskId(), 0, holder,
                lease, Actor.agent(holder)), first));
    }

    /** The claims of the other candidates have been answered. */
    void claimed(List<Candidate> others, List<Reply> replies) {
        if (others.stream().anyMatch(each -> chains.test(each.tool()))) {
            claimsFirst &= replies.stream().anyMatch(Reply.Rejected.class::isInstance);
        }
    }

    /** The claim of a lane that is executed. */
    private final class Claim implements ChainReports.Opening {
        private final Command.Claim command;
        private final StepExecution first;

        private Claim(Command.Claim command, StepExecution first) {
            this.command = command;
            this.first = first;
        }

        @Override
        public CompletableFuture<Reply> commit(@Nullable Command report) {
            Draft.Replies replies = submit(report);
            return replies.creation().thenCompose(claimed -> {
                ended(claimed, null);
                return report == null ? replies.creation() : replies.report();
            }).exceptionallyCompose(refusal -> withoutReport(report, refusal));
        }

        private Draft.Replies submit(@Nullable Command report) {
            return committer.submitOwn(command,
                    new Executed(List.of(), first.tool(), report, first.stepId()));
        }

        /** The database may refuse the report: the lane is claimed without it, and its steps are executed again. */
        private CompletableFuture<Reply> withoutReport(@Nullable Command report, Throwable refusal) {
            CompletableFuture<Reply> claimed = report == null || Committer.isFinal(refusal)
                    ? CompletableFuture.failedFuture(refusal)
                    : submit(null).creation();
            return claimed.handle((reply, again) -> {
                ended(reply, again);
                return Reply.UNCHANGED;
            });
        }

        @Override
        public void abandon() {
            ended(null, null);
        }

        private void ended(@Nullable Reply reply, @Nullable Throwable refusal) {
            claimsFirst |= reply instanceof Reply.Rejected;
            failure = refusal == null ? failure : refusal;
            underWay.remove(new Lane(command.taskId(), 0));
            if (!(reply instanceof Reply.Claimed)) {
                searchAgain.run();
            }
        }
    }
}
