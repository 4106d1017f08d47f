package io.keelson.core.sim;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Concurrency;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Hooks;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.HumanRules.OnTimeout;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.Reuse;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.plan.Undo;
import io.keelson.core.plan.UndoRules;
import io.keelson.core.policy.CallApproval;
import io.keelson.core.policy.CallApprovals;
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
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs of every shape: DAGs, agents, fan-out, parallel steps, approvals, waits, conditions, tight limits. */
final class RandomPlans {
    /** Tools that nodes run themselves start with it; the others need a remote worker. */
    static final String LOCAL = "local";
    static final String JUDGE = "judge";
    private static final RetryPolicy QUICK =
            new RetryPolicy(3, 3, Duration.ofSeconds(1), Duration.ofSeconds(8), 2, 0.1);
    private static final RetryPolicy SLOW = new RetryPolicy(2, 4, Duration.ofSeconds(20), Duration.ofMinutes(2), 2, 0);

    private static final Set<Long> WITHOUT_UNDO = Set.of(2L, 9L, 30L, 37L, 58L, 191L, 247L, 1_269L);

    private final Random random;
    private final int places;
    private final boolean chains;
    private final boolean rounds;
    private final boolean undos;
    private boolean children;
    private final boolean reuses;
    private final boolean groups;

    RandomPlans(Random random) {
        this(random, 2, false, false, false, false, false);
    }

    /**
     * @param places of decimals in its amounts
     * @param chains whether most steps are of tools that nodes run
     * @param rounds whether some tasks are done in rounds
     * @param undos whether most tasks have an undo
     * @param reuses whether steps of most tasks may take over results
     * @param groups whether rounds are also of groups
     */
    RandomPlans(Random random, int places, boolean chains, boolean rounds, boolean undos, boolean reuses,
            boolean groups) {
        this.reuses = reuses;
        this.groups = groups;
        this.undos = undos;
        this.random = random;
        this.places = places;
        this.chains = chains;
        this.rounds = rounds;
    }

    /** Stories whose runs are undone. Stories that find a rare mutant keep their commands. */
    static boolean undoes(long seed) {
        return seed % 7 == 2 && !WITHOUT_UNDO.contains(seed);
    }

    /** Stories whose undos have the runs undone that steps of the originals started. */
    static boolean undoesChildren(long seed) {
        return undoes(seed) && seed % 28 == 2;
    }

    /** Stories whose steps take over results. Stories that find a rare mutant keep their commands. */
    static boolean reuses(long seed) {
        return seed % 6 == 4 && !WITHOUT_UNDO.contains(seed);
    }

    /** Stories with rounds. Without rounds a story keeps its commands: one of them finds a rare mutant. */
    static boolean repeats(long seed) {
        return seed % 5 == 3 && seed != 58;
    }

    /** Stories in which two people approve. */
    static boolean votes(long seed) {
        return seed % 11 == 6;
    }

    /** Stories with rounds of groups. */
    static boolean repeatsGroups(long seed) {
        return seed % 10 == 3;
    }

    static RandomPlans undoingChildren(Random random) {
        return new RandomPlans(random, 2, false, false, true, false, false).undoingChildren();
    }

    /** Runs that are started are undone with the run that started them. */
    RandomPlans undoingChildren() {
        children = true;
        return this;
    }

    NewRun run(UUID id, UUID workspace) {
        RunPolicy policy = new RunPolicy(chance(25), 3, 1 + random.nextInt(3), 1 + random.nextInt(2),
                1 + random.nextInt(3), 1 + random.nextInt(3), chance(15), 2 + random.nextInt(3), 1 + random.nextInt(2),
                4,
                new FailureRules(mode(), orUnsaid(mode(), id), chance(50) ? QUICK : RetryPolicy.TASK,
                        chance(50) ? QUICK : RetryPolicy.TASK,
                        escalation(),
                        chance(40) ? step("planner", StepKind.TOOL) : null, 2, chance(50), chance(15))
                        .keeping(id.getLeastSignificantBits() % 2 == 0),
                chance(50) ? Timeouts.DEFAULT : timeouts(), humans(), new Hooks(
                        chance(15) ? step("before", StepKind.TOOL) : null,
                        chance(15) ? step("after", StepKind.TOOL) : null),
                budget(), id.getLeastSignificantBits() % 3 == 2 ? new Concurrency("key", 1, null) : null);
        List<TaskSpec> tasks = new ArrayList<>();
        for (int i = random.nextInt(7); i > 0; i--) {
            tasks.add(reusing(undone(repeated(climbing(
                    task("t" + tasks.size(), tasks.size(), taskBudget(policy, id, tasks.size())), id), id), id), id));
        }
        if (rounds && groups) {
            addGroup(tasks, id);
        }
        boolean goal = policy.failures().planner() != null && id.getLeastSignificantBits() % 4 == 1;
        NewRun run = new NewRun(id, workspace, "r", null, children ? Undos.OF_CHILDREN : "goal",
                goal ? new Plan(0, List.of()) : new Plan(1, tasks),
                name(id), "{}", undone(policy, id),
                "{}", "[]",
                chance(30) ? "{}" : null, random.nextInt(3), "manual", null, null, "ann");
        return id.getLeastSignificantBits() % 4 == 3
                ? run.startingAt(Simulation.START.plusSeconds(id.getLeastSignificantBits() * 7 % 90))
                : run;
    }

