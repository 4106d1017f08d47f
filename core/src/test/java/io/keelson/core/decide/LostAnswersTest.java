package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.LostAnswer.Reported;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Charges of requests to models whose answers are lost, for each way in which a step ends. */
class LostAnswersTest extends OneWorkspace {
    /** 0.01 of input, which the provider's cache may keep, and 0.04 of output. */
    private static final WorstCase MOST = new WorstCase("m", 10_000, 4_000, true);
    private static final Actor HOLDER = Actor.agent("w1");

    private World world;
    private StepRow step;

    @BeforeEach
    void claim() {
        world = run("10", RunPolicy.DEFAULT, plan(task("t").steps(1)));
        world.prices = new Prices(Map.of(),
                Map.of("m", new ModelPrice(new TokenPrices(usd("0.5"), null, usd("1"), usd("10")), 1)));
        step = world.claimAll().getFirst();
    }

    private static List<LostAnswer> lost(@Nullable String responseId) {
        return List.of(new LostAnswer("m", "0".repeat(64), Instant.EPOCH, new Tokens(10_000, 0, 0, 4_000, 0),
                responseId));
    }

    private void hold() {
        assertThat(world.send(new Command.Hold(world.id(), step.id(), step.leaseEpoch(), MOST, false, HOLDER)))
                .isInstanceOf(Reply.Claimed.class);
    }

    private void expire(List<LostAnswer> lost) {
        world.done(new Command.LeaseExpired(world.id(), step.id(), step.leaseEpoch(), Duration.ofSeconds(30), false,
                lost, World.WHO));
    }

