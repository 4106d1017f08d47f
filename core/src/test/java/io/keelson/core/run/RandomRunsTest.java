package io.keelson.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Changes.Evaluate;
import io.keelson.core.run.Changes.QueueItem;
import io.keelson.core.run.Changes.Timer;
import io.keelson.core.run.Command.Evaluation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs with random plans under random commands: workers that report twice, late or never, humans who pause, resume,
 * cancel and retry at any moment, evaluators that answer twice or not at all. Invariants are checked after every commit;
 * when the disturbance ends, every run must come to its end.
 */
class RandomRunsTest {
    private static final RunPolicy TIGHT = new RunPolicy(false, 3, 2, 2, 3, 2, false, 4, 2, 5);

    static IntStream seeds() {
        return IntStream.range(0, 400);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyRunEndsWhateverHappened(int seed) {
        Random random = new Random(seed);
        World world = World.start(random.nextInt(4) == 0 ? TIGHT.withApprovePlan(true) : TIGHT, plan(random));
        world.holder = random.nextBoolean() ? "node" : null;
        for (int i = 0; i < 120; i++) {
            disturb(world, random);
        }
        Invariants.legal(world);
        finish(world, random);
        assertThat(world.state().terminal()).as("seed %s ends, is %s", seed, world.state()).isTrue();
        Invariants.legal(world);
    }

    private static void disturb(World world, Random random) {
        List<StepRow> steps = world.view.tasks().stream().flatMap(t -> t.steps().stream()).toList();
        StepRow step = steps.isEmpty() ? null : steps.get(random.nextInt(steps.size()));
        switch (random.nextInt(20)) {
            case 0 -> world.send(new Command.Pause(world.id(), null, World.WHO));
            case 1, 2 -> world.send(new Command.Resume(world.id(), World.WHO));
            case 3 -> world.send(new Command.Retry(world.id(), random.nextBoolean(), World.WHO));
            case 4 -> world.send(new Command.Approve(world.id(), null, World.WHO));
            case 5 -> world.send(random.nextInt(25) == 0 ? new Command.Cancel(world.id(), null, World.WHO)
                    : new Command.Settle(world.id(), Actor.RECONCILER));
            case 6, 7, 8 -> claimOne(world, random);
            case 9, 10, 11, 12 -> reportOne(world, random, step);
            case 13 -> expireOne(world, step);
            case 14, 15 -> timerOne(world, random);
            case 16, 17, 18 -> answerOne(world, random, true);
            default -> decideOne(world, random, step);
        }
    }

    private static void claimOne(World world, Random random) {
        List<QueueItem> items = new ArrayList<>(world.queue.values());
        if (!items.isEmpty()) {
            QueueItem item = items.get(random.nextInt(items.size()));
            world.send(new Command.Claim(world.id(), item.key().taskId(), item.key().lane(), "w" + random.nextInt(3),
                    World.LEASE, World.WHO));
        }
    }

    private static Next next(StepRow step, Random random) {
        return step.holder() == null || random.nextBoolean() ? null
                : new Next(step.holder(), Set.of(step.spec().tool()), World.LEASE);
    }

    private static void reportOne(World world, Random random, StepRow step) {
        if (step == null) {
            return;
        }
        int epoch = step.leaseEpoch() - (random.nextInt(8) == 0 ? 1 : 0);
        ErrorClass how = random.nextInt(6) == 0 ? ErrorClass.PERMANENT : ErrorClass.INFRASTRUCTURE;
        int n = random.nextInt(10);
        Command report = n < 6
                ? new Command.Complete(world.id(), step.id(), epoch, Result.of("1"), next(step, random), World.WHO)
                : n < 8 ? new Command.Fail(world.id(), step.id(), epoch, new StepError("X", how, "x"),
                        Result.of("null"), World.WHO)
                        : n == 8 ? new Command.Continue(world.id(), step.id(), epoch, Result.of("1"), World.WHO)
                                : new Command.Release(world.id(), step.id(), epoch, World.WHO);
        Reply first = world.send(report);
        if (n != 9 && (first == Reply.CHANGED || first instanceof Reply.Claimed) && random.nextInt(3) == 0) {
            assertThat(world.send(report)).as("delivered twice").isNotEqualTo(first);
        }
    }

    private static void expireOne(World world, StepRow step) {
        if (step != null) {
            world.send(new Command.LeaseExpired(world.id(), step.task().id(), step.lane(), step.leaseEpoch(),
                    Actor.RECONCILER));
        }
    }

    private static void timerOne(World world, Random random) {
        List<Timer> timers = new ArrayList<>(world.timers.values());
        if (!timers.isEmpty()) {
            Timer timer = timers.get(random.nextInt(timers.size()));
            if (random.nextBoolean() && timer.dueAt().isAfter(world.now)) {
                world.now = timer.dueAt();
            }
            world.send(new Command.TimerDue(world.id(), timer.key().kind(), timer.key().subject(), Actor.SYSTEM));
        }
    }

    private static void answerOne(World world, Random random, boolean mayBreak) {
        if (world.evaluations.isEmpty()) {
            return;
        }
        Evaluate asked = world.evaluations.get(random.nextInt(world.evaluations.size()));
        Evaluation answer = answer(world, asked, random, mayBreak);
        world.answer(asked, answer);
        if (random.nextInt(4) == 0) {
            world.send(new Command.Evaluated(world.id(), asked.kind(), asked.subject(), answer, Actor.SYSTEM));
        }
    }

    private static Evaluation answer(World world, Evaluate asked, Random random, boolean mayBreak) {
        if (mayBreak && random.nextInt(15) == 0) {
            return new Evaluation.Broken(new StepError("EXPRESSION_FAILED", ErrorClass.PERMANENT, "no"));
        }
        return switch (asked.kind()) {
            case EVALUATE_GATE -> {
                TaskRow task = world.view.task(asked.subject());
                if (task == null || !task.isGroup()) {
                    yield random.nextInt(3) == 0 ? new Evaluation.Skip() : new Evaluation.Proceed(null);
                }
                yield new Evaluation.Proceed(
                        IntStream.range(0, random.nextInt(7)).mapToObj(Integer::toString).toList());
            }
            case EVALUATE_STEP -> new Evaluation.Opened("{}", Duration.ofSeconds(5), null);
            default -> new Evaluation.Output("1");
        };
    }

    private static void decideOne(World world, Random random, StepRow step) {
        if (step != null) {
            world.send(new Command.DecideStep(world.id(), step.id(), random.nextInt(5) > 0, null, World.WHO));
        }
    }

    /** From now on nothing goes wrong and everybody answers. */
    private static void finish(World world, Random random) {
        for (int i = 0; i < 2_000 && !world.state().terminal(); i++) {
            if (world.state() == RunState.AWAITING_APPROVAL) {
                world.done(new Command.Approve(world.id(), null, World.WHO));
            }
            world.send(new Command.Resume(world.id(), World.WHO));
            world.claimAll();
            world.view.tasks().stream().flatMap(t -> t.steps().stream()).filter(StepRow::held).toList()
                    .forEach(world::complete);
            world.view.tasks().stream().flatMap(t -> t.steps().stream())
                    .filter(s -> s.state() == StepState.WAITING_APPROVAL).toList()
                    .forEach(s -> world.send(new Command.DecideStep(world.id(), s.id(), true, null, World.WHO)));
            while (!world.evaluations.isEmpty()) {
                answerOne(world, random, false);
            }
            if (!world.timers.isEmpty()) {
                world.nextTimer();
            }
        }
    }

    private static Plan plan(Random random) {
        int count = random.nextInt(9);
        List<Plans.T> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Plans.T task = Plans.task("t" + i);
            Set<String> upstreams = new HashSet<>();
            for (int u = 0; u < i && upstreams.size() < 3; u++) {
                if (random.nextInt(3) == 0) {
                    upstreams.add("t" + u);
                }
            }
            task.on(upstreams.stream().sorted().toArray(String[]::new));
            task.rule(random.nextInt(2) == 0 ? TriggerRule.ALL_SUCCESS
                    : TriggerRule.values()[random.nextInt(TriggerRule.values().length)]);
            if (random.nextInt(3) == 0) {
                task.agent("agent" + random.nextInt(4));
            }
            if (random.nextInt(5) == 0) {
                task.when("${ . }");
            }
            if (random.nextInt(6) == 0) {
                task.forEach("${ . }");
            }
            if (random.nextInt(6) == 0) {
                task.output("\"${ . }\"");
            }
            if (random.nextInt(4) == 0) {
                task.parallel();
            }
            for (int s = random.nextInt(4); s >= 0; s--) {
                int kind = random.nextInt(8);
                task.step("s" + s, kind == 0 ? StepKind.APPROVAL : kind == 1 ? StepKind.WAIT : StepKind.TOOL);
            }
            tasks.add(task);
        }
        return Plans.plan(tasks);
    }
}
