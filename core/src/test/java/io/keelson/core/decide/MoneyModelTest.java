package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.MoneyModel.State;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Bank;
import io.keelson.core.money.Budget;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of what can happen to the credits of one workspace, several runs at a time, reports repeated and late,
 * against a model of exact decimals. A sequence that fails is made as short as it can be. More of them with
 * {@code -Dkeelson.money.operations=1000000}.
 */
class MoneyModelTest {
    private static final long OPERATIONS = Long.getLong("keelson.money.operations", 100_000);
    private static final long FIRST = Long.getLong("keelson.money.seed", 1);
    private static final int LENGTH = 120;
    private static final int RUNS = 4;
    private static final int STEPS = 5;
    private static final int MILLION = 1_000_000;
    private static final RetryPolicy AGAIN =
            new RetryPolicy(1_000, 1_000, Duration.ofSeconds(1), Duration.ofSeconds(1), 1, 0);
    private static final FailureRules RULES = new FailureRules(FailureMode.FAIL_FAST, FailureMode.FAIL_FAST,
            RetryPolicy.TASK, RetryPolicy.LEVEL, EscalationPolicy.OFF, null, 0, false, false);
    private static final RunPolicy POLICY = new RunPolicy(false, 1_000, 2, 2, 2, 2, false, MILLION, 2, 5).with(RULES);
    private static final Plan PLAN = plan(task("a").retry(AGAIN).steps(STEPS));

    private enum Kind {
        START, COMPLETE, FAIL, REPEAT, EXPIRE, WAIT, CANCEL, FAIL_RUN, RETRY, PAUSE, RESUME, RAISE, GRANT
    }

    /**
     * @param amount millionths of a credit
     * @param parts of a cost, millionths of a millionth beyond the amount
     */
    private record Op(Kind kind, int run, int amount, int parts) {
        private BigDecimal credits() {
            return BigDecimal.valueOf(amount, 6);
        }

        private BigDecimal cost() {
            return credits().add(BigDecimal.valueOf(parts, 12));
        }

        private static Op random(Random random) {
            Kind[] often = {Kind.START, Kind.COMPLETE, Kind.COMPLETE, Kind.COMPLETE, Kind.FAIL, Kind.WAIT, Kind.REPEAT,
                    Kind.RESUME, Kind.RAISE, Kind.RETRY};
            Kind kind = random.nextInt(3) > 0 ? often[random.nextInt(often.length)]
                    : Kind.values()[random.nextInt(Kind.values().length)];
            int size = random.nextInt(6);
            int most = size == 0 ? 3 * MILLION : size < 3 ? 4 : MILLION / 2;
            return new Op(kind, random.nextInt(RUNS), random.nextInt(6) == 0 ? 0 : random.nextInt(most),
                    random.nextBoolean() ? 0 : random.nextInt(MILLION));
        }
    }

    /** A sequence carried out on the core and on the model side by side. */
    private static final class Both {
        private final Bank bank = new Bank();
        private final MoneyModel model = new MoneyModel();
        private final World[] worlds = new World[RUNS];
        private final MoneyModel.Run[] runs = new MoneyModel.Run[RUNS];
        private final Command[] last = new Command[RUNS];
        private int started;

        private Both() {
            bank.grant(World.WORKSPACE, Amounts.ONE);
            model.grant(Amounts.ONE);
        }

        private void apply(Op op) {
            World world = worlds[op.run];
            MoneyModel.Run run = runs[op.run];
            if (op.kind == Kind.GRANT) {
                bank.grant(World.WORKSPACE, op.credits());
                model.grant(op.credits());
            } else if (op.kind == Kind.START && (world == null || world.state().terminal())) {
                start(op);
            } else if (world != null) {
                apply(op, world, run);
            }
            compare();
        }

        private void start(Op op) {
            BigDecimal limit = op.amount % 2 == 0 ? op.credits() : null;
            BigDecimal estimate = op.amount % 3 == 0 ? op.credits() : Amounts.ZERO;
            World world = World.start(bank, ++started,
                    POLICY.with(new Budget(estimate, Map.of(), limit, null, null, Amounts.ZERO)), PLAN);
            MoneyModel.Run run = model.start(estimate, limit);
            same("started", world.view != null, run != null);
            worlds[op.run] = run == null ? null : world;
            runs[op.run] = run;
            last[op.run] = null;
        }

