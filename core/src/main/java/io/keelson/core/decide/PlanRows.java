package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Creates and removes the rows of a plan: agents, tasks and steps. */
final class PlanRows {
    static final String OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN";
    static final String UNKNOWN = "the call was begun and its outcome is unknown: it may have had its effect";

    private PlanRows() {}

    /**
     * State that new tasks keep of the tasks they replace, by key.
     *
     * @param carried the tasks that hold the outputs of completed ones
     * @param items completed items of tasks that fan out and have not completed
     * @param generations effect generations; 1 for a key that has none
     */
    record Kept(Map<String, UUID> carried, Map<String, List<TaskRow>> items, Map<String, Integer> generations) {
        static final Kept NOTHING = new Kept(Map.of(), Map.of(), Map.of());
    }

    static void spawnAll(Decision d, Kept kept) {
        spawn(d, d.view.requirePlan(), kept);
        hooks(d, kept.generations());
    }

    /** The effect generations of the current tasks, by key. */
    static Map<String, Integer> generations(Decision d) {
        Map<String, Integer> generations = new HashMap<>();
        d.view.tasks.values().forEach(task -> generations.put(task.key(), task.effectGeneration));
        return generations;
    }

    private static void spawn(Decision d, Plan plan, Kept kept) {
        Map<String, AgentRow> agents = new LinkedHashMap<>();
        Map<String, TaskRow> byKey = new HashMap<>();
        Map<String, String> loops = plan.loops();
        int sequence = 0;
        for (TaskSpec spec : plan.tasks()) {
            if (loops.containsKey(spec.id())) {
                spawnMember(d, spec, loops, byKey);
            } else {
                AgentRow agent = agents.computeIfAbsent(spec.agent() == null ? "" : spec.agent(),
                        name -> spawnAgent(d, name));
                byKey.put(spec.id(), spawnTask(d, spec, agent, ++sequence, kept));
            }
        }
        List<TaskSpec> spawned = plan.tasks().stream().filter(spec -> byKey.containsKey(spec.id())).toList();
        spawned.forEach(spec -> link(d, spec, byKey));
        for (TaskSpec spec : spawned) {
            TaskRow task = Objects.requireNonNull(byKey.get(spec.id()));
            recordCreated(d, task);
            kept.items().getOrDefault(spec.id(), List.of()).forEach(item -> carryItem(d, task, item));
        }
    }

    /** A member of the first round of a group; none if the group has completed in an earlier attempt. */
    private static void spawnMember(Decision d, TaskSpec spec, Map<String, String> loops, Map<String, TaskRow> byKey) {
        TaskRow loop = Objects.requireNonNull(byKey.get(loops.get(spec.id())));
        if (!loop.terminal()) {
            TaskBudgets.give(d, spec);
            byKey.put(spec.id(), member(d, loop, spec,
                    Objects.requireNonNull(loop.spec().policy().repeat()).first()));
        }
    }

    /**
     * Creates the members of a group's next round, which wait for their dependencies.
     *
     * @param last members of an earlier round, or of an earlier row of the group
     */
    static void repeat(Decision d, TaskRow loop, List<TaskRow> last) {
        int number = loop.round() + 1;
        Map<TaskRow, TaskRow> next = new LinkedHashMap<>();
        last.forEach(member -> next.put(member, member(d, loop, member.spec(), number)));
        next.forEach((old, member) -> old.upstreams
                .forEach(up -> d.view.link(member, Objects.requireNonNull(next.get(up)))));
        next.values().forEach(member -> recordCreated(d, member));
    }

    /** Creates a member of a group's round, without its links. All members belong to the group's agent. */
    private static TaskRow member(Decision d, TaskRow loop, TaskSpec spec, int round) {
        TaskRow member = new TaskRow(d.ids.next(), loop.memberKey(round, spec.id()), loop.sequence(), spec,
                loop.agent(), loop, round, null);
        add(d, member);
        return member;
    }

