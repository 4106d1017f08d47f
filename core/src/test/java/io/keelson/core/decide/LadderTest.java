package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The rungs of a task's ladder under the run's budget. */
class LadderTest extends OneWorkspace {
    private static final Prices PRICES = new Prices(Map.of(),
            Map.of("small", new ModelPrice(TokenPrices.flat(usd("1")), 1), "medium",
                    new ModelPrice(TokenPrices.flat(usd("2")), 1), "large",
                    new ModelPrice(TokenPrices.flat(usd("100")), 1)));

    private static StepSpec turn(String name, String model) {
        return new StepSpec(name, StepKind.TURN, RunsOn.SERVER.tool(), "{}", Plans.ONCE, Duration.ofSeconds(9),
                new WorstCase(model, 1_000, 1_000));
    }

    private static AgentTerms terms(String slug, String model) {
        return new AgentTerms(AgentTerms.ROSTER, slug.length(), slug, model, List.of(), 0, List.of(), RunsOn.SERVER);
    }

    /** A task of a small model, with the rungs: a large model, another agent with a small one. */
    private World world(String limit) {
        World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true).with(limited(limit)),
                plan(task("a").step(turn("turn", "small")).policy(TaskPolicy.DEFAULT.with(terms("ann", "small"))
                        .climbing(List.of(new Rung(Rung.To.MODEL, terms("ann", "large"), turn("turn-1", "large")),
                                new Rung(Rung.To.AGENT, terms("barbara", "small"), turn("turn-2", "small")))))));
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        return world;
    }

    private static void fail(World world) {
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                new StepError("REFUSED", ErrorClass.PERMANENT, "refused"),
                Result.spent(new Tokens(100, 0, 0, 100, 0), null, step.spec().worstCase().model()), Actor.agent("w1")));
    }

    private static List<String> rungs(World world) {
        return world.events("task_rung_reached").stream().map(event -> event.members().get("rung") + " "
                + event.members().get("to") + " " + event.members().get("taken")).toList();
    }

    /** A task of a small model with three attempts, whose retries take other models. */
    private World retried(String limit) {
        World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true).with(limited(limit)),
                plan(task("a").step(turn("turn", "small")).policy(new TaskPolicy(FailureMode.FAIL_FAST,
                        new RetryPolicy(3, 3, Duration.ZERO, Duration.ZERO, 1, 0, null), List.of(), false, null)
                        .with(terms("ann", "small"))
                        .climbing(List.of(new Rung(Rung.To.RETRY, terms("ann", "medium"), turn("turn-2", "medium")),
                                new Rung(Rung.To.RETRY, terms("ann", "large"), turn("turn-3", "large")))))));
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        return world;
    }

    private static void fail(World world, ErrorClass errorClass) {
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                new StepError("FAILED", errorClass, "failed"), Result.spent(Tokens.undivided(10), null, "small"),
                Actor.agent("w1")));
        if (world.armed().contains(TimerKind.TASK_RETRY)) {
            world.nextTimer();
        }
    }

    @Test
    void noRungFollowsAFailRung() {
        World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true),
                plan(task("a").step(turn("turn", "small")).policy(TaskPolicy.DEFAULT.with(terms("ann", "small"))
                        .climbing(List.of(new Rung(Rung.To.FAIL, null, null),
                                new Rung(Rung.To.AGENT, terms("barbara", "small"), turn("turn-2", "small")))))));
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        fail(world);
        assertThat(world.task("a").state()).isEqualTo(TaskState.FAILED);
        assertThat(rungs(world)).isEmpty();
    }

    @Test
    void eachRetryAfterAFailureOfQualityTakesTheNextModel() {
        World world = retried("5");
        fail(world, ErrorClass.QUALITY);
        assertThat(Rungs.terms(world.task("a")).model()).isEqualTo("medium");
        fail(world, ErrorClass.QUALITY);
        assertThat(Rungs.terms(world.task("a")).model()).isEqualTo("large");
        assertThat(rungs(world)).containsExactly("1 retry true", "2 retry true");
        fail(world, ErrorClass.QUALITY);
        assertThat(world.task("a").state()).as("models of retries add no attempt").isEqualTo(TaskState.FAILED);
    }

    @Test
    void aRetryAfterAnInfrastructureFailureKeepsTheModel() {
        World world = retried("5");
        fail(world, ErrorClass.INFRASTRUCTURE);
        assertThat(world.claimAll().getFirst().spec().name()).isEqualTo("turn");
        assertThat(rungs(world)).isEmpty();
    }

    /** The large model needs 0.1256 at least, for 1,000 tokens of input and 256 of output. */
    @Test
    void aModelThatTheLimitDoesNotPayLeavesTheRetryWithItsOwn() {
        World world = retried("0.1");
        fail(world, ErrorClass.QUALITY);
        fail(world, ErrorClass.QUALITY);
        assertThat(rungs(world)).containsExactly("1 retry true", "2 retry false");
        assertThat(world.claimAll().getFirst().spec().name()).isEqualTo("turn-2");
    }

    /** The large model needs 0.1256 at least, for 1,000 tokens of input and 256 of output. */
    @Test
    void aRungThatTheLimitDoesNotPayIsPassedOver() {
        World world = world("0.1");
        fail(world);
        assertThat(rungs(world)).containsExactly("1 model false", "2 agent true");
        assertThat(world.claimAll().getFirst().spec().name()).isEqualTo("turn-2");
        assertThat(Rungs.terms(world.task("a")).slug()).isEqualTo("barbara");
    }

    @Test
    void aRungThatTheLimitPaysIsTaken() {
        World world = world("1");
        fail(world);
        fail(world);
        assertThat(rungs(world)).containsExactly("1 model true", "2 agent true");
        fail(world);
        assertThat(world.task("a").state()).isEqualTo(TaskState.FAILED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().cost()).isEqualByComparingTo(new BigDecimal("0.0204"));
    }

    @Test
    void aRungThatTheWorkspacesMonthDoesNotPayIsPassedOver() {
        World world = world("1");
        bank.withhold(World.WORKSPACE, usd("9"));
        world.done(new Command.RaiseBudget(world.id(), new BigDecimal("1.1"), null, Map.of(), World.WHO));
        fail(world);
        assertThat(rungs(world)).as("the reservation of 1 still pays it").containsExactly("1 model true");
    }
}
