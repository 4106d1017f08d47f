package io.keelson.server.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.RunTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which reports a chain submits, and when. */
@Timeout(60)
class ChainReportsTest {
    private static final UUID RUN = new UUID(0, 1);
    private static final UUID TASK = new UUID(0, 2);
    private static final Actor NODE = Actor.agent("node");

    private record Sent(Command command, CompletableFuture<Reply> reply) {

        private List<Integer> steps() {
            return command instanceof Command.CompleteChain chain ? chain.reports().stream().map(Sent::step).toList()
                    : List.of(step((Command.Report) command));
        }

        private static int step(Command.Report report) {
            return (int) report.stepId().getLeastSignificantBits() - 100;
        }
    }

    private final List<Sent> sent = new ArrayList<>();
    private final List<StepExecution> steps = IntStream.rangeClosed(1, 5).mapToObj(ChainReportsTest::step).toList();
    private int lost;
    private final ChainReports reports = new ChainReports(steps, null, command -> {
        Sent each = new Sent(command, new CompletableFuture<>());
        sent.add(each);
        return each.reply;
    }, NODE, () -> lost++);

    private static StepExecution step(int number) {
        return new StepExecution(new UUID(9, 9), RUN, "r", TASK, 0, new UUID(0, 100 + number), "s" + number, "noop",
                "{}",
                null, 1, Duration.ZERO, 1, Duration.ofSeconds(30), "key", "node", new RunTrace(RUN, 1, null), false);
    }

    private Command.Complete completed(int number) {
        return completed(number, "1");
    }

    private Command.Complete completed(int number, String output) {
        return new Command.Complete(RUN, steps.get(number - 1).stepId(), 1, Result.of(output), NODE);
    }

    private FutureTask<Void> inBackground(Runnable action) {
        FutureTask<Void> task = new FutureTask<>(action, null);
        Thread.ofVirtual().start(task);
        return task;
    }

    private void awaitSent(int count) {
        Awaitility.await().until(() -> sent.size() == count);
    }

    /** The commit begins the step for this node, and answers. */
    private void commit(Sent report, int next) {
        assertThat(reports.continuesWith(step(next))).isTrue();
        report.reply.complete(
                report.command instanceof Command.CompleteChain chain
                        ? new Reply.Taken(Collections.nCopies(chain.reports().size(), Reply.CHANGED))
                        : Reply.CHANGED);
    }

    @Test
    void shortChainHasOneReport() throws Exception {
        reports.add(completed(1));
        reports.add(completed(2));
        FutureTask<Void> end = inBackground(() -> reports.end(completed(3), false, () -> {}));
        awaitSent(1);
        assertThat(sent.getFirst().steps()).containsExactly(1, 2, 3);
        sent.getFirst().reply.complete(new Reply.Taken(Collections.nCopies(3, Reply.CHANGED)));
        end.get(10, TimeUnit.SECONDS);
        assertThat(lost).isZero();
    }

    @Test
    void longChainReportsWhatIsThereAfterTheFirstTimeAndAfterEachCommit() {
        reports.add(completed(1));
        assertThat(sent).isEmpty();
        reports.becomeEager();
        assertThat(sent.getFirst().steps()).containsExactly(1);
        reports.add(completed(2));
        reports.add(completed(3));
        assertThat(sent).hasSize(1);
        commit(sent.getFirst(), 2);
        assertThat(sent.getLast().steps()).containsExactly(2, 3);
        assertThat(reports.recorded()).isEqualTo(step(2));
        commit(sent.getLast(), 4);
        reports.add(completed(4));
        assertThat(sent.getLast().steps()).containsExactly(4);
        assertThat(lost).isZero();
    }

    @Test
    void muchTextIsReportedAtOnce() {
        reports.add(completed(1));
        FutureTask<Void> adding = inBackground(() -> reports.add(completed(2, "\"" + "x".repeat(300_000) + "\"")));
        awaitSent(1);
        assertThat(sent.getFirst().steps()).containsExactly(1, 2);
        commit(sent.getFirst(), 3);
        Awaitility.await().until(adding::isDone);
    }

    @Test
    void chainEndsIfNotAllIsTaken() throws Exception {
        reports.becomeEager();
        reports.add(completed(1));
        sent.getFirst().reply.complete(Reply.rejected("STALE_LEASE", "no"));
        assertThat(lost).isEqualTo(1);
        assertThat(reports.continuesWith(step(2))).isFalse();
        reports.end(completed(2), false, () -> {});
        assertThat(sent).hasSize(1);
    }

