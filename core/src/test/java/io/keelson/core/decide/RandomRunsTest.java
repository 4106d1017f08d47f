package io.keelson.core.decide;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Hooks;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs with random plans under random commands: workers that report twice, late or never, people who pause, resume,
 * cancel and retry at any moment, evaluators that answer twice or not at all. Invariants are checked after every commit;
 * when the disturbance ends, every run must come to its end.
 */
class RandomRunsTest {
    private static final RunPolicy TIGHT = new RunPolicy(false, 3, 2, 2, 3, 2, false, 4, 2, 5);

    private static final RetryPolicy QUICK = new RetryPolicy(3, 3, Duration.ofSeconds(1), Duration.ofSeconds(3), 2, 0);

    static IntStream seeds() {
        return IntStream.range(Integer.getInteger("keelson.random.from", 0),
                Integer.getInteger("keelson.random.to", 600));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyRunEndsAfterRandomCommands(int seed) {
        Random random = new Random(seed);
        Random uses = new Random(seed);
        World world = start(random, new Random(31L * seed));
        world.holder = random.nextBoolean() ? "node" : null;
        for (int i = 0; i < 120; i++) {
            disturb(world, random);
            meter(world, uses);
        }
        Invariants.legal(world);
        finish(world, random);
        assertThat(world.state().terminal()).as("seed %s ends, is %s %s %s", seed, world.state(),
                world.view.run().gate(),
                world.view
                        .tasks().stream().map(t -> t.key() + " " + t.state + " " + t.upstreamsOpen + t.evaluating
                                + t.agent().name() + t.steps.stream().map(s -> s.state + "" + s.queued).toList())
                        .toList())
                .isTrue();
        Invariants.legal(world);
    }

    /** @param rounds chooses the tasks that are done in rounds, so that the other choices stay as they were */
    private static World start(Random random, Random rounds) {
        RunPolicy policy = policy(random);
        Plan plan = plan(random, rounds);
        if (policy.failures().planner() != null && random.nextInt(4) == 0) {
            return World.start(policy, new Plan(0, List.of()));
        }
        if (random.nextInt(6) > 0) {
            return World.start(policy, plan);
        }
        Map<String, UUID> carried = plan.tasks().stream().filter(task -> task.dependsOn().isEmpty())
                .filter(task -> random.nextBoolean())
                .collect(Collectors.toMap(TaskSpec::id, task -> new UUID(7, random.nextInt())));
        return World.fork(policy, plan, new NewRun.Fork(new UUID(7, 0), "t0", carried), random.nextBoolean());
    }

    private static void disturb(World world, Random random) {
        List<StepRow> steps = world.view.tasks().stream().flatMap(t -> t.steps().stream()).toList();
        StepRow step = steps.isEmpty() ? null : steps.get(random.nextInt(steps.size()));
        switch (random.nextInt(29)) {
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
            case 19, 20 -> interveneOne(world, random);
            case 21, 22 -> resolveOne(world, random);
            case 23 -> judgeOne(world, random);
            case 24 -> letTimePass(world, random);
            case 25 -> release(world, step);
            default -> decideOne(world, random, step);
        }
    }

    private static RunPolicy policy(Random random) {
        FailureMode[] modes = FailureMode.values();
        EscalationPolicy escalation = new EscalationPolicy(random.nextBoolean(), random.nextInt(3) == 0,
                Duration.ofSeconds(300), random.nextInt(9), 0.5);
        StepSpec planner = step("planner", StepKind.TOOL);
        FailureRules rules = new FailureRules(modes[random.nextInt(3)], modes[random.nextInt(3)], QUICK, QUICK,
                escalation, random.nextInt(3) == 0 ? planner : null, 2, random.nextBoolean(), random.nextInt(4) == 0);
        HumanRules humans = new HumanRules(random.nextInt(4) == 0, Duration.ofMinutes(10),
                HumanRules.OnTimeout.values()[random.nextInt(3)]);
        Hooks hooks = new Hooks(random.nextInt(4) == 0 ? step("before", StepKind.TOOL) : null,
                random.nextInt(4) == 0 ? step("after", StepKind.TOOL) : null);
        return TIGHT.withApprovePlan(random.nextInt(4) == 0).with(rules).with(humans).with(hooks);
    }

    private static StepSpec step(String name, StepKind kind) {
        return new StepSpec(name, kind, "noop", "{}", RetryPolicy.STEP, Duration.ofSeconds(30));
    }

    private static void interveneOne(World world, Random random) {
        List<TaskRow> tasks = List.copyOf(world.view.tasks());
        if (tasks.isEmpty()) {
            return;
        }
        UUID task = tasks.get(random.nextInt(tasks.size())).id();
        switch (random.nextInt(12)) {
            case 0 -> world.send(new Command.CancelTask(world.id(), task, null, World.WHO));
            case 1 -> world.send(new Command.SkipTask(world.id(), task, null, World.WHO));
            case 2 -> world.send(new Command.CancelAgent(world.id(), 1 + random.nextInt(3), null, World.WHO));
            case 3, 4, 5 -> world.send(new Command.Replan(world.id(), null, World.WHO));
            case 6 -> {
                if (random.nextInt(5) == 0) {
                    world.send(new Command.FailRun(world.id(), null, World.WHO));
                }
            }
            default -> world.send(new Command.RetryTask(world.id(), task, World.WHO));
        }
    }

    private static void resolveOne(World world, Random random) {
        List<TicketRow> open = List.copyOf(world.view.tickets());
        if (!open.isEmpty()) {
            Command.Resolution[] all = Command.Resolution.values();
            world.done(new Command.Resolve(world.id(), open.get(random.nextInt(open.size())).id(),
                    all[random.nextInt(random.nextInt(4) == 0 ? 4 : 2)], null, World.WHO));
        }
    }

    private static void judgeOne(World world, Random random) {
        Command.DecideTask.Choice[] all = Command.DecideTask.Choice.values();
        List.copyOf(world.view.tasks()).stream().filter(task -> task.state() == TaskState.AWAITING_HUMAN).findAny()
                .ifPresent(task -> world.done(new Command.DecideTask(world.id(), task.id(),
                        all[random.nextInt(all.length)], task.attempt(), null, World.WHO)));
    }

    /** Advances time by minutes mostly, at times by days or without an engine; then fires all due timers. */
    private static void letTimePass(World world, Random random) {
        Duration time = switch (random.nextInt(8)) {
            case 0 -> Duration.ofHours(random.nextInt(200));
            case 1 -> Duration.ofHours(random.nextInt(12));
            default -> Duration.ofSeconds(random.nextInt(600));
        };
        if (random.nextInt(4) == 0) {
            world.outage(time);
        } else {
            world.watchUntil(world.now.plus(time));
        }
        if (random.nextBoolean()) {
            List.copyOf(world.timers.values()).stream().filter(timer -> !timer.dueAt().isAfter(world.now))
                    .filter(timer -> world.timers.containsKey(timer.key()))
                    .forEach(timer -> world.deliver(timer.key().kind(), timer.key().subject()));
        }
    }

    /** Heartbeats with what their steps have used, some after the end of their leases. */
    private static void meter(World world, Random random) {
        world.view.tasks().stream().flatMap(task -> task.steps().stream())
                .filter(step -> step.leaseEpoch() > 0 && random.nextInt(4) == 0)
                .forEach(step -> world.send(new Command.Meter(world.id(), step.id(), step.leaseEpoch(),
                        Result.spent(Tokens.undivided(random.nextInt(100)), BigDecimal.valueOf(random.nextInt(100), 3),
                                null),
                        Actor.agent("w1"))));
    }

    private static void release(World world, StepRow step) {
        if (step != null && step.isHeld()) {
            world.send(new Command.Release(world.id(), step.id(), step.leaseEpoch(), World.WHO));
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

    private static NextStepRequest next(StepRow step, Random random) {
        return step.holder() == null || random.nextBoolean() ? null
                : new NextStepRequest(step.holder(), Set.of(step.spec().tool()), World.LEASE);
    }

    private static void reportOne(World world, Random random, StepRow step) {
        if (step == null) {
            return;
        }
        int epoch = step.leaseEpoch() - (random.nextInt(8) == 0 ? 1 : 0);
        ErrorClass how = random.nextInt(6) == 0 ? ErrorClass.PERMANENT : ErrorClass.INFRASTRUCTURE;
        int n = random.nextInt(10);
        Command report = n < 6
                ? new Command.Complete(world.id(), step.id(), epoch, result(random), next(step, random), World.WHO)
                : n < 8 ? new Command.Fail(world.id(), step.id(), epoch, new StepError("X", how, "x"),
                        Result.of("null"), World.WHO)
                        : n == 8 ? new Command.Continue(world.id(), step.id(), epoch, Result.of("1"), World.WHO)
                                : new Command.Release(world.id(), step.id(), epoch, World.WHO);
        Reply first = world.send(report);
        if (n != 9 && (first == Reply.CHANGED || first instanceof Reply.Claimed) && random.nextInt(3) == 0) {
            assertThat(world.send(report)).as("delivered twice").isNotEqualTo(first);
        }
    }

    private static Result result(Random random) {
        Verdict.Outcome[] all = Verdict.Outcome.values();
        return new Result("1", Tokens.undivided(random.nextInt(3)), null, null, List.of(),
                random.nextInt(20) == 0 ? null
                        : new Verdict(all[Math.max(0, random.nextInt(6) - 3)], BigDecimal.ONE, null));
    }

    private static void expireOne(World world, StepRow step) {
        if (step != null) {
            world.send(new Command.LeaseExpired(world.id(), step.id(), step.leaseEpoch(), World.LEASE,
                    step.id().getLeastSignificantBits() % 2 == 0, List.of(), Actor.RECONCILER));
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
                if (task == null || !task.isGroup() || task.isLoop()) {
                    yield random.nextInt(3) == 0 ? new Evaluation.Skip() : new Evaluation.Proceed(null);
                }
                yield new Evaluation.Proceed(
                        IntStream.range(0, random.nextInt(7)).mapToObj(Integer::toString).toList());
            }
            case EVALUATE_PLAN -> new Evaluation.Planned(newPlan(world, random), "{}");
            case EVALUATE_STEP -> new Evaluation.Opened("{}", Duration.ofSeconds(5), null);
            default -> {
                TaskRow task = world.view.task(asked.subject());
                yield task != null && task.isLoop() && (task.round() + asked.subject().hashCode()) % 3 != 0
                        ? new Evaluation.Repeats(1)
                        : new Evaluation.Output("1");
            }
        };
    }

    /** What is finished stays and can be depended on; the rest is new. */
    private static Plan newPlan(World world, Random random) {
        List<Plans.T> tasks = new ArrayList<>();
        for (TaskRow task : world.view.tasks()) {
            if (task.state() == TaskState.COMPLETED && task.group() == null && !task.system()) {
                tasks.add(Plans.task(task.key()).step("s", StepKind.TOOL));
            }
        }
        List<String> done = tasks.stream().map(task -> task.id).toList();
        for (int i = random.nextInt(3); i >= 0; i--) {
            String[] on = done.isEmpty() || random.nextBoolean() ? new String[0] : new String[] {done.getFirst()};
            tasks.add(Plans.task("v" + world.view.run().planVersion() + "-" + i).on(on).step("s", StepKind.TOOL));
        }
        return Plans.plan(tasks);
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
            List.copyOf(world.view.tickets()).forEach(ticket -> world.send(new Command.Resolve(world.id(), ticket.id(),
                    Command.Resolution.RESUME, null, World.WHO)));
            List.copyOf(world.view.tasks()).stream().filter(task -> task.state() == TaskState.AWAITING_HUMAN)
                    .forEach(task -> world.send(new Command.DecideTask(world.id(), task.id(),
                            Command.DecideTask.Choice.APPROVE, null, null, World.WHO)));
            if (world.view.run().gate() == RunRow.Gate.ACCEPTANCE) {
                world.send(new Command.Approve(world.id(), null, World.WHO));
            }
            world.claimAll();
            world.view.tasks().stream().flatMap(t -> t.steps().stream()).filter(StepRow::isHeld).toList()
                    .forEach(step -> world
                            .send(new Command.Complete(world.id(), step.id(), step.leaseEpoch(), World.GOOD,
                                    World.WHO)));
            world.view.tasks().stream().flatMap(t -> t.steps().stream())
                    .filter(s -> s.state() == StepState.WAITING_APPROVAL).toList()
                    .forEach(s -> world.send(new Command.DecideStep(world.id(), s.id(), true, null, World.WHO)));
            while (!world.evaluations.isEmpty()) {
                answerOne(world, random, false);
            }
            if (world.timers.keySet().stream().anyMatch(key -> key.kind() != TimerKind.WATCH)) {
                world.nextTimer();
            }
        }
    }

    private static Plan plan(Random random, Random rounds) {
        int count = random.nextInt(9);
        List<Plans.T> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Plans.T task = Plans.task("t" + i);
            Repeat repeated = null;
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
            } else if (rounds.nextInt(6) == 0) {
                repeated = new Repeat("${ . }", 1 + rounds.nextInt(5), Duration.ofSeconds(rounds.nextInt(4)), null,
                        1 + rounds.nextInt(2));
            }
            if (random.nextInt(6) == 0) {
                task.output("\"${ . }\"");
            }
            if (random.nextInt(4) == 0) {
                task.parallel();
            }
            if (random.nextInt(3) == 0) {
                FailureMode mode = FailureMode.values()[random.nextInt(3)];
                List<StepSpec> verify = random.nextInt(3) == 0 ? List.of()
                        : List.of(step("verify-1", StepKind.VERIFY), step("verify-2", StepKind.VERIFY));
                task.policy(new TaskPolicy(mode, random.nextBoolean() ? null : QUICK, verify, random.nextInt(5) == 0,
                        random.nextInt(4) == 0 ? Duration.ofSeconds(40) : null));
            }
            task.repeat(repeated);
            for (int s = random.nextInt(4); s >= 0; s--) {
                int kind = random.nextInt(8);
                task.step("s" + s, kind == 0 ? StepKind.APPROVAL
                        : kind == 1 ? StepKind.WAIT : kind == 2 ? StepKind.TURN : StepKind.TOOL);
            }
            tasks.add(task);
        }
        return Plans.plan(tasks);
    }
}