    private Budget budget() {
        return chance(40) ? Budget.NONE
                : new Budget(cents(150), chance(20) ? Map.of("model", 10_000L) : Map.of(),
                        chance(60) ? cents(40) : null,
                        chance(50) ? cents(30) : null, chance(50) ? BigDecimal.valueOf(random.nextInt(100)) : null,
                        chance(20) ? cents(300) : Amounts.ZERO);
    }

    private BigDecimal cents(int most) {
        return BigDecimal.valueOf(random.nextInt(most), places);
    }

    /** The text as which a run's first plan is stored. */
    static String name(UUID run) {
        return '"' + run.toString() + '"';
    }

    private FailureMode mode() {
        return chance(50) ? FailureMode.FAIL_FAST : FailureMode.values()[random.nextInt(3)];
    }

    /** By the run's id, so that the other choices stay as they were. */
    private static FailureMode orUnsaid(FailureMode mode, UUID run) {
        return Math.floorMod(run.getLeastSignificantBits(), 4) == 1 ? null : mode;
    }

    private EscalationPolicy escalation() {
        return chance(40) ? EscalationPolicy.OFF
                : new EscalationPolicy(chance(70), chance(40), Duration.ofSeconds(120),
                        2 + random.nextInt(9), 0.7);
    }

    /** Short ones, so that they pass within a story. */
    private Timeouts timeouts() {
        return new Timeouts(seconds(60), seconds(240), seconds(90), seconds(30), seconds(60), seconds(150),
                seconds(80), seconds(50), seconds(20), seconds(25), seconds(50), Duration.ofSeconds(30));
    }

    private Duration seconds(int most) {
        return Duration.ofSeconds(most / 2 + random.nextInt(most / 2));
    }

    private HumanRules humans() {
        OnTimeout[] all = OnTimeout.values();
        return chance(60) ? HumanRules.DEFAULT
                : new HumanRules(chance(50), seconds(40), all[random.nextInt(all.length)]);
    }

