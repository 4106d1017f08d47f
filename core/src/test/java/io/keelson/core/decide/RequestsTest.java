package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Budget;
import io.keelson.core.money.Funds;
import io.keelson.core.money.OptimisticBalances;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.EndRequest.Outcome;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Requests of a step's program to models: each is held, charged once, and never open after its step. */
class RequestsTest extends OneWorkspace {
    private static final String K = "0".repeat(64);
    private static final Actor WORKER = Actor.agent("w1");
    /** A million tokens of output cost 10, of input 1. */
    private static final Prices PRICES = new Prices(Map.of(),
            Map.of("m", new ModelPrice(new TokenPrices(usd("1"), null, null, usd("10")), 1)));

    private World world(@Nullable String limit, int steps) {
        RunPolicy policy = RunPolicy.DEFAULT.withApprovePlan(true);
        World world = run("1000", limit == null ? policy : policy.with(limited(limit)), plan(task("a").steps(steps)));
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        return world;
    }

    private static Reply ask(World world, StepRow step, UUID id, long input, long output, long least) {
        return world.send(new Command.AskModel(world.id(), step.id(), step.leaseEpoch(), id,
                new WorstCase("m", input, output, true), least, K, K, "{}", false, WORKER));
    }

    private static Reply end(World world, StepRow step, UUID id, Outcome outcome, @Nullable Tokens used) {
        return world.send(new Command.EndRequest(world.id(), step.id(), id, outcome,
                used == null ? null : Result.spent(used, null, "m"), used == null ? null : "{}", WORKER));
    }

