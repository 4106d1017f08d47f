package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Turns a plan into agents, tasks and steps: at the start, for a new attempt, and when a task fans out. */
final class Planning {

    private Planning() {}

    /**
     * What new tasks keep of the tasks they replace, by key.
     *
     * @param carried the tasks that hold the outputs of completed ones
     * @param generations effect generations; 1 for a key that has none
     */
    record Kept(Map<String, UUID> carried, Map<String, Integer> generations) {
        static final Kept NOTHING = new Kept(Map.of(), Map.of());
    }

    /**
     * {@code created} or {@code retrying} → {@code pending}. Without a plan, or where a human approves it, the run is
     * {@code planning} next; else it stays {@code pending} until its first step begins. A run with a concurrency key
     * stays {@code pending} until it is admitted.
     */
    static void begin(Decision d, boolean approved, Kept kept) {
        d.move(RunState.PENDING, new RunPayload.Queued(d.run.reserved));
        boolean missing = FirstPlan.missing(d);
        if (d.run.policy().concurrency() != null) {
            if (!missing) {
                spawnAll(d, kept);
            }
            recordAttempt(d, Credits.open(d.run));
        } else if (missing) {
            FirstPlan.begin(d);
        } else {
            spawnAll(d, kept);
            given(d, approved);
        }
    }

