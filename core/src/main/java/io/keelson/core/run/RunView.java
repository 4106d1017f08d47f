package io.keelson.core.run;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Plan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Everything about one run's current attempt that a decision may need, without outputs. It is the working copy of
 * whoever decides: valid for exactly the {@link RunRow#version} it was loaded at, thrown away when a commit fails.
 * Counters and queues that can be derived from the rows live here and not in the database.
 */
public final class RunView {
    private static final int TEXT_PER_ROW = 512;

    final RunRow run;
    final @Nullable Plan plan;
    final List<AgentRow> agents = new ArrayList<>();
    final Map<UUID, TaskRow> tasks = new LinkedHashMap<>();
    final Map<UUID, StepRow> steps = new HashMap<>();
    /** Names of the attempt's artifacts, for they are unique. */
    final Map<String, UUID> artifacts = new HashMap<>();
    /** Agents with ready tasks that wait until fewer agents are at work. */
    final Deque<AgentRow> waitingAgents = new ArrayDeque<>();
    int agentsAtWork;
    int tasksOpen;
    /** True while the evaluator's answer for the run's output is awaited. */
    boolean evaluatingOutput;

    /** @param plan null while no command can need it (a run whose tasks exist) */
    public RunView(RunRow run, @Nullable Plan plan) {
        this.run = run;
        this.plan = plan;
    }

    public RunRow run() {
        return run;
    }

    public Collection<TaskRow> tasks() {
        return tasks.values();
    }

    public List<AgentRow> agents() {
        return agents;
    }

    public @Nullable StepRow step(UUID id) {
        return steps.get(id);
    }

    public @Nullable TaskRow task(UUID id) {
        return tasks.get(id);
    }

    /** How much memory the view takes, in rows; so many characters of a plan's or a step's input count as one more. */
    public int weight() {
        long inputs = steps.values().stream().mapToLong(step -> step.spec().input().length()).sum();
        if (plan != null && steps.isEmpty()) {
            inputs = plan.tasks().stream().flatMap(task -> task.steps().stream())
                    .mapToLong(step -> step.input().length()).sum();
        }
        return 1 + tasks.size() + steps.size() + (int) (inputs / TEXT_PER_ROW);
    }

    Plan requirePlan() {
        return Objects.requireNonNull(plan, "the view was loaded without its plan");
    }

    /** Adds an agent, in order of its number. */
    public void add(AgentRow agent) {
        agents.add(agent);
    }

    /** Adds a task after its agent and, for a child, after its group; plan order. */
    public void add(TaskRow task) {
        tasks.put(task.id(), task);
        AgentRow agent = task.agent();
        agent.tasks++;
        TaskRow group = task.group();
        if (group != null) {
            group.children.add(task);
        }
        if (task.terminal()) {
            count(agent, task.state);
        } else {
            tasksOpen++;
            agent.tasksOpen++;
            if (group != null) {
                group.childrenOpen++;
            }
        }
    }

    /** Adds a step after its task, in order of position and turn. */
    public void add(StepRow step) {
        steps.put(step.id(), step);
        step.task().steps.add(step);
    }

    /** Links a task to one of its upstreams, both added before with the states they have. */
    public void link(TaskRow task, TaskRow upstream) {
        task.upstreams.add(upstream);
        upstream.downstreams.add(task);
        if (upstream.terminal()) {
            countUpstream(task, upstream.state);
        } else {
            task.upstreamsOpen++;
        }
    }

    static void countUpstream(TaskRow task, TaskState ended) {
        if (ended == TaskState.COMPLETED) {
            task.upstreamsCompleted++;
        } else if (ended == TaskState.FAILED) {
            task.upstreamsFailed++;
        }
    }

    static void count(AgentRow agent, TaskState ended) {
        switch (ended) {
            case FAILED -> agent.tasksFailed++;
            case SKIPPED -> agent.tasksSkipped++;
            case CANCELLED -> agent.tasksCancelled++;
            default -> {
            }
        }
    }

    /** Empties the view for a new attempt. */
    void forgetAttempt() {
        agents.clear();
        tasks.clear();
        steps.clear();
        artifacts.clear();
        waitingAgents.clear();
        agentsAtWork = 0;
        tasksOpen = 0;
        evaluatingOutput = false;
    }

    public void addArtifact(String name, UUID stepId) {
        artifacts.put(name, stepId);
    }

    /** Notes a row of the work queue: the lane's first open step is in it, under a lease when {@code holder} is set. */
    public void restoreLane(UUID taskId, int lane, @Nullable String holder) {
        TaskRow task = Objects.requireNonNull(tasks.get(taskId));
        for (StepRow step : task.steps) {
            if (step.lane() == lane && !step.state.terminal()) {
                step.queued = true;
                step.holder = step.state == StepState.RUNNING ? holder : null;
                return;
            }
        }
    }

    /** Notes an armed evaluation timer. */
    public void restoreEvaluation(TimerKind kind, UUID subject) {
        switch (kind) {
            case EVALUATE_GATE, EVALUATE_TASK_OUTPUT -> Objects.requireNonNull(tasks.get(subject)).evaluating = true;
            case EVALUATE_STEP -> Objects.requireNonNull(steps.get(subject)).evaluating = true;
            case EVALUATE_RUN_OUTPUT -> evaluatingOutput = true;
            case STEP_RETRY, STEP_WAIT, TASK_CONTINUE -> {
            }
        }
    }

    /** Derives slots and queues once all rows are in; for the loader of views, after everything was added. */
    public void restoreSlots() {
        List<TaskRow> waiting = new ArrayList<>();
        for (TaskRow task : tasks.values()) {
            if (task.isGroup() || task.terminal()) {
                continue;
            }
            boolean released = task.steps.stream().anyMatch(s -> s.queued);
            if (task.state == TaskState.QUEUED && !released) {
                waiting.add(task);
            } else if (task.state != TaskState.PENDING) {
                task.hasSlot = true;
                task.agent().slotsTaken++;
            }
        }
        waiting.sort(TaskRow.BY_TURN);
        waiting.forEach(task -> task.agent().ready.add(task));
        for (AgentRow agent : agents) {
            if (agent.slotsTaken > 0) {
                agent.admitted = true;
                agentsAtWork++;
            } else if (!agent.ready.isEmpty()) {
                waitingAgents.add(agent);
            }
        }
    }

}