        private void apply(Op op, World world, MoneyModel.Run run) {
            StepRow step = world.state().terminal() ? null : held(world);
            switch (op.kind) {
                case COMPLETE, FAIL -> {
                    if (step != null) {
                        report(op, world, run, step);
                    }
                }
                case REPEAT -> {
                    if (last[op.run] != null) {
                        world.send(last[op.run]);
                    }
                }
                case EXPIRE -> {
                    if (step != null) {
                        world.expire(step);
                    }
                }
                case WAIT -> {
                    boolean opens = run.state == State.RUNNING && waits(world);
                    if (!world.state().terminal() && world.nextBackoff()) {
                        model.opens(run, opens);
                    }
                }
                case CANCEL -> ended(world.send(new Command.Cancel(world.id(), null, World.WHO)), run, State.ENDED);
                case FAIL_RUN -> ended(world.send(new Command.FailRun(world.id(), null, World.WHO)), run, State.FAILED);
                case RETRY -> {
                    if (run.state == State.FAILED) {
                        Reply reply = world.send(new Command.Retry(world.id(), true, World.WHO));
                        same("retried", reply.equals(Reply.CHANGED), model.retry(run));
                    }
                }
                case PAUSE -> {
                    if (run.state == State.RUNNING) {
                        world.done(new Command.Pause(world.id(), null, World.WHO));
                        run.state = State.PAUSED;
                    }
                }
                case RESUME -> {
                    if (run.state == State.PAUSED || run.state == State.STOPPED) {
                        boolean opens = wouldOpen(world);
                        boolean done = allDone(world);
                        Reply reply = world.send(new Command.Resume(world.id(), World.WHO));
                        same("resumed", reply.equals(Reply.CHANGED), model.resume(run, opens));
                        endIf(done, run);
                    }
                }
                case RAISE -> {
                    boolean opens = wouldOpen(world);
                    boolean done = !world.state().terminal() && allDone(world);
                    Reply reply =
                            world.send(new Command.RaiseBudget(world.id(), op.credits(), null, Map.of(), World.WHO));
                    boolean again = run.state == State.STOPPED && run.limit != null
                            && op.credits().compareTo(run.limit) == 0;
                    boolean raised = model.raise(run, op.credits(), opens);
                    endIf(done, run);
                    same("raised", !(reply instanceof Reply.Rejected) || again, raised);
                }
                case START, GRANT -> {
                }
            }
        }