    /** The plan was given: a human approves it, or its first steps wait to be claimed. */
    private static void given(Decision d, boolean approved) {
        if (d.run.policy().approvePlan() && !approved) {
            d.move(RunState.PLANNING, new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
            open(d, ready(d), true);
        } else {
            d.note(new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
            d.note(ready(d));
            approved(d);
            run(d);
        }
    }

    /** A {@code pending} run is admitted. A plan that was executed before needs no further approval. */
    static void admit(Decision d) {
        if (FirstPlan.missing(d)) {
            FirstPlan.begin(d);
        } else {
            d.move(RunState.PLANNING, new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
            open(d, ready(d), d.run.policy().approvePlan() && d.run.startedAt == null);
        }
    }

    private static void spawnAll(Decision d, Kept kept) {
        spawn(d, d.view.requirePlan(), kept);
        hooks(d, kept.generations());
    }

    private static RunPayload.PlanReady ready(Decision d) {
        return new RunPayload.PlanReady(d.run.taskCount,
                d.run.policy().budget().estimate(d.funds.prices()).stripTrailingZeros(),
                d.view.requirePlan().strategy(), d.run.planVersion, null);
    }

    /**
     * The plan exists.
     *
     * @param ready the payload of its event
     * @param asks whether a human is asked first
     */
    static void open(Decision d, RunPayload.PlanReady ready, boolean asks) {
        if (asks) {
            d.move(RunState.AWAITING_APPROVAL, ready);
            d.arm(TimerKind.HUMAN, d.run.id(), d.now.plus(d.run.policy().humans().patience()));
            recordAttempt(d, Credits.open(d.run));
        } else {
            d.move(RunState.READY, ready);
            approved(d);
            run(d);
        }
    }

    /** No approval is required; later attempts have the approval of the first. */
    private static void approved(Decision d) {
        if (d.run.attempt == 1) {
            d.note(new RunPayload.Approved(RunPayload.AUTO, List.of(), null));
        }
    }

    /** The plan's gate is open: its first steps wait to be claimed, and the run is running from the first claim. */
    static void run(Decision d) {
        recordAttempt(d, Credits.open(d.run));
        if (HardLimit.stopped(d)) {
            return;
        }
        Completion.judgeAll(d);
        d.view.agents.forEach(agent -> Completion.end(d, agent));
        Completion.settle(d);
    }

    /** A new attempt of a failed run with new rows; the old ones stay with their attempt. */
    static void retry(Decision d, boolean fromStart) {
        Kept kept = renew(d, fromStart, null);
        begin(d, d.run.startedAt != null, kept);
    }

    /**
     *
     * A new attempt from the start, to begin at a later time.
     *
     * @param schedule the decision, for the event
     */
    static void retry(Decision d, Instant when, PayloadPart.Schedule schedule) {
        renew(d, true, schedule);
        d.arm(TimerKind.RUN_RETRY, d.run.id(), when);
    }

    private static Kept renew(Decision d, boolean fromStart, PayloadPart.@Nullable Schedule schedule) {
        Kept kept = fromStart ? Kept.NOTHING : new Kept(carried(d), generations(d));
        if (fromStart) {
            Proposals.withdraw(d);
        }
        d.run.attempt++;
        d.run.effectGeneration += fromStart || FirstPlan.missing(d) ? 1 : 0;
        d.run.failing = false;
        d.run.errorCode = null;
        d.run.errorMessage = null;
        d.run.output = null;
        d.run.agentCount = 0;
        d.run.taskCount = 0;
        d.run.tasksCompleted = 0;
        d.run.tasksFailed = 0;
        d.run.failures = 0;
        d.run.tasksSkipped = 0;
        d.run.stepCount = 0;
        d.run.stepsCompleted = 0;
        d.run.replans = 0;
        d.run.uncollected = Amounts.ZERO;
        d.run.gate = RunRow.Gate.NONE;
        d.run.active = Duration.ZERO;
        d.run.activeSince = null;
        d.run.quietSince = null;
        TaskBudgets.continued(d);
        d.view.forgetAttempt();
        d.move(RunState.RETRYING, new RunPayload.Retrying(d.run.attempt, kept.carried().size(), schedule));
        ChildRuns.anotherAttempt(d);
        return kept;
    }

    /** The effect generations of the current tasks, by key. */
    static Map<String, Integer> generations(Decision d) {
        Map<String, Integer> generations = new HashMap<>();
        d.view.tasks.values().forEach(task -> generations.put(task.key(), task.effectGeneration));
        return generations;
    }

    /**
     * Completed tasks whose upstreams in the plan are carried too, by key, each with the task that holds its output.
     */
    private static Map<String, UUID> carried(Decision d) {
        Map<String, UUID> carried = new HashMap<>();
        Map<String, TaskSpec> planned = new HashMap<>();
        d.view.requirePlan().tasks().forEach(spec -> planned.put(spec.id(), spec));
        boolean grew = true;
        while (grew) {
            grew = false;
            for (TaskRow task : d.view.tasks.values()) {
                TaskSpec spec = planned.get(task.key());
                if (spec != null && task.state == TaskState.COMPLETED && !carried.containsKey(task.key())
                        && spec.dependsOn().stream().allMatch(on -> carried.containsKey(on.task()))) {
                    carried.put(task.key(), task.reusedFrom == null ? task.id() : task.reusedFrom);
                    grew = true;
                }
            }
        }
        return carried;
    }

    private static void spawn(Decision d, Plan plan, Kept kept) {
        Map<String, AgentRow> agents = new LinkedHashMap<>();
        Map<String, TaskRow> byKey = new HashMap<>();
        int sequence = 0;
        for (TaskSpec spec : plan.tasks()) {
            AgentRow agent = agents.computeIfAbsent(spec.agent() == null ? "" : spec.agent(),
                    name -> spawnAgent(d, name));
            byKey.put(spec.id(), spawnTask(d, spec, agent, ++sequence, kept));
        }
        plan.tasks().forEach(spec -> link(d, spec, byKey));
        plan.tasks().forEach(spec -> tell(d, Objects.requireNonNull(byKey.get(spec.id()))));
    }

    private static TaskRow spawnTask(Decision d, TaskSpec spec, AgentRow agent, int sequence, Kept kept) {
        UUID reusedFrom = kept.carried().get(spec.id());
        TaskRow task = new TaskRow(d.ids.next(), spec.id(), sequence, spec, agent, null, -1, null);
        task.reusedFrom = reusedFrom;
        TaskBudgets.give(d, spec);
        task.effectGeneration = kept.generations().getOrDefault(spec.id(), 1);
        if (reusedFrom != null) {
            task.state = TaskState.COMPLETED;
            task.completedAt = d.now;
            d.run.tasksCompleted++;
        }
        add(d, task);
        return task;
    }

    /** Writes the event of a new task, whose links exist. */
    static void tell(Decision d, TaskRow task) {
        tell(d, task, null);
    }

    /** @param replaces the task that it replaces; null for none */
    static void tell(Decision d, TaskRow task, @Nullable UUID replaces) {
        String rule = task.spec().triggerRule().wire();
        List<UUID> dependsOn = task.upstreams.stream().map(TaskRow::id).toList();
        d.note(task, task.reusedFrom != null
                ? new TaskPayload.Carried(task.spec().taskType(), rule, dependsOn)
                : new TaskPayload.Created(task.spec().taskType(), rule, dependsOn, replaces,
                        task.group() == null ? null : task.group().key()));
    }

    private static void link(Decision d, TaskSpec spec, Map<String, TaskRow> byKey) {
        TaskRow task = Objects.requireNonNull(byKey.get(spec.id()));
        for (Dependency dependency : spec.dependsOn()) {
            d.view.link(task, Objects.requireNonNull(byKey.get(dependency.task())));
        }
    }

    private static AgentRow spawnAgent(Decision d, String name) {
        AgentRow agent = new AgentRow(d.ids.next(), d.view.agents.size() + 1, name.isEmpty() ? null : name);
        d.view.add(agent);
        d.changes.insert(d.run, agent);
        d.run.agentCount++;
        return agent;
    }

    private static void add(Decision d, TaskRow task) {
        d.view.add(task);
        d.changes.insert(d.run, task);
        d.run.taskCount++;
        if (task.isGroup() || task.terminal()) {
            return;
        }
        addSteps(d, task, task.spec().steps());
    }

    private static void addSteps(Decision d, TaskRow task, List<StepSpec> specs) {
        for (int i = 0; i < specs.size(); i++) {
            addStep(d, task, specs.get(i), i + 1);
        }
    }

    static void addStep(Decision d, TaskRow task, StepSpec spec, int position) {
        StepRow step = new StepRow(d.ids.next(), task, spec, position, 1);
        d.view.add(step);
        d.changes.insert(d.run, step);
        d.run.stepCount++;
    }

    /** Steps for a task's new attempt; those of the old one leave the view. */
    static void freshSteps(Decision d, TaskRow task) {
        List<StepSpec> planned = task.planned();
        dropSteps(d, task);
        task.cursor = 0;
        addSteps(d, task, planned);
    }

    static void dropSteps(Decision d, TaskRow task) {
        for (StepRow step : task.steps) {
            d.view.steps.remove(step.id());
            d.run.stepCount--;
            d.run.stepsCompleted -= step.state == StepState.COMPLETED ? 1 : 0;
        }
        task.steps.clear();
    }

    /** A new row for a task that restarts with its agent; the caller makes its links and writes its event. */
    static TaskRow respawn(Decision d, TaskRow old, List<StepSpec> planned) {
        TaskRow task = new TaskRow(d.ids.next(), old.key(), old.sequence(), old.spec(), old.agent(), null, -1, null);
        task.effectGeneration = old.effectGeneration;
        d.view.add(task);
        d.changes.insert(d.run, task);
        d.run.taskCount++;
        if (!task.isGroup()) {
            addSteps(d, task, planned);
        }
        return task;
    }

    /** @param generations effect generations of earlier ones, by their keys */
    static void hooks(Decision d, Map<String, Integer> generations) {
        StepSpec before = d.run.policy().hooks().before();
        StepSpec after = d.run.policy().hooks().after();
        if (before != null) {
            addHook(d, SystemTasks.before(before), generations);
        }
        if (after != null) {
            addHook(d, SystemTasks.after(after), generations);
        }
    }

    private static void addHook(Decision d, TaskSpec spec, Map<String, Integer> generations) {
        addSystemTask(d, spec).effectGeneration = generations.getOrDefault(spec.id(), 1);
    }

    /** Adds a pending task of the engine's own. */
    static TaskRow addSystemTask(Decision d, TaskSpec spec) {
        AgentRow agent = d.view.agents.stream().filter(each -> each.system() && !each.state.terminal()).findFirst()
                .orElseGet(() -> spawnAgent(d, SystemTasks.AGENT));
        TaskRow task = new TaskRow(d.ids.next(), spec.id(), lastSequence(d) + 1, spec, agent, null, -1, null);
        add(d, task);
        tell(d, task);
        return task;
    }

    /** The highest sequence number. Not the count: tasks that a new plan dropped have left gaps. */
    private static int lastSequence(Decision d) {
        return d.view.tasks.values().stream().mapToInt(TaskRow::sequence).max().orElse(0);
    }

    /** True when the run's first hook allows the task to begin. */
    static boolean begun(Decision d, TaskRow task) {
        TaskRow hook = d.view.beforeHook;
        return hook == null || task.system() || hook.terminal();
    }

    /**
     * Creates tasks that a new plan names and the run does not have.
     *
     * @param generations effect generations of the tasks that there were before, by their keys
     */
    static void spawnMissing(Decision d, Plan plan, Map<String, Integer> generations) {
        Kept kept = new Kept(Map.of(), generations);
        Map<String, TaskRow> byKey = new HashMap<>();
        d.view.tasks.values().stream().filter(task -> task.group() == null)
                .forEach(task -> byKey.put(task.key(), task));
        List<TaskSpec> missing = plan.tasks().stream().filter(spec -> !byKey.containsKey(spec.id())).toList();
        int sequence = lastSequence(d);
        for (TaskSpec spec : missing) {
            String name = spec.agent() == null ? "" : spec.agent();
            AgentRow agent = d.view.agents.stream().filter(each -> !each.state.terminal()
                    && name.equals(Objects.requireNonNullElse(each.name(), ""))).findFirst()
                    .orElseGet(() -> spawnAgent(d, name));
            byKey.put(spec.id(), spawnTask(d, spec, agent, ++sequence, kept));
        }
        missing.forEach(spec -> link(d, spec, byKey));
        missing.forEach(spec -> tell(d, Objects.requireNonNull(byKey.get(spec.id()))));
    }

    /**
     * A {@code for_each} has its items: creates one child per item, and the group runs until they have ended.
     *
     * @param generations effect generations of earlier children, by their items' indexes
     */
    static void fanOut(Decision d, TaskRow group, List<String> items, Map<Integer, Integer> generations,
            List<String> titles) {
        d.move(group, TaskState.QUEUED, ParentNotice.queued(group));
        d.move(group, TaskState.ASSIGNED, AgentTurns.assigned(group, null));
        d.move(group, TaskState.RUNNING, new TaskPayload.Started(group.attempt, items.size(), null));
        for (int i = 0; i < items.size(); i++) {
            TaskSpec spec = titles.isEmpty() ? group.spec() : group.spec().titled(titles.get(i));
            TaskRow child = new TaskRow(d.ids.next(), group.key() + "[" + i + "]", group.sequence(), spec,
                    group.agent(), group, i, items.get(i));
            child.effectGeneration = generations.getOrDefault(i, 1);
            add(d, child);
            tell(d, child);
        }
        for (TaskRow child : List.copyOf(group.children)) {
            Completion.queue(d, child);
        }
        if (items.isEmpty()) {
            Steps.finish(d, group);
        }
    }

    /** Writes the current attempt's row. */
    static void recordAttempt(Decision d, ChangeSet.Account credits) {
        d.changes.attempt(new ChangeSet.Attempt(d.run.id(), d.run.attempt, d.run.state.wire(), d.now, d.run.completedAt,
                d.run.errorCode, d.run.errorMessage, d.run.failures, credits));
    }

    /** A run's row when accepted. */
    static RunView created(NewRun run, @Nullable ParentRow parent) {
        RunRow row = new RunRow(run.id(), run.workspaceId(), run.name(), run.priority(), run.policy(),
                run.outputTemplate()).traced(run.origin().trace());
        row.planVersion = Math.min(run.plan().version(), row.planVersion);
        row.parent = parent;
        row.hardLimit = parent == null ? null : parent.allotment();
        BigDecimal own = run.policy().budget().hardLimit();
        if (row.hardLimit != null && own != null) {
            row.hardLimit = row.hardLimit.min(own);
        }
        return new RunView(row, run.plan());
    }
}