    /** A completed item of an earlier attempt, which the task takes over if it fans out into the same item again. */
    private static void carryItem(Decision d, TaskRow group, TaskRow done) {
        TaskRow item = new TaskRow(d.ids.next(), done.key(), group.sequence(), done.spec(), group.agent(), group,
                done.itemIndex(), done.item());
        carry(d, item, done.holdsOutput());
        item.effectGeneration = done.effectGeneration;
        add(d, item);
        recordCreated(d, item);
    }

    private static void carry(Decision d, TaskRow task, UUID reusedFrom) {
        task.reusedFrom = reusedFrom;
        task.state = TaskState.COMPLETED;
        task.completedAt = d.now;
        d.run.tasksCompleted++;
    }

    private static TaskRow spawnTask(Decision d, TaskSpec spec, AgentRow agent, int sequence, Kept kept) {
        UUID reusedFrom = kept.carried().get(spec.id());
        TaskRow task = new TaskRow(d.ids.next(), spec.id(), sequence, spec, agent, null, -1, null);
        TaskBudgets.give(d, spec);
        task.effectGeneration = kept.generations().getOrDefault(spec.id(), 1);
        if (reusedFrom != null) {
            carry(d, task, reusedFrom);
        }
        add(d, task);
        return task;
    }

    /** Writes the event of a new task, whose links exist. */
    static void recordCreated(Decision d, TaskRow task) {
        recordCreated(d, task, null);
    }

    /** @param replaces the task that it replaces; null if absent */
    static void recordCreated(Decision d, TaskRow task, @Nullable UUID replaces) {
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
        d.run.agentCount += agent.system() ? 0 : 1;
        return agent;
    }

    static void add(Decision d, TaskRow task) {
        d.view.add(task);
        d.changes.insert(d.run, task);
        CompletionCounters.countTask(d.run, task, 1);
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
        add(d, new StepRow(d.ids.next(), task, spec, position, 1));
    }

    private static void add(Decision d, StepRow step) {
        d.view.add(step);
        d.changes.insert(d.run, step);
        d.run.stepCount++;
    }

    /** Steps for a task's new attempt; the steps of the old attempt leave the view. */
    static void freshSteps(Decision d, TaskRow task) {
        freshSteps(d, task, task.planned());
    }

    /** Replaces a task's steps in the view by the planned steps. */
    static void freshSteps(Decision d, TaskRow task, List<StepSpec> planned) {
        dropSteps(d, task);
        task.cursor = 0;
        addSteps(d, task, planned);
    }

    static void dropSteps(Decision d, TaskRow task) {
        task.steps.forEach(step -> drop(d, step));
        task.steps.clear();
    }

    private static void drop(Decision d, StepRow step) {
        d.view.steps.remove(step.id());
        d.view.worstCases -= step.spec().worstCase() == null ? 0 : 1;
        d.view.refused -= step.needed() == null ? 0 : 1;
        d.run.stepCount--;
        d.run.stepsCompleted -= step.state == StepState.COMPLETED ? 1 : 0;
    }

    /** True when an agent does the whole task and has ended a turn. */
    static boolean hasTurns(TaskRow task) {
        return task.steps.stream().allMatch(step -> switch (step.spec().kind()) {
            case TURN, CALL, VERIFY -> true;
            case TOOL, APPROVAL, WAIT, SIGNAL, RUN -> false;
        }) && task.steps.stream().anyMatch(PlanRows::endedTurn);
    }

    private static boolean endedTurn(StepRow step) {
        return step.spec().kind() == StepKind.TURN && step.state == StepState.COMPLETED;
    }

