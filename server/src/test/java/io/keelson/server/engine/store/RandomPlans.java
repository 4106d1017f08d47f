package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;

import io.keelson.core.decide.RunView;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.Dependency;
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
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewRun;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Makes up runs and their plans, the same for the same random numbers. */
final class RandomPlans {
    private static final List<String> AGENTS = List.of("ada", "bob", "cyd");

    private static final List<StepKind> KINDS = List.of(StepKind.TOOL, StepKind.TURN, StepKind.APPROVAL, StepKind.WAIT);

    private final World world;
    private final Random random;
    /** Every task that was planned, by run and key: a loaded view does not know a finished task's steps. */
    private final Map<String, TaskSpec> planned = new HashMap<>();
    private int plans;

    RandomPlans(World world, Random random) {
        this.world = world;
        this.random = random;
    }

    NewRun newRun() {
        List<TaskSpec> tasks = new ArrayList<>();
        List<String> before = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(7); i++) {
            tasks.add(task("t" + i, before));
            before.add("t" + i);
        }
        NewRun run = run(world.ids.next(), world.workspace, policy(), tasks.toArray(TaskSpec[]::new));
        tasks.forEach(task -> planned.put(run.id() + task.id(), task));
        if (!chance(30)) {
            return run;
        }
        NewRun.Fork fork = chance(50) ? null
                : new NewRun.Fork(world.ids.next(), "t0", Map.of("t0", world.ids.next()));
        return new NewRun(run.id(), run.workspaceId(), run.name(), run.description(), run.goal(), run.plan(),
                run.planJson(), run.configJson(), run.policy(), run.inputsJson(), run.tagsJson(),
                "{\"all\":\"${ .tasks }\"}", random.nextInt(200), "api", "slug", null, false, "tester", fork);
    }

    private RunPolicy policy() {
        return new RunPolicy(chance(20), 3, 1 + random.nextInt(3), 1 + random.nextInt(2), 1 + random.nextInt(3),
                1 + random.nextInt(3), chance(20), 4, 2, 5, chance(30) ? FailureRules.DEFAULT : failures(),
                chance(60) ? Timeouts.DEFAULT : timeouts(), chance(50) ? HumanRules.DEFAULT : humans(), hooks(),
                budget(), null);
    }

    private Budget budget() {
        return chance(85) ? Budget.NONE
                : new Budget(BigDecimal.valueOf(random.nextInt(300), 2), chance(50) ? Map.of("m", 7L) : Map.of(),
                        chance(50) ? BigDecimal.valueOf(random.nextInt(200), 2) : null,
                        chance(50) ? BigDecimal.valueOf(random.nextInt(200), 2) : null,
                        chance(50) ? BigDecimal.valueOf(random.nextInt(100)) : null, BigDecimal.ZERO);
    }

    private FailureRules failures() {
        EscalationPolicy escalation = new EscalationPolicy(chance(60), chance(40),
                Duration.ofSeconds(20 + random.nextInt(300)), random.nextInt(9), 0.5);
        return new FailureRules(any(FailureMode.values()), any(FailureMode.values()), retry(), retry(), escalation,
                chance(50) ? step("planner", StepKind.TOOL) : null, 1 + random.nextInt(2), chance(40), chance(40));
    }

    private Timeouts timeouts() {
        return new Timeouts(seconds(200), seconds(600), seconds(400), seconds(60), seconds(300), seconds(300),
                seconds(200), seconds(60), seconds(60), seconds(60), seconds(60), Duration.ofSeconds(30));
    }

    private Duration seconds(int most) {
        return Duration.ofSeconds(5 + random.nextInt(most));
    }

    private HumanRules humans() {
        return new HumanRules(chance(40), seconds(100), any(HumanRules.OnTimeout.values()));
    }

    private Hooks hooks() {
        return new Hooks(chance(15) ? step("before", StepKind.TOOL) : null,
                chance(15) ? step("after", StepKind.TOOL) : null);
    }

    private TaskSpec task(String id, List<String> before) {
        List<Dependency> up = new ArrayList<>();
        before.stream().filter(each -> chance(35)).forEach(each -> up.add(new Dependency(each, chance(70))));
        List<StepSpec> steps = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
            steps.add(step("s" + i, chance(80) ? StepKind.TOOL : KINDS.get(random.nextInt(KINDS.size()))));
        }
        TaskPolicy policy = chance(40) ? TaskPolicy.DEFAULT : policyOfTask();
        boolean repeats = chance(12);
        return new TaskSpec(id, "Task " + id, chance(50) ? "words" : null, TaskType.RESEARCH,
                chance(50) ? AGENTS.get(random.nextInt(3)) : null, up, rule(), chance(15) ? "${ true }" : null,
                !repeats && chance(20) ? "${ [1, 2] }" : null, chance(20) ? "{\"v\":\"${ .steps }\"}" : null,
                chance(30), steps,
                chance(50) ? "it works" : null, repeats
                        ? policy.repeated(new Repeat("${ .output }", 1 + random.nextInt(4),
                                Duration.ofSeconds(random.nextInt(3)), chance(30) ? BigDecimal.ONE : null, 1))
                        : policy);
    }

    private TaskPolicy policyOfTask() {
        List<StepSpec> verify = new ArrayList<>();
        for (int i = 0; i < random.nextInt(3); i++) {
            verify.add(step("v" + i, StepKind.VERIFY));
        }
        return new TaskPolicy(any(FailureMode.values()), chance(50) ? retry() : null, verify, chance(20),
                chance(20) ? seconds(100) : null);
    }

    private TriggerRule rule() {
        return chance(70) ? TriggerRule.ALL_SUCCESS : any(TriggerRule.values());
    }

    private StepSpec step(String name, StepKind kind) {
        return new StepSpec(name, kind, kind == StepKind.TOOL ? "echo" : kind.wire(), "{\"n\":[1,\"${ .item }\"]}",
                chance(70) ? RetryPolicy.STEP : retry(), Duration.ofMillis(1 + random.nextInt(100_000)));
    }

    private RetryPolicy retry() {
        int attempts = 1 + random.nextInt(3);
        return new RetryPolicy(attempts, attempts, Duration.ofMillis(1500), Duration.ofMinutes(1), 3, 0,
                chance(20) ? Duration.ofSeconds(90) : null);
    }

    /** A planner's answer: finished tasks stay, and some are new. */
    Evaluation.Planned replan(RunView view) {
        List<TaskSpec> tasks = new ArrayList<>();
        List<String> before = new ArrayList<>();
        for (TaskRow task : view.tasks()) {
            if (task.group() == null && !task.system() && task.state() == TaskState.COMPLETED) {
                tasks.add(planned.get(view.run().id() + task.key()));
                before.add(task.key());
            }
        }
        int plan = ++plans;
        for (int i = 0; i <= random.nextInt(3); i++) {
            tasks.add(task("p" + plan + "-" + i, before));
            before.add("p" + plan + "-" + i);
        }
        tasks.forEach(task -> planned.put(view.run().id() + task.id(), task));
        String name = view.run().id() + "#" + plan;
        Plan made = new Plan(view.run().planVersion() + 1, tasks);
        world.plans.put(name, made);
        return new Evaluation.Planned(made, "{\"run\":\"" + name + "\"}");
    }

    private <T> T any(T[] values) {
        return values[random.nextInt(values.length)];
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }
}
