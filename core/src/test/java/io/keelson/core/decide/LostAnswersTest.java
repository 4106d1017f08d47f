package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Requests to models whose step ended before their answers came are named once, and charged never. */
class LostAnswersTest {
    private final World world = World.start(plan(task("a").step("turn", StepKind.TURN)));
    private final StepRow step = world.claimAll().getFirst();

    private Command release(int epoch) {
        return new Command.Release(world.id(), step.id(), epoch, null, answer(null), Actor.agent("w1"));
    }

    private static List<LostAnswer> answer(@Nullable String responseId) {
        return List.of(new LostAnswer("m", "0".repeat(64), Instant.EPOCH, Tokens.undivided(7), responseId));
    }

    private void fail(ErrorClass errorClass) {
        world.done(
                new Command.Fail(world.id(), step.id(), step.leaseEpoch(), new StepError("X", errorClass, "it broke"),
                        Result.of("null"), answer("r1"), Actor.agent("w1")));
    }

    private long named() {
        return world.events.stream().filter(event -> event.type() == EventType.MODEL_ANSWER_LOST).count();
    }

    @Test
    void theHolderOfACancelledStepNamesThemOnce() {
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertThat(world.send(release(1))).isEqualTo(Reply.CHANGED);
        assertThat(world.last("model_answer_lost").members()).containsEntry("lease_epoch", 1)
                .containsEntry("estimated_tokens", 7L);
        assertThat(world.send(release(1))).isEqualTo(new Reply.Duplicate(null));
        assertThat(named()).isEqualTo(1);
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void aStepThatGoesOnOrHasItsResultNamesNone() {
        world.expire(step);
        assertThat(world.refused(release(1)).code()).isEqualTo("STALE_LEASE");
        world.claimAll();
        assertThat(world.refused(release(1)).code()).isEqualTo("STALE_LEASE");
        world.complete(step);
        assertThat(world.send(release(2))).isEqualTo(new Reply.Duplicate(null));
        assertThat(named()).isZero();
    }

    @Test
    void anAnswerThatTheNextExecutionFetchesIsNamedOnlyOnceTheStepHasEnded() {
        world.done(new Command.LeaseExpired(world.id(), step.id(), 1, Duration.ofSeconds(30), false, answer("r1"),
                World.WHO));
        assertThat(named()).as("it is queued again").isZero();
        world.claimAll();
        fail(ErrorClass.PERMANENT);
        assertThat(named()).isEqualTo(1);
    }

    @Test
    void aResultNamesTheAnswersThatItDoesNotUse() {
        world.done(new Command.Complete(world.id(), step.id(), 1, World.GOOD, null, answer("r1"), Actor.agent("w1")));
        assertThat(named()).isEqualTo(1);
    }
}