        private void report(Op op, World world, MoneyModel.Run run, StepRow step) {
            boolean complete = op.kind == Kind.COMPLETE;
            boolean lastStep = step.position() == STEPS;
            Actor who = Actor.agent("w1");
            last[op.run] = complete
                    ? new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                            new Result("1", Tokens.NONE, op.cost(), List.of()), who)
                    : new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                            new StepError("BROKEN", ErrorClass.INFRASTRUCTURE, "broken"),
                            Result.spent(Tokens.NONE, op.cost(), null), who);
            world.done(last[op.run]);
            if (complete) {
                model.complete(run, op.cost(), lastStep);
            } else {
                model.fail(run, op.cost());
            }
        }

        private static boolean allDone(World world) {
            return world.view.steps.values().stream().allMatch(step -> step.state.terminal());
        }

        /** A run that continues with nothing left to do has ended. */
        private void endIf(boolean done, MoneyModel.Run run) {
            if (done && run.state == State.RUNNING) {
                model.end(run, State.ENDED);
            }
        }

        private void ended(Reply reply, MoneyModel.Run run, State how) {
            if (reply.equals(Reply.CHANGED)) {
                model.end(run, how);
            }
        }

        /** The step that is at work, claimed if it waits for that; null when none can be. */
        private static StepRow held(World world) {
            StepRow held = world.view.steps.values().stream().filter(StepRow::isHeld).findFirst().orElse(null);
            if (held != null || world.state() != RunState.RUNNING) {
                return held;
            }
            return world.claimAll().stream().findFirst().orElse(null);
        }

        private static boolean waits(World world) {
            return world.view.steps.values().stream().anyMatch(step -> step.state == StepState.AWAITING_RETRY);
        }

        /** Whether a resume would begin a step now. */
        private static boolean wouldOpen(World world) {
            return world.view.steps.values().stream().noneMatch(step -> step.queued
                    || step.state == StepState.AWAITING_RETRY && step.nextRunAt.isAfter(world.now))
                    && world.view.steps.values().stream().anyMatch(step -> !step.state.terminal());
        }

        private void compare() {
            same("available", bank.available(World.WORKSPACE), model.available);
            BigDecimal open = Amounts.ZERO;
            for (int i = 0; i < RUNS; i++) {
                if (worlds[i] != null) {
                    compare(worlds[i].view.run(), runs[i]);
                    open = open.add(runs[i].charged);
                }
            }
            BigDecimal charged = open;
            bank.check(workspace -> charged);
        }

        private static void compare(RunRow is, MoneyModel.Run expected) {
            same("reserved", is.reserved(), expected.reserved);
            same("charged", is.charged(), expected.charged);
            same("uncollected", is.uncollected(), expected.uncollected);
            same("charged before", is.chargedBefore(), expected.before);
            same("collected", is.chargedBefore().add(is.charged()).add(is.remainder()), expected.collected);
            same("refunded", is.refunded(), expected.refunded);
            same("state", switch (is.state()) {
                case PENDING, RUNNING -> State.RUNNING;
                case PAUSED -> State.PAUSED;
                case BUDGET_EXCEEDED -> State.STOPPED;
                case FAILED -> State.FAILED;
                case COMPLETED, CANCELLED, SKIPPED -> State.ENDED;
                case CREATED, PLANNING, AWAITING_APPROVAL, READY, ESCALATED, RESUMING, RETRYING ->
                    throw new AssertionError(is.state());
            }, expected.state);
        }

        private static void same(String what, Object is, Object expected) {
            boolean same = is instanceof BigDecimal amount && expected instanceof BigDecimal other
                    ? amount.compareTo(other) == 0
                    : is.equals(expected);
            if (!same) {
                throw new AssertionError(what + " is " + is + ", expected " + expected);
            }
        }
    }

    @Test
    void theCoreDoesWhatTheModelDoes() {
        long operations = 0;
        for (long seed = FIRST; operations < OPERATIONS; seed++) {
            Random random = new Random(seed);
            List<Op> ops = Stream.generate(() -> Op.random(random)).limit(LENGTH).toList();
            Throwable failure = failure(ops);
            if (failure != null) {
                List<Op> shortest = shrink(ops, each -> failure(each) != null);
                throw new AssertionError("seed " + seed + ", shortened to " + shortest, failure(shortest));
            }
            operations += LENGTH;
        }
    }

    private static Throwable failure(List<Op> ops) {
        Both both = new Both();
        try {
            ops.forEach(both::apply);
            return null;
        } catch (RuntimeException | AssertionError e) {
            return e;
        }
    }

    /** Removes operations that the failure does not need, first in large pieces, then rounds the amounts. */
    private static List<Op> shrink(List<Op> failing, Predicate<List<Op>> fails) {
        List<Op> now = new ArrayList<>(failing);
        for (int before = now.size() + 1; now.size() < before;) {
            before = now.size();
            now = without(now, fails);
        }
        return simpler(now, fails);
    }

    private static List<Op> without(List<Op> failing, Predicate<List<Op>> fails) {
        List<Op> now = failing;
        for (int piece = now.size() / 2; piece > 0; piece /= 2) {
            for (int from = 0; from < now.size();) {
                List<Op> less = new ArrayList<>(now);
                less.subList(from, Math.min(from + piece, less.size())).clear();
                if (fails.test(less)) {
                    now = less;
                } else {
                    from += piece;
                }
            }
        }
        return now;
    }

    private static List<Op> simpler(List<Op> failing, Predicate<List<Op>> fails) {
        List<Op> now = failing;
        for (int i = 0; i < now.size(); i++) {
            for (int amount : new int[] {0, MILLION / 2, MILLION, 2 * MILLION}) {
                List<Op> simpler = new ArrayList<>(now);
                simpler.set(i, new Op(now.get(i).kind, now.get(i).run, amount, 0));
                if (fails.test(simpler)) {
                    now = simpler;
                    break;
                }
            }
        }
        return now;
    }

    /** What shortens failures is worth something only if it can. */
    @Test
    void aFailureIsMadeAsShortAsItCanBe() {
        Random random = new Random(1);
        List<Op> ops = Stream.generate(() -> Op.random(random)).limit(500).toList();
        List<Op> shortest = shrink(ops, each -> each.stream().filter(op -> op.kind == Kind.CANCEL).count() >= 2
                && each.stream().anyMatch(op -> op.kind == Kind.GRANT && op.amount > 400_000));
        assertThat(shortest).extracting(Op::kind).containsExactlyInAnyOrder(Kind.CANCEL, Kind.CANCEL, Kind.GRANT);
        assertThat(shortest).extracting(Op::amount).containsOnly(0, MILLION / 2);
    }
}