    private TaskPolicy policy() {
        if (chance(55)) {
            return TaskPolicy.DEFAULT;
        }
        List<StepSpec> verify = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            verify.add(step("verify" + i, StepKind.VERIFY));
        }
        return new TaskPolicy(mode(), chance(50) ? null : QUICK, verify, chance(25), chance(20) ? seconds(60) : null);
    }

    /** A planner's answer: what is finished stays and can be depended on, the rest is new. */
    static Evaluation.Planned another(RunRows rows) {
        List<String> kept = rows.tasksNow().stream().filter(task -> task.state() == TaskState.COMPLETED
                && task.groupId() == null && !task.key().startsWith(".")).map(Saved.Task::key).toList();
        List<String> all = new ArrayList<>(kept);
        for (int i = rows.run.planVersion() % 2; i >= 0; i--) {
            all.add("v" + rows.run.planVersion() + "-" + i + (kept.isEmpty() ? "" : "<" + kept.getFirst()));
        }
        String json = '"' + String.join(" ", all) + '"';
        return new Evaluation.Planned(read(json), json);
    }

    /** A plan as it was stored, JSON text: names of tasks, each with the one that it depends on behind a {@code <}. */
    static Plan read(String json) {
        List<TaskSpec> tasks = new ArrayList<>();
        for (String each : json.replace("\"", "").split(" ")) {
            String[] parts = each.split("<");
            List<Dependency> on = parts.length == 1 ? List.of() : List.of(new Dependency(parts[1], true));
            tasks.add(new TaskSpec(parts[0], parts[0], null, TaskType.OTHER, null, on, TriggerRule.ALL_SUCCESS, null,
                    null,
                    null, false, List.of(new StepSpec("s0", StepKind.TOOL, "remote", "{}", RetryPolicy.STEP,
                            Duration.ofSeconds(40))),
                    null));
        }
        return new Plan(1, tasks);
    }

    /** Null for none. By choices that are made already, so that the others stay as they were. */
    private @Nullable BigDecimal taskBudget(RunPolicy policy, UUID run, int task) {
        long number = Math.floorMod(run.getLeastSignificantBits() * 31 + task * 7L
                + policy.budget().estimate().unscaledValue().longValue() / 10_000
                + policy.timeouts().task().toSeconds(), 60L);
        return number % 3 == 0 ? BigDecimal.valueOf(1 + number / 3, places) : null;
    }

    /** Some tasks of agents have a ladder, by the run's id, so that the other choices stay as they were. */
    private static TaskSpec climbing(TaskSpec task, UUID run) {
        AgentTerms terms = task.policy().agent();
        long number = Math.floorMod(run.getLeastSignificantBits() * 17 + task.id().hashCode(), 6L);
        if (terms == null || number > 2) {
            return task;
        }
        Rung other = new Rung(number == 0 ? Rung.To.AGENT : Rung.To.MODEL, terms, new StepSpec("rung1", StepKind.TURN,
                "agent.turn", "{}", RetryPolicy.STEP, Duration.ofSeconds(40)));
        return task.with(task.policy().climbing(List.of(other, new Rung(Rung.To.HUMAN, null, null))));
    }

    /** Some tasks are done in rounds, by the run's id. */
    private TaskSpec repeated(TaskSpec task, UUID run) {
        int number = Math.floorMod((int) run.getLeastSignificantBits() * 13 + task.id().hashCode() * 5, 24);
        if (!rounds || number % 3 == 2 || task.forEach() != null) {
            return task;
        }
        return task.with(task.policy().repeated(new Repeat("${ . }", 2 + number % 7, Duration.ofSeconds(number % 4 * 2),
                number % 5 == 4 ? BigDecimal.valueOf(1 + number, places) : null, 1 + number % 6 / 4)));
    }

    /** A group that does copies of the first tasks in rounds, and a task after it. */
    private void addGroup(List<TaskSpec> tasks, UUID run) {
        int number = Math.floorMod((int) run.getLeastSignificantBits() * 7, 10);
        List<TaskSpec> copied = tasks.stream().limit(1 + number % 3).toList();
        if (copied.isEmpty()) {
            return;
        }
        List<String> names = copied.stream().map(TaskSpec::id).toList();
        TaskSpec last = tasks.getLast();
        Repeat rule = new Repeat("${ . }", 2 + number % 5, Duration.ofSeconds(number % 3),
                number % 5 == 4 ? BigDecimal.valueOf(1 + number, places) : null, 1 + number / 7).of(names);
        tasks.add(copy(last, "g", number % 2 == 0 ? List.of() : List.of(new Dependency(last.id(), true)), List.of(),
                new TaskPolicy(number % 4 == 3 ? FailureMode.CONTINUE : FailureMode.FAIL_FAST, null, List.of(), false,
                        null).repeated(rule)));
        for (TaskSpec task : copied) {
            tasks.add(copy(task, "g." + task.id(), task.dependsOn().stream().filter(on -> names.contains(on.task()))
                    .map(on -> new Dependency("g." + on.task(), on.data())).toList(), task.steps(),
                    task.policy().repeated(null).costing(null)));
        }
        tasks.add(copy(last, "h", List.of(new Dependency("g", true)), last.steps(), last.policy().repeated(null)
                .costing(null)));
    }

    private static TaskSpec copy(TaskSpec of, String id, List<Dependency> on, List<StepSpec> steps, TaskPolicy policy) {
        return new TaskSpec(id, id, null, of.taskType(), of.agent(), on, of.triggerRule(), of.when(), null, null,
                of.parallelSteps(), steps, null, policy);
    }

    private RunPolicy undone(RunPolicy policy, UUID run) {
        long number = Math.floorMod(run.getLeastSignificantBits() * 5, 4L);
        return undos ? policy.with(new UndoRules(number < 3, number % 2 == 0, null)) : policy;
    }

    /** Most tasks have an undo, as a whole or by their steps; by the run's id. */
    private TaskSpec undone(TaskSpec task, UUID run) {
        int number = Math.floorMod((int) run.getLeastSignificantBits() * 11 + task.id().hashCode() * 7, 12);
        if (!undos || number < 2) {
            return task;
        }
        List<StepSpec> calls = List.of(new StepSpec("back", StepKind.TOOL, number % 2 == 0 ? LOCAL : "remote", "{}",
                RetryPolicy.STEP, Duration.ofSeconds(20)));
        Map<String, List<StepSpec>> ofSteps = new HashMap<>();
        task.steps().stream().filter(step -> !children || step.kind() != StepKind.RUN)
                .forEach(step -> ofSteps.put(step.name(), calls));
        return task.with(task.policy()
                .undoneBy(number < (children ? 4 : 8) ? new Undo(calls, Map.of()) : new Undo(List.of(), ofSteps)));
    }

    /** The steps of most tasks may take over results; by the run's id. */
    private TaskSpec reusing(TaskSpec task, UUID run) {
        int number = Math.floorMod((int) run.getLeastSignificantBits() * 13 + task.id().hashCode() * 5, 10);
        if (!reuses || number < 3) {
            return task;
        }
        Map<String, Reuse.Rule> rules = new HashMap<>();
        task.steps().forEach(step -> rules.put(step.name(), new Reuse.Rule(null, 60)));
        return task.with(task.policy().reusing(new Reuse(rules)));
    }

    private TaskSpec task(String id, int earlier, @Nullable BigDecimal budget) {
        List<Dependency> upstreams = new ArrayList<>();
        for (int i = 0; i < earlier; i++) {
            if (chance(35)) {
                upstreams.add(new Dependency("t" + i, chance(70)));
            }
        }
        List<StepSpec> steps = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            steps.add(step("s" + steps.size()));
        }
        TriggerRule rule = chance(60) ? TriggerRule.ALL_SUCCESS
                : TriggerRule.values()[random.nextInt(TriggerRule.values().length)];
        return new TaskSpec(id, id, null, TaskType.OTHER, chance(40) ? "agent" + random.nextInt(3) : null, upstreams,
                rule,
                chance(20) ? "${ . }" : null, chance(15) ? "${ . }" : null, chance(15) ? "\"${ . }\"" : null,
                chance(25), steps, null, (chance(40) ? policy().with(terms()) : policy()).costing(budget));
    }

    private AgentTerms terms() {
        String model = chance(50) ? "model" : null;
        int turns = chance(30) ? 1 + random.nextInt(4) : 0;
        boolean ofRoster = chance(50);
        CallApproval rule = model == null ? CallApproval.EFFECTS
                : ofRoster ? CallApproval.when(".n > 0")
                        : CallApproval.TAINTED;
        return new AgentTerms(ofRoster ? AgentTerms.ROSTER : AgentTerms.CONTRACTOR, null, "ann", model,
                List.of(LOCAL, "remote", AgentTerms.DELEGATE), turns, ofRoster ? List.of("ann 1000") : List.of())
                .ruled(CallApprovals.of(CallApprovals.ANY, rule)).reaching(List.of(LOCAL));
    }

    private StepSpec step(String name) {
        int n = chains && chance(60) ? 11 : random.nextInt(12);
        return step(name, n == 0 ? StepKind.APPROVAL
                : n == 1 ? StepKind.WAIT
                        : n == 2 ? StepKind.SIGNAL
                                : n == 3 && chance(50) ? StepKind.RUN : n <= 5 ? StepKind.TURN : StepKind.TOOL);
    }

    private StepSpec step(String name, StepKind kind) {
        String tool = switch (kind) {
            case TOOL -> chance(chains ? 85 : 50) ? LOCAL : "remote";
            case TURN -> "agent.turn";
            case VERIFY -> JUDGE;
            case APPROVAL, WAIT, SIGNAL, RUN -> kind.wire();
            case CALL -> throw new IllegalArgumentException("no plan has calls");
        };
        return new StepSpec(name, kind, tool, "{}",
                !chance(80) ? SLOW : kind == StepKind.TURN ? RetryPolicy.NONE : RetryPolicy.STEP,
                Duration.ofSeconds(chance(20) ? 5 : 40));
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }
}