    private void fail(ErrorClass errorClass, Result spent, List<LostAnswer> lost) {
        world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(), new StepError("X", errorClass, "broke"),
                spent, lost, HOLDER));
    }

    private void complete(List<LostAnswer> lost) {
        world.done(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                new Result("1", new Tokens(100, 0, 0, 20, 0), null, "m", List.of(), null), null, lost, HOLDER));
    }

    private List<Transfer> charges() {
        return bank.ledger().stream().filter(transfer -> transfer.kind() == Kind.CHARGE).toList();
    }

    private void assertChargedAtMost() {
        assertThat(charges()).singleElement().satisfies(charge -> {
            assertThat(charge.amount()).isEqualByComparingTo("0.05");
            assertThat(charge.use()).satisfies(use -> {
                assertThat(use.tokens()).isEqualTo(new Tokens(0, 0, 10_000, 4_000, 0));
                assertThat(use.estimated()).isTrue();
            });
        });
        assertThat(world.view.run().cost()).isEqualByComparingTo("0.05");
        assertThat(step.cost()).isEqualByComparingTo("0.05");
        assertThat(world.view.held).isEqualByComparingTo(BigDecimal.ZERO);
    }

    private long named() {
        return world.events.stream().filter(event -> event.type() == EventType.MODEL_ANSWER_LOST).count();
    }

    @Test
    void aLeaseThatExpiresIsChargedForWhatItHasSent() {
        hold();
        expire(lost(null));
        assertChargedAtMost();
        assertThat(world.last("model_answer_lost").members()).containsEntry("charged", "0.050000");
    }

    @Test
    void aLeaseThatIsGivenBackIsChargedForWhatItHasSent() {
        hold();
        world.done(new Command.Release(world.id(), step.id(), 1, null, lost(null), HOLDER));
        assertChargedAtMost();
    }

    @Test
    void aFailedTryIsChargedForItsAnswersAndForTheLostOne() {
        hold();
        fail(ErrorClass.PERMANENT, Result.spent(new Tokens(1_000, 0, 0, 100, 0), null, "m"), lost(null));
        assertThat(charges()).singleElement()
                .satisfies(charge -> assertThat(charge.amount()).isEqualByComparingTo("0.0515"));
        assertThat(world.last("step_failed").members()).containsEntry("estimated", true).containsEntry("charged",
                "0.051500");
        assertThat(named()).isEqualTo(1);
    }

    @Test
    void aStepThatIsCancelledWhileItsRequestIsUnderWayIsChargedByItsHold() {
        hold();
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertChargedAtMost();
        assertThat(world.last("step_cancelled").members()).containsEntry("estimated", true);
        Command named = new Command.Release(world.id(), step.id(), 1, null, lost(null), HOLDER);
        assertThat(world.send(named)).isEqualTo(Reply.CHANGED);
        assertThat(world.send(named)).isEqualTo(new Reply.Duplicate(null));
        assertThat(named()).as("by its holder, once").isEqualTo(1);
        assertChargedAtMost();
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void whatWasNotSentCostsNothing() {
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertThat(charges()).isEmpty();
        assertThat(named()).isZero();
    }

    @Test
    void reportedInputIsChargedExactly() {
        hold();
        expire(List.of(new LostAnswer("m", "0".repeat(64), Instant.EPOCH, new Tokens(4_000, 0, 0, 4_000, 0),
                Reported.INPUT, null)));
        assertThat(charges().getFirst().amount()).isEqualByComparingTo("0.042");
        assertThat(charges().getFirst().use().estimated()).isTrue();
    }

    @Test
    void fetchedAnswerIsHeldAndThenChargedExactly() {
        hold();
        expire(lost("r1"));
        assertThat(charges()).as("its provider may have billed it").isEmpty();
        assertThat(world.view.held).isEqualByComparingTo("0.05");
        step = world.claimAll().getFirst();
        complete(List.of());
        assertThat(charges()).singleElement()
                .satisfies(charge -> assertThat(charge.amount()).isEqualByComparingTo("0.00025"));
        assertThat(charges().getFirst().use().estimated()).isFalse();
        assertThat(named()).isZero();
    }

    @Test
    void anAnswerThatNothingFetchesIsChargedOnceTheStepHasEnded() {
        hold();
        expire(lost("r1"));
        step = world.claimAll().getFirst();
        fail(ErrorClass.PERMANENT, Result.of("null"), lost("r1"));
        assertChargedAtMost();
        assertThat(named()).isEqualTo(1);
    }

    @Test
    void aStepThatIsCancelledBeforeItFetchesIsChargedByWhatItHolds() {
        hold();
        expire(lost("r1"));
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertThat(charges()).singleElement()
                .satisfies(charge -> assertThat(charge.amount()).isEqualByComparingTo("0.05"));
    }

    /** The lease has a result of its own, and a charge by which an answer is not charged once more. */
    @Test
    void leaseIsChargedForALostAnswerAndLaterForAnUnfetchedOne() {
        hold();
        expire(List.of(lost(null).getFirst(), lost("r1").getFirst()));
        assertThat(charges()).hasSize(1);
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertThat(charges()).hasSize(2).allSatisfy(
                charge -> assertThat(charge.amount()).isEqualByComparingTo("0.05"));
        assertThat(charges().stream().map(Transfer::key).distinct()).hasSize(2);
        assertThat(step.cost()).isEqualByComparingTo("0.1");
    }

    /** The next execution computes a worst case that costs less, or that nothing pays. */
    @ParameterizedTest
    @ValueSource(longs = {1, 10_000_000})
    void theHoldOfARequestThatWasSentIsNotReplacedByASmallerOne(long output) {
        hold();
        expire(lost("r1"));
        step = world.claimAll().getFirst();
        assertThat(world.send(new Command.Hold(world.id(), step.id(), step.leaseEpoch(),
                new WorstCase("m", 100, output, true), false, HOLDER))).isInstanceOf(Reply.Claimed.class);
        assertThat(world.view.held).isGreaterThanOrEqualTo(usd("0.05"));
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertThat(world.view.run().cost()).isGreaterThanOrEqualTo(usd("0.05"));
    }

    @Test
    void aResultIsChargedWithTheAnswersThatItDoesNotUse() {
        hold();
        complete(lost("r1"));
        assertThat(charges()).singleElement()
                .satisfies(charge -> assertThat(charge.amount()).isEqualByComparingTo("0.05025"));
        assertThat(named()).isEqualTo(1);
    }
}