    /** A pause and a resume precede the claim: the resume begins the first step for this node, and the claim is refused. */
    @Test
    void chainContinuesIfAnotherCommandBeginsItsFirstStep() {
        CompletableFuture<Reply> claim = new CompletableFuture<>();
        ChainReports unclaimed = new ChainReports(steps, opening(claim), report -> new CompletableFuture<>(), NODE,
                () -> lost++);
        unclaimed.open();
        assertThat(unclaimed.continuesWith(step(1))).isTrue();
        claim.complete(Reply.rejected("NOT_CLAIMABLE", "no"));
        assertThat(lost).isZero();
        assertThat(unclaimed.record()).isTrue();
    }

    @Test
    void chainEndsIfItsClaimIsRefused() {
        CompletableFuture<Reply> claim = new CompletableFuture<>();
        ChainReports unclaimed = new ChainReports(steps, opening(claim), report -> new CompletableFuture<>(), NODE,
                () -> lost++);
        unclaimed.open();
        claim.complete(Reply.rejected("NOT_CLAIMABLE", "no"));
        assertThat(lost).isEqualTo(1);
        assertThat(unclaimed.continuesWith(step(1))).isFalse();
    }

    private static ChainReports.Opening opening(CompletableFuture<Reply> claim) {
        return new ChainReports.Opening() {
            @Override
            public CompletableFuture<Reply> commit(Command report) {
                return claim;
            }

            @Override
            public void abandon() {
                throw new AssertionError("it was committed");
            }
        };
    }

    /** The run was paused: the report is taken, and the next step does not begin. */
    @Test
    void chainEndsIfItsNextStepDoesNotBegin() {
        reports.becomeEager();
        reports.add(completed(1));
        sent.getFirst().reply.complete(Reply.CHANGED);
        assertThat(lost).isEqualTo(1);
    }

    @Test
    void otherStepsOfTheLaneAreNotOfTheChain() {
        reports.becomeEager();
        reports.add(completed(1));
        assertThat(reports.continuesWith(step(3))).isFalse();
        assertThat(reports.continuesWith(step(2))).isTrue();
        assertThat(reports.continuesWith(step(2))).as("once").isFalse();
    }

    @Test
    void leaseIsRecordedOnRequest() throws Exception {
        assertThat(reports.record()).as("the first step's is").isTrue();
        reports.add(completed(1));
        FutureTask<Boolean> recorded = new FutureTask<>(reports::record);
        Thread.ofVirtual().start(recorded);
        awaitSent(1);
        commit(sent.getFirst(), 2);
        assertThat(recorded.get(10, TimeUnit.SECONDS)).isTrue();
        assertThat(reports.recorded()).isEqualTo(step(2));
    }

    /** The database refuses one step's row: the others are recorded. */
    @Test
    void refusedReportIsSubmittedStepByStep() {
        reports.add(completed(1));
        reports.add(completed(2));
        reports.becomeEager();
        sent.getFirst().reply.completeExceptionally(new IllegalStateException("refused"));
        assertThat(sent.get(1).steps()).containsExactly(1);
        commit(sent.get(1), 2);
        assertThat(sent.get(2).steps()).containsExactly(2);
        sent.get(2).reply.completeExceptionally(new IllegalStateException("refused"));
        assertThat(lost).isEqualTo(1);
        assertThat(reports.recorded()).isEqualTo(step(2));
    }

    @Test
    void refusedEndIsSubmittedStepByStepAndItsLastFailureIsThrown() throws Exception {
        reports.add(completed(1));
        FutureTask<Void> end = inBackground(() -> reports.end(completed(2), false, () -> {}));
        awaitSent(1);
        sent.getFirst().reply.completeExceptionally(new IllegalStateException("refused"));
        awaitSent(2);
        commit(sent.get(1), 2);
        awaitSent(3);
        assertThat(sent.get(2).steps()).containsExactly(2);
        sent.get(2).reply.completeExceptionally(new IllegalStateException("refused"));
        assertThatThrownBy(() -> end.get(10, TimeUnit.SECONDS)).hasRootCauseInstanceOf(IllegalStateException.class);
    }
}
