package io.keelson.core.run;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** From a plan to agents, tasks and steps: at the start, for a new attempt, and when a task fans out. */
final class Planning {

    private Planning() {}

    /** {@code created} or {@code retrying} → {@code pending} → {@code planning} → the gate or {@code running}. */
    static void begin(Decision d, boolean approved, Map<String, UUID> carried) {
        d.move(RunState.PENDING, Map.of());
        d.move(RunState.PLANNING, Map.of());
        spawn(d, d.view.requirePlan(), carried);
        Map<String, Object> ready = Map.of("task_count", d.run.taskCount);
        if (d.run.policy().approvePlan() && !approved) {
            d.move(RunState.AWAITING_APPROVAL, ready);
            recordAttempt(d);
        } else {
            d.note(null, null, "run_plan_ready", ready);
            run(d);
        }
    }

    /** The plan's gate is open. */
    static void run(Decision d) {
        d.move(RunState.RUNNING, Map.of());
        recordAttempt(d);
        Endings.judgeAll(d);
        d.view.agents.forEach(agent -> Endings.end(d, agent));
        Endings.settle(d);
    }

    /** A new attempt of a failed run: fresh rows; the old ones stay with the attempt that they belong to. */
    static void retry(Decision d, boolean fromStart) {
        Map<String, UUID> carried = fromStart ? Map.of() : carried(d);
        boolean approved = d.run.startedAt != null;
        d.run.attempt++;
        d.run.effectGeneration += fromStart ? 1 : 0;
        d.run.failing = false;
        d.run.errorCode = null;
        d.run.errorMessage = null;
        d.run.agentCount = 0;
        d.run.taskCount = 0;
        d.run.tasksCompleted = 0;
        d.run.tasksFailed = 0;
        d.run.tasksSkipped = 0;
        d.run.stepCount = 0;
        d.run.stepsCompleted = 0;
        d.view.forgetAttempt();
        d.move(RunState.RETRYING, Map.of("attempt_number", d.run.attempt, "carried", carried.size()));
        begin(d, approved, carried);
    }

    /** Completed tasks whose upstreams are carried too, by key, each with the task that holds its output. */
    private static Map<String, UUID> carried(Decision d) {
        Map<String, UUID> carried = new HashMap<>();
        boolean grew = true;
        while (grew) {
            grew = false;
            for (TaskRow task : d.view.tasks.values()) {
                if (task.group() == null && task.state == TaskState.COMPLETED && !carried.containsKey(task.key())
                        && task.upstreams.stream().allMatch(up -> carried.containsKey(up.key()))) {
                    carried.put(task.key(), task.carriedFrom == null ? task.id() : task.carriedFrom);
                    grew = true;
                }
            }
        }
        return carried;
    }

    private static void spawn(Decision d, Plan plan, Map<String, UUID> carried) {
        Map<String, AgentRow> agents = new LinkedHashMap<>();
        Map<String, TaskRow> byKey = new HashMap<>();
        int sequence = 0;
        for (TaskSpec spec : plan.tasks()) {
            AgentRow agent = agents.computeIfAbsent(spec.agent() == null ? "" : spec.agent(),
                    name -> spawnAgent(d, name));
            TaskRow task = new TaskRow(d.ids.next(), spec.id(), ++sequence, spec, agent, null, -1, null);
            task.carriedFrom = carried.get(spec.id());
            if (task.carriedFrom != null) {
                task.state = TaskState.COMPLETED;
                task.completedAt = d.now;
                d.run.tasksCompleted++;
            }
            byKey.put(spec.id(), task);
            add(d, task);
            d.note(task, null, task.carriedFrom == null ? "task_created" : "task_carried",
                    Map.of("task_type", spec.taskType(), "trigger_rule", spec.triggerRule().wire(), "depends_on",
                            spec.dependsOn().stream().map(Dependency::task).toList()));
        }
        for (TaskSpec spec : plan.tasks()) {
            TaskRow task = Objects.requireNonNull(byKey.get(spec.id()));
            for (Dependency dependency : spec.dependsOn()) {
                d.view.link(task, Objects.requireNonNull(byKey.get(dependency.task())));
            }
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
        List<StepSpec> specs = task.spec().steps();
        for (int i = 0; i < specs.size(); i++) {
            StepRow step = new StepRow(d.ids.next(), task, specs.get(i), i + 1, 1);
            d.view.add(step);
            d.changes.insert(d.run, step);
        }
        d.run.stepCount += specs.size();
    }

    /** A {@code for_each} has its items: one child per item, and the group runs until they have ended. */
    static void fanOut(Decision d, TaskRow group, List<String> items) {
        d.move(group, TaskState.QUEUED, Map.of());
        d.move(group, TaskState.ASSIGNED, Map.of());
        d.move(group, TaskState.RUNNING, Map.of("items", items.size()));
        Lanes.start(d, group.agent());
        for (int i = 0; i < items.size(); i++) {
            TaskRow child = new TaskRow(d.ids.next(), group.key() + "[" + i + "]", group.sequence(), group.spec(),
                    group.agent(), group, i, items.get(i));
            add(d, child);
            d.note(child, null, "task_created", Map.of("task_type", group.spec().taskType(), "group", group.key()));
        }
        for (TaskRow child : List.copyOf(group.children)) {
            Endings.queue(d, child);
        }
        if (items.isEmpty()) {
            Steps.finish(d, group);
        }
    }

    /** Writes the current attempt's row. */
    static void recordAttempt(Decision d) {
        d.changes.attempt(new Changes.Attempt(d.run.id(), d.run.attempt, d.run.state.wire(), d.now, d.run.completedAt,
                d.run.errorCode, d.run.errorMessage));
    }

    /** A run's row as it is when accepted. */
    static RunView created(NewRun run) {
        return new RunView(new RunRow(run.id(), run.workspaceId(), run.name(), run.priority(), run.policy(),
                run.outputTemplate()), run.plan());
    }
}