    /**
     * Steps for the next attempt of an agent's task: turns and calls that have ended are taken over, the others repeated under
     * their names and effect keys. A last turn that has ended is repeated, too.
     *
     * @param further true to have another turn after a last turn that has ended, instead of repeating it
     */
    static void keepTurns(Decision d, TaskRow task, boolean further) {
        List<StepRow> old = task.steps.stream().filter(step -> step.spec().kind() != StepKind.VERIFY).toList();
        task.steps.stream().filter(step -> step.spec().kind() == StepKind.VERIFY).forEach(step -> drop(d, step));
        task.steps.clear();
        task.cursor = 0;
        StepRow last = old.getLast();
        for (StepRow step : old) {
            boolean ended = step.spec().kind() == StepKind.CALL
                    ? step.state.terminal() && step.state != StepState.CANCELLED
                    : endedTurn(step);
            if (ended && (step != last || further)) {
                step.taskAttempt = task.attempt;
                task.steps.add(step);
                d.changes.touch(step);
            } else {
                drop(d, step);
                StepRow again = new StepRow(d.ids.next(), task, step.spec().asPlanned(), step.position(), step.turn(),
                        step.lane(), step.callEffect());
                again.gate = step.attempt == 0 ? step.gate : null;
                add(d, again);
                if (step.atMostOnce() && step.deliveries > 0) {
                    leave(d, again);
                }
            }
        }
        if (further && endedTurn(last)) {
            add(d, new StepRow(d.ids.next(), task, last.spec().asPlanned(), last.position(), last.turn() + 1));
        }
    }

    /** Does not execute a call again that has begun before. */
    private static void leave(Decision d, StepRow call) {
        call.errorCode = OUTCOME_UNKNOWN;
        call.errorMessage = UNKNOWN;
        call.errorClass = ErrorClass.PERMANENT.wire();
        d.move(call, StepState.SKIPPED,
                new StepPayload.Skipped("outcome_unknown", call.spec().tool(), OUTCOME_UNKNOWN, null));
    }

    /** A new row for a task that restarts with its agent; the caller makes its links and writes its event. */
    static TaskRow respawn(Decision d, TaskRow old, List<StepSpec> planned) {
        TaskRow task = new TaskRow(d.ids.next(), old.key(), old.sequence(), old.spec(), old.agent(), null, -1, null);
        task.effectGeneration = old.effectGeneration;
        d.view.add(task);
        d.changes.insert(d.run, task);
        CompletionCounters.countTask(d.run, task, 1);
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
        recordCreated(d, task);
        return task;
    }

    /** The highest sequence number. Not the count: tasks that a new plan dropped have left gaps. */
    private static int lastSequence(Decision d) {
        return d.view.tasks.values().stream().mapToInt(TaskRow::sequence).max().orElse(0);
    }

    /**
     * Creates tasks that a new plan names and the run does not have.
     *
     * @param generations effect generations of the tasks that there were before, by their keys
     */
    static void spawnMissing(Decision d, Plan plan, Map<String, Integer> generations) {
        Kept kept = new Kept(Map.of(), Map.of(), generations);
        Map<String, TaskRow> byKey = new HashMap<>();
        d.view.tasks.values().stream().filter(task -> task.group() == null)
                .forEach(task -> byKey.put(task.key(), task));
        Map<String, String> loops = plan.loops();
        List<TaskSpec> missing = plan.tasks().stream()
                .filter(spec -> !byKey.containsKey(loops.getOrDefault(spec.id(), spec.id()))).toList();
        int sequence = lastSequence(d);
        for (TaskSpec spec : missing) {
            if (loops.containsKey(spec.id())) {
                spawnMember(d, spec, loops, byKey);
                continue;
            }
            String name = spec.agent() == null ? "" : spec.agent();
            AgentRow agent = d.view.agents.stream().filter(each -> !each.state.terminal()
                    && name.equals(Objects.requireNonNullElse(each.name(), ""))).findFirst()
                    .orElseGet(() -> spawnAgent(d, name));
            byKey.put(spec.id(), spawnTask(d, spec, agent, ++sequence, kept));
        }
        missing.forEach(spec -> link(d, spec, byKey));
        missing.forEach(spec -> recordCreated(d, Objects.requireNonNull(byKey.get(spec.id()))));
    }
}
