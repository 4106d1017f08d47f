package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Bank;
import io.keelson.core.money.Budget;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.Price;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A workspace whose credits its runs use up, and short words for what happens to them. */
abstract class OneWorkspace {
    static final RetryPolicy TWICE = new RetryPolicy(2, 2, Duration.ofSeconds(1), Duration.ofSeconds(1), 1, 0);
    static final Prices FLAT = new Prices(Map.of("noop", new Price(usd("0.4"), 7)), Map.of());

    final Bank bank = new Bank();
    private int runs;

    static BigDecimal usd(String amount) {
        return Amounts.of(new BigDecimal(amount));
    }

    static RunPolicy budget(Budget budget) {
        return RunPolicy.DEFAULT.with(budget);
    }

    static Budget estimated(String credits) {
        return new Budget(usd(credits), Map.of(), null, null, null, Amounts.ZERO);
    }

    static Budget limited(String credits) {
        return Budget.upTo(usd(credits));
    }

    static Plan steps(int count) {
        return plan(task("a").steps(count));
    }

    /** A run of a workspace that has so much. */
    World run(String has, RunPolicy policy, Plan plan) {
        bank.grant(World.WORKSPACE, usd(has));
        return another(policy, plan);
    }

    World another(RunPolicy policy, Plan plan) {
        return World.start(bank, ++runs, policy, plan);
    }

    BigDecimal available() {
        return bank.available(World.WORKSPACE);
    }

    static Reply complete(World world, StepRow step, String cost) {
        return world.send(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                new Result("1", Tokens.undivided(10), cost == null ? null : new BigDecimal(cost), List.of()),
                Actor.agent("w1")));
    }

    static void step(World world, String cost) {
        assertThat(complete(world, world.claimAll().getFirst(), cost)).isEqualTo(Reply.CHANGED);
    }

    static void fail(World world, String cost) {
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                new StepError("BROKEN", ErrorClass.INFRASTRUCTURE, "broken"),
                Result.spent(Tokens.undivided(10), new BigDecimal(cost), null), Actor.agent("w1")));
    }

    static void raise(World world, String hard) {
        world.done(new Command.RaiseBudget(world.id(), new BigDecimal(hard), null, Map.of(), World.WHO));
    }

    List<String> booked(Kind kind) {
        return bank.ledger().stream().filter(t -> t.kind() == kind).map(t -> t.amount().toPlainString()).toList();
    }
}