    private static BigDecimal charged(World world) {
        return world.bank.ledger().stream().filter(t -> t.kind() == Transfer.Kind.CHARGE).map(Transfer::amount)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static Tokens tokens(long input, long output) {
        return new Tokens(input, 0, 0, output, 0);
    }

    @Test
    void parallelRequestsNeverExceedTheLimit() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        List<UUID> sent = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            UUID id = UUID.randomUUID();
            if (ask(world, step, id, 0, 3_000, 3_000) instanceof Reply.Paid paid && paid.refusal() == null) {
                assertThat(paid.maxOutput()).isEqualTo(3_000);
                sent.add(id);
            }
        }
        assertThat(sent).as("0.03 each").hasSize(33);
        sent.forEach(id -> assertThat(end(world, step, id, Outcome.ANSWERED, tokens(0, 3_000)))
                .isEqualTo(Reply.CHANGED));
        assertThat(charged(world)).isEqualByComparingTo("0.99");
        assertThat(world.view.held).isEqualByComparingTo("0");
    }

    @Test
    void theRestOfTheLimitPaysLessOutput() {
        World world = world("0.5", 1);
        StepRow step = world.claim("a");
        assertThat(ask(world, step, UUID.randomUUID(), 100_000, 64_000, 2_048)).isEqualTo(Reply.Paid.of(40_000));
        Reply refused = ask(world, step, UUID.randomUUID(), 10, 64_000, 2_048);
        assertThat(refused).isInstanceOfSatisfying(Reply.Paid.class, paid -> {
            assertThat(paid.maxOutput()).isZero();
            assertThat(paid.refusal()).contains("hard limit of 0.5", "--hard-limit");
        });
    }

    @Test
    void aRefusalThatIsRepeatedChangesNothing() {
        World world = world("0.5", 1);
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 64_000, 64_000);
        long version = world.view.run().version();
        ask(world, step, UUID.randomUUID(), 0, 64_000, 64_000);
        ask(world, step, UUID.randomUUID(), 0, 60_000, 60_000);
        assertThat(world.view.run().version()).isEqualTo(version);
    }

    /** The run has 1, of which the first request holds 0.6; the second needs 0.6, the third 1.2. */
    @Test
    void aRequestWaitsForHoldsOfTheRun() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        UUID first = UUID.randomUUID();
        ask(world, step, first, 0, 60_000, 60_000);
        long version = world.view.run().version();
        assertThat(waiting(world, step, 60_000)).isInstanceOfSatisfying(Reply.Paid.class, paid -> {
            assertThat(paid.waits()).isTrue();
            assertThat(paid.refusal()).contains("0.6", "leaves 0.4");
        });
        assertThat(world.view.run().version()).as("nothing is recorded").isEqualTo(version);
        assertThat(waiting(world, step, 120_000)).isInstanceOfSatisfying(Reply.Paid.class,
                paid -> assertThat(paid.waits()).as("all of the limit is too little").isFalse());
        end(world, step, first, Outcome.ANSWERED, tokens(0, 1_000));
        assertThat(waiting(world, step, 60_000)).isEqualTo(Reply.Paid.of(60_000));
    }

    private static Reply waiting(World world, StepRow step, long output) {
        return world.send(new Command.AskModel(world.id(), step.id(), step.leaseEpoch(), UUID.randomUUID(),
                new WorstCase("m", 0, output, true), output, K, K, "{}", true, WORKER));
    }

    private static void failProgram(World world, StepRow step) {
        world.done(fail(world, step, tokens(100, 0)));
    }

    private static Command fail(World world, StepRow step, Tokens used) {
        return new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                new StepError("PROGRAM_FAILED", ErrorClass.PERMANENT, "exit code 1"), Result.spent(used, null, "m"),
                WORKER);
    }

    /** The refused request costs 0.64 at least; the report of the holder costs 0.0001. */
    @Test
    void aStepIsExecutedAgainWhenTheLimitPaysTheRefusedRequest() {
        World world = world("0.5", 1);
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 64_000, 64_000);
        failProgram(world, step);
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        assertThat(step.state()).isEqualTo(StepState.RUNNING);
        assertThat(charged(world)).isEqualByComparingTo("0.0001");
        assertThat(world.events("step_released").getFirst().members()).extractingByKey("reason").asString()
                .contains("hard limit of 0.5", "0.64");
        assertThat(world.events("run_budget_exceeded").getFirst().members()).extractingByKey("reason").asString()
                .contains("does not leave the 0.64", "that the next request may cost");
        ExplainTest explained = new ExplainTest();
        explained.prices = world.prices;
        assertThat(Explain.run(world.view, explained.around).getFirst().text())
                .contains(", and the next request may cost 0.64");
        raise(world, "0.64");
        assertThat(world.state()).as("0.6401 is needed").isEqualTo(RunState.BUDGET_EXCEEDED);
        raise(world, "0.6401");
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.claim("a")).isSameAs(step);
        assertThat(List.of(step.attempt(), step.leaseEpoch(), step.failures())).containsExactly(1, 2, 0);
        assertThat(ask(world, step, UUID.randomUUID(), 0, 64_000, 64_000)).isEqualTo(Reply.Paid.of(64_000));
    }

    /** Its own request and another task hold what the refused one needs. */
    @Test
    void aRefusedRequestWaitsForOpenRequests() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        UUID first = UUID.randomUUID();
        ask(world, step, first, 0, 60_000, 60_000);
        ask(world, step, UUID.randomUUID(), 0, 60_000, 60_000);
        failProgram(world, step);
        assertThat(world.state()).as("the answer of the first may leave enough").isEqualTo(RunState.RUNNING);
        assertThat(world.queue).isEmpty();
        end(world, step, first, Outcome.REFUSED, null);
        assertThat(world.claim("a")).isSameAs(step);
        assertThat(world.events("run_budget_exceeded")).isEmpty();
    }

    /** The run has a second task, which works while the first one waits for the limit. */
    private World worldOfTwoTasks(Budget budget) {
        World world = run("1", RunPolicy.DEFAULT.withApprovePlan(true).with(budget), plan(task("a"), task("b")));
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        world.claim("b");
        return world;
    }

    private static StepRow refused(World world) {
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 200_000, 200_000);
        failProgram(world, step);
        assertThat(world.queue).as("the other task's step").hasSize(1);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        return step;
    }

    private static Explanation why(World world, StepRow step) {
        ExplainTest explained = new ExplainTest();
        explained.prices = world.prices;
        return Explain.step(world.view, step, explained.around).getFirst();
    }

    @Test
    void aRaisedLimitContinuesTheStepWhileAnotherTaskWorks() {
        World world = worldOfTwoTasks(limited("0.5"));
        bank.grant(World.WORKSPACE, usd("9"));
        StepRow step = refused(world);
        assertThat(why(world, step)).satisfies(why -> {
            assertThat(why.code()).isEqualTo("BUDGET_EXCEEDED");
            assertThat(why.text()).contains("may cost 2 credits", "--hard-limit 2.0001`");
            assertThat(why.needed()).isEqualByComparingTo("2.0001");
        });
        raise(world, "2");
        assertThat(world.queue).hasSize(1);
        raise(world, "2.0001");
        assertThat(world.claim("a")).isSameAs(step);
    }

    @Test
    void grantedCreditsContinueTheStepWhileAnotherTaskWorks() {
        World world = worldOfTwoTasks(limited("5"));
        StepRow step = refused(world);
        assertThat(why(world, step).text()).contains("keelson credits grant AMOUNT");
        bank.grant(World.WORKSPACE, usd("9"));
        world.watchUntil(world.now.plusSeconds(5));
        assertThat(world.claim("a")).isSameAs(step);
    }

    /** Each of the two times is shorter than the timeout of the task, and both together are longer. */
    @Test
    void theWaitForALimitCountsForNoTimeout() {
        World world = worldOfTwoTasks(limited("0.5"));
        bank.grant(World.WORKSPACE, usd("9"));
        StepRow step = refused(world);
        Instant begun = world.task("a").begunAt();
        Duration wait = RunPolicy.DEFAULT.timeouts().task().multipliedBy(2).dividedBy(3);
        world.now = world.now.plus(wait);
        raise(world, "2.0001");
        assertThat(world.claim("a")).isSameAs(step);
        assertThat(world.task("a").begunAt()).isEqualTo(begun.plus(wait));
        world.watchUntil(world.now.plus(wait));
        assertThat(step.isHeld()).isTrue();
    }

    @Test
    void aTaskThatWaitsForALimitHasNoTimeout() {
        World world = worldOfTwoTasks(limited("0.5"));
        StepRow step = refused(world);
        world.task("b").begunAt = world.now.plus(Duration.ofDays(9));
        world.watchUntil(world.now.plus(RunPolicy.DEFAULT.timeouts().task().multipliedBy(2)));
        assertThat(step.state()).isEqualTo(StepState.RUNNING);
    }

    @Test
    void aReleaseAfterARefusalWaitsForTheLimit() {
        World world = world("0.5", 1);
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 64_000, 64_000);
        world.done(new Command.Release(world.id(), step.id(), step.leaseEpoch(), WORKER));
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        raise(world, "0.64");
        assertThat(world.claim("a")).isSameAs(step);
        assertThat(step.deliveries).isEqualTo(1);
    }

    /** The limits pay the refused request each time, and the worker releases the step each time. */
    @Test
    void releasesAfterRefusalsAreBounded() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        for (int i = 0; i < RunPolicy.DEFAULT.maxDeliveries(); i++) {
            UUID other = UUID.randomUUID();
            ask(world, step, other, 0, 60_000, 60_000);
            ask(world, step, UUID.randomUUID(), 0, 60_000, 60_000);
            end(world, step, other, Outcome.REFUSED, null);
            world.done(new Command.Release(world.id(), step.id(), step.leaseEpoch(), WORKER));
            world.claimAll();
        }
        assertThat(step.state()).isEqualTo(StepState.FAILED);
        assertThat(step.errorCode()).isEqualTo("BUDGET_EXCEEDED");
    }

    /** A run without a limit. */
    private World worldOfOneCredit() {
        World world = run("1", RunPolicy.DEFAULT.withApprovePlan(true), plan(task("a")));
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        return world;
    }

    @Test
    void withoutALimitTheCreditsStopTheRun() {
        World world = worldOfOneCredit();
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 200_000, 200_000);
        failProgram(world, step);
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        bank.grant(World.WORKSPACE, usd("9"));
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claim("a")).isSameAs(step);
    }

    /** A decision that does not know the balance says so: else the program would be executed again and again. */
    @Test
    void whetherCreditsPayARefusedRequestIsDecidedUnderALock() {
        World world = worldOfOneCredit();
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 200_000, 200_000);
        OptimisticBalances unknown = new OptimisticBalances();
        Decider.decide(world.view, fail(world, step, Tokens.NONE), new ChangeSet(), world.now, UUID::randomUUID,
                LocalCapacity.none(), new Funds(PRICES, unknown));
        assertThat(unknown.needsLock()).isTrue();
    }

    /** The limit has 0.4 when the second request is refused, and 0.99 after the answer of the first one. */
    @Test
    void anAnswerOfAnEarlierRequestKeepsTheRefusal() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        UUID first = UUID.randomUUID();
        ask(world, step, first, 0, 60_000, 60_000);
        ask(world, step, UUID.randomUUID(), 0, 60_000, 60_000);
        end(world, step, first, Outcome.ANSWERED, tokens(0, 1_000));
        failProgram(world, step);
        assertThat(List.of(step.state(), step.failures())).containsExactly(StepState.RUNNING, 0);
        assertThat(world.claim("a")).isSameAs(step);
    }

    @Test
    void ofSeveralRefusedRequestsTheMostExpensiveCounts() {
        World world = world("0.5", 1);
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 500_000, 500_000);
        ask(world, step, UUID.randomUUID(), 0, 60_000, 60_000);
        failProgram(world, step);
        raise(world, "0.7");
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        raise(world, "5.1");
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    /** Executions in a row that end so are bounded as lost leases are. */
    @Test
    void theLastOfTooManyRefusalsIsTheReasonOfTheFailure() {
        World world = world("0.5", 1);
        StepRow step = world.claim("a");
        step.deliveries = RunPolicy.DEFAULT.maxDeliveries();
        ask(world, step, UUID.randomUUID(), 0, 64_000, 64_000);
        failProgram(world, step);
        assertThat(step.state()).isEqualTo(StepState.FAILED);
        assertThat(step.errorCode()).isEqualTo("BUDGET_EXCEEDED");
    }

    @Test
    void aRefusedRequestIsNotTheReasonAfterAnAnswer() {
        World world = world("0.5", 1);
        StepRow step = world.claim("a");
        ask(world, step, UUID.randomUUID(), 0, 64_000, 64_000);
        UUID smaller = UUID.randomUUID();
        ask(world, step, smaller, 1_000, 1_000, 1);
        end(world, step, smaller, Outcome.ANSWERED, tokens(1_000, 500));
        world.done(new Command.Fail(world.id(), step.id(), 1,
                new StepError("PROGRAM_FAILED", ErrorClass.PERMANENT, "exit code 1"),
                Result.spent(Tokens.NONE, null, null), WORKER));
        assertThat(step.errorCode()).isEqualTo("PROGRAM_FAILED");
    }

    /** The program is killed and its step is tried again: the server reads the answer to its end, and charges it once. */
    @Test
    void anAnswerAfterTheEndOfItsLeaseIsCharged() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        UUID id = UUID.randomUUID();
        ask(world, step, id, 1_000, 1_000, 1);
        world.expire(step);
        assertThat(world.view.held).isEqualByComparingTo("0.011");
        world.claim("a");
        assertThat(end(world, step, id, Outcome.ANSWERED, tokens(1_000, 500))).isEqualTo(Reply.CHANGED);
        assertThat(end(world, step, id, Outcome.ANSWERED, tokens(1_000, 500))).isInstanceOf(Reply.Rejected.class);
        assertThat(charged(world)).isEqualByComparingTo("0.006");
        assertThat(world.view.held).isEqualByComparingTo("0");
    }

    @Test
    void aStepThatEndsIsChargedForWhatItsProvidersMayHaveBilled() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        UUID id = UUID.randomUUID();
        ask(world, step, id, 1_000, 1_000, 1);
        world.done(new Command.Complete(world.id(), step.id(), 1, Result.of("1"), WORKER));
        assertThat(step.state()).isEqualTo(StepState.COMPLETED);
        assertThat(charged(world)).isEqualByComparingTo("0.011");
        assertThat(world.view.run().state()).isEqualTo(RunState.COMPLETED);
        assertThat(end(world, step, id, Outcome.ANSWERED, tokens(1_000, 500))).isInstanceOf(Reply.Rejected.class);
        assertThat(world.view.held).isEqualByComparingTo("0");
    }

    @Test
    void aRefusedOrLostAnswerEndsItsHold() {
        World world = world("1", 1);
        StepRow step = world.claim("a");
        UUID refused = UUID.randomUUID();
        ask(world, step, refused, 1_000, 1_000, 1);
        end(world, step, refused, Outcome.REFUSED, null);
        assertThat(charged(world)).isEqualByComparingTo("0");
        UUID lost = UUID.randomUUID();
        ask(world, step, lost, 1_000, 1_000, 1);
        end(world, step, lost, Outcome.LOST, null);
        assertThat(charged(world)).isEqualByComparingTo("0.011");
        assertThat(world.view.held).isEqualByComparingTo("0");
    }

    /** The holder's own report is charged beside the requests, and the result of the lease has both. */
    @Test
    void reportsOfTheHolderComeOnTop() {
        World world = world("10", 1);
        StepRow step = world.claim("a");
        UUID id = UUID.randomUUID();
        ask(world, step, id, 1_000, 1_000, 1);
        end(world, step, id, Outcome.ANSWERED, tokens(1_000, 1_000));
        world.done(new Command.Complete(world.id(), step.id(), 1, new Result("1", tokens(1_000, 0), null, "m",
                List.of(), null), WORKER));
        assertThat(charged(world)).isEqualByComparingTo("0.012");
        assertThat(step.cost()).isEqualByComparingTo("0.012");
    }

    @Test
    void onlyTheHolderOfTheLeaseBeginsRequests() {
        World world = world(null, 1);
        StepRow step = world.claim("a");
        world.expire(step);
        assertThat(ask(world, step, UUID.randomUUID(), 1, 1, 1)).isInstanceOfSatisfying(Reply.Rejected.class,
                refusal -> assertThat(refusal.code()).isEqualTo("STALE_LEASE"));
    }
}
