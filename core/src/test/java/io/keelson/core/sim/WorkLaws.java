package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.run.Changes.Lane;
import io.keelson.core.run.Changes.Timer;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Nothing is left behind and nothing is forgotten (I5): what has ended holds no work, what is open has somebody or
 * something that moves it, and limits on work at a time are kept.
 */
final class WorkLaws {
    private static final Set<TaskState> AT_WORK = Set.of(TaskState.ASSIGNED, TaskState.RUNNING, TaskState.CONTINUING);

    private final RunRows rows;
    private final RunPolicy policy;
    private final RunState state;

    WorkLaws(RunRows rows) {
        this.rows = rows;
        this.policy = rows.accepted.policy();
        this.state = rows.run.state();
    }

    void check() {
        unless(rows.queue.keySet().stream().allMatch(this::open), "a lane without an open step: %s", rows.queue);
        rows.timers.values().forEach(timer -> unless(alive(timer), "nobody waits for the timer: %s", timer));
        rows.steps.values().forEach(this::step);
        rows.tasks.values().forEach(task -> unless(!task.state().terminal() || rows.stepsOf(task.id())
                .allMatch(step -> step.state().terminal()), "I5: open steps in %s", task));
        earlierAttempts();
        switch (state.type()) {
            case TERMINAL -> ended();
            case RUNNING -> running();
            case PENDING, PAUSED -> rows.queue.values().forEach(
                    place -> unless(place.item().holder() != null, "to be claimed though the run does not run: %s",
                            place));
        }
        unless(!Set.of(RunState.PENDING, RunState.PLANNING, RunState.RESUMING, RunState.RETRYING).contains(state),
                "passed in one commit, never left standing: %s", state);
    }

    private boolean open(Lane lane) {
        return rows.stepsOf(lane.taskId()).anyMatch(step -> rows.laneOf(step).equals(lane) && !step.state().terminal());
    }

    private boolean alive(Timer timer) {
        UUID subject = timer.key().subject();
        return switch (timer.key().kind()) {
            case STEP_RETRY -> true;
            case STEP_WAIT -> rows.steps.get(subject).state() == StepState.WAITING;
            case TASK_CONTINUE -> rows.tasks.get(subject).state() == TaskState.CONTINUING;
            case EVALUATE_GATE, EVALUATE_TASK_OUTPUT -> !rows.tasks.get(subject).state().terminal();
            case EVALUATE_STEP -> !rows.steps.get(subject).state().terminal();
            case TASK_RETRY -> rows.tasks.get(subject).state() == TaskState.AWAITING_RETRY;
            case EVALUATE_RUN_OUTPUT, EVALUATE_PLAN, AGENT_RETRY, RUN_RETRY, HUMAN, HEARTBEAT, WATCH ->
                !state.terminal();
        };
    }

    private void step(Saved.Step step) {
        Saved.Place place = rows.queue.get(rows.laneOf(step));
        boolean waits = rows.timers.keySet().stream().anyMatch(key -> key.subject().equals(step.id()));
        switch (step.state()) {
            case RUNNING -> unless(place != null || state != RunState.RUNNING, "nobody runs it: %s", step);
            case WAITING -> unless(waits, "waits for nothing: %s", step);
            case AWAITING_RETRY -> unless(waits || place != null || state != RunState.RUNNING,
                    "nobody will retry it: %s", step);
            case PENDING, WAITING_APPROVAL, COMPLETED, FAILED, CANCELLED, SKIPPED -> {
            }
        }
    }

    private void earlierAttempts() {
        int attempt = rows.run.attempt();
        unless(rows.tasks.values().stream().allMatch(t -> t.ofAttempt() == attempt || t.state().terminal())
                && rows.steps.values().stream().allMatch(s -> s.ofAttempt() == attempt || s.state().terminal())
                && rows.agents.values().stream().allMatch(a -> a.attempt() == attempt || a.state().terminal()),
                "I5: an earlier attempt is still open");
    }

    private void ended() {
        List<Saved.Task> tasks = rows.tasksNow();
        unless(rows.queue.isEmpty() && rows.timers.isEmpty(), "I5: left behind: %s %s", rows.queue, rows.timers);
        unless(tasks.stream().allMatch(task -> task.state().terminal()), "I5: open tasks: %s", tasks);
        unless(rows.agentsNow().stream().allMatch(agent -> agent.state().terminal()), "I5: open agents: %s",
                rows.agentsNow());
        unless(rows.run.completedAt() != null, "ended when?");
        boolean anyFailed = tasks.stream().anyMatch(task -> task.state() == TaskState.FAILED);
        switch (state) {
            case COMPLETED -> unless(!anyFailed, "completed with a failed task: %s", tasks);
            case SKIPPED -> unless(rows.agentsNow().stream().allMatch(a -> a.state() == AgentState.SKIPPED),
                    "skipped, but something was done: %s", rows.agentsNow());
            case FAILED, CANCELLED -> unless(rows.run.errorCode() != null, "why did it end?");
            default -> throw new Violation("not an end: " + state);
        }
    }

    private void running() {
        boolean human = rows.stepsNow().stream().anyMatch(step -> step.state() == StepState.WAITING_APPROVAL);
        unless(!rows.queue.isEmpty() || !rows.timers.isEmpty() || human, "I5: nothing can move the run");
        boolean failFast = rows.tasksNow().stream().anyMatch(task -> task.state() == TaskState.FAILED);
        int agentsAtWork = 0;
        for (Saved.Agent agent : rows.agentsNow()) {
            long busy = rows.tasksNow().stream().filter(task -> task.agentId().equals(agent.id()) && atWork(task))
                    .peek(this::inStep).count();
            int limit = policy.sequentialTasks() ? 1
                    : agent.name() == null ? policy.tasksPerDefaultAgent() : policy.tasksPerAgent();
            unless(busy <= limit, "%s tasks at a time for %s", busy, agent);
            agentsAtWork += busy > 0 ? 1 : 0;
        }
        unless(agentsAtWork <= policy.maxAgents(), "%s agents at work", agentsAtWork);
        unless(!failFast || rows.tasksNow().stream().allMatch(this::mayFollowAFailure), "fail_fast left open: %s",
                rows.tasksNow());
    }

    private static boolean atWork(Saved.Task task) {
        return AT_WORK.contains(task.state()) && (task.spec().forEach() == null || task.groupId() != null);
    }

    private void inStep(Saved.Task task) {
        long busy =
                rows.stepsOf(task.id()).filter(s -> s.state() != StepState.PENDING && !s.state().terminal()).count();
        int limit = task.spec().parallelSteps() ? policy.stepsPerTask() : 1;
        unless(busy <= limit, "%s steps at a time in %s", busy, task);
    }

    private boolean mayFollowAFailure(Saved.Task task) {
        return task.state().terminal() || task.spec().triggerRule() == TriggerRule.ALWAYS
                || task.spec().triggerRule() == TriggerRule.ALL_DONE;
    }
}
