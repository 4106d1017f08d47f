package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Starts the next attempt of a task, an agent or a run from the beginning; the old rows stay. */
final class AttemptRestarts {
    private AttemptRestarts() {}

    /** A task's next attempt is due; while the run is paused it waits for the resume. */
    static void taskDue(Decision d, TaskRow task) {
        if (task.nextRunAt != null && task.nextRunAt.isAfter(d.now)) {
            return;
        }
        d.disarm(TimerKind.TASK_RETRY, task.id());
        nextAttempt(d, task);
    }

    /** Starts a task's next attempt if it is due. */
    static void nextAttempt(Decision d, TaskRow task) {
        if (!d.atWork() || task.state != TaskState.AWAITING_RETRY || task.nextRunAt == null) {
            return;
        }
        if (task.nextRunAt.isAfter(d.now)) {
            d.arm(TimerKind.TASK_RETRY, task.id(), task.nextRunAt);
            return;
        }
        d.disarm(TimerKind.TASK_RETRY, task.id());
        task.nextRunAt = null;
        task.attempt++;
        StepSpec escalated = RetryModels.next(d, task);
        if (escalated != null) {
            task.continuations = 0;
            PlanRows.freshSteps(d, task, List.of(escalated));
        } else if (keepsTurns(d, task)) {
            PlanRows.keepTurns(d, task, !ErrorClass.INFRASTRUCTURE.wire().equals(task.errorClass));
        } else {
            task.continuations = 0;
            PlanRows.freshSteps(d, task);
        }
        TaskMoves.queue(d, task);
    }

    /** Starts the task's next attempt at once with another turn. */
    static void withTurn(Decision d, TaskRow task, StepSpec turn) {
        d.disarm(TimerKind.TASK_RETRY, task.id());
        task.nextRunAt = null;
        task.attempt++;
        task.continuations = 0;
        PlanRows.freshSteps(d, task, List.of(turn));
        TaskMoves.queue(d, task);
    }

    /** True when the next attempt of an agent's task continues from its last whole turn. */
    private static boolean keepsTurns(Decision d, TaskRow task) {
        boolean allowed = ErrorClass.INFRASTRUCTURE.wire().equals(task.errorClass)
                || ErrorClass.QUALITY.wire().equals(task.errorClass) && d.run.policy().failures().keepTurns();
        return allowed && !task.spec().parallelSteps() && PlanRows.hasTurns(task);
    }

    /** True when the agent has another attempt left and the error may not recur. */
    static boolean agentMay(Decision d, AgentRow agent, StepError error) {
        return error.errorClass().retryable() && agent.attempt < d.run.policy().failures().agentTries();
    }

    /**
     * Whether another attempt of the run may help: all its failed tasks ended with errors that a repetition may fix.
     */
    static boolean runMay(Decision d) {
        return d.run.attempt < runTries(d) && d.view.tasks.values().stream()
                .filter(task -> task.state == TaskState.FAILED && !task.failureIgnored && task.errorClass != null)
                .allMatch(task -> ErrorClass.fromWire(Objects.requireNonNull(task.errorClass)).retryable());
    }

    private static int runTries(Decision d) {
        return Math.min(d.run.policy().maxAttempts(), d.run.policy().failures().runTries());
    }

    /**
     * Restarts an agent with new rows for all its tasks, including tasks that ended in this attempt of the run. Tasks
     * of other agents that have not begun wait for the new rows; tasks that began with the old outputs continue.
     */
    static void startOver(Decision d, AgentRow agent, StepError error) {
        SlotScheduling.start(d, agent);
        List<TaskRow> old = d.view.tasks.values().stream()
                .filter(task -> task.agent() == agent && (task.reusedFrom == null || task.group() != null)).toList();
        Map<TaskRow, List<StepSpec>> planned = new HashMap<>();
        Map<TaskRow, List<TaskRow>> members = new LinkedHashMap<>();
        old.stream().filter(TaskRow::isRepeatedGroup).forEach(loop -> members.put(loop, loop.lastRound()));
        old.forEach(task -> planned.put(task, task.planned()));
        old.forEach(task -> TaskMoves.drop(d, task));
        agent.begunAt = null;
        RetryPolicy policy = d.run.policy().failures().level();
        Instant when = d.now.plus(policy.delay(agent.attempt, agent.id().getLeastSignificantBits() ^ agent.attempt));
        PayloadPart.Schedule schedule = schedule(d, agent.attempt, d.run.policy().failures().agentTries(), when);
        AgentPayload payload = new AgentPayload.Retrying(++agent.attempt, error.code(), error.message(), schedule);
        agent.nextRunAt = when;
        if (agent.state == AgentState.PAUSED) {
            d.changes.touch(agent);
            d.note(agent, payload);
        } else {
            d.move(agent, AgentState.PENDING, payload);
        }
        Map<TaskRow, TaskRow> restarted = new LinkedHashMap<>();
        for (TaskRow task : old) {
            if (task.group() == null) {
                restarted.put(task, PlanRows.respawn(d, task, Objects.requireNonNull(planned.get(task))));
            }
        }
        for (TaskRow task : old) {
            if (task.group() == null) {
                relink(d, task, restarted);
            }
        }
        restarted.forEach((task, again) -> PlanRows.recordCreated(d, again, task.id()));
        members.forEach((loop, round) -> PlanRows.repeat(d, Objects.requireNonNull(restarted.get(loop)), round));
        CompletionCounters.forgetSuperseded(d.view);
        d.arm(TimerKind.AGENT_RETRY, agent.id(), when);
        SlotScheduling.letOthers(d);
    }

    private static PayloadPart.Schedule schedule(Decision d, int attempts, int most, Instant when) {
        int left = most - attempts;
        return new PayloadPart.Schedule(RetryReason.RETRY_SCHEDULED.wire(),
                Duration.between(d.now, when).toMillis() / 1000.0, attempts, attempts, left, left);
    }

    private static void relink(Decision d, TaskRow old, Map<TaskRow, TaskRow> restarted) {
        TaskRow task = Objects.requireNonNull(restarted.get(old));
        for (TaskRow upstream : old.upstreams) {
            d.view.link(task, restarted.getOrDefault(upstream, upstream));
        }
        for (TaskRow down : List.copyOf(old.downstreams)) {
            if (!restarted.containsKey(down) && down.state == TaskState.PENDING) {
                CompletionCounters.relink(down, old, task);
                d.changes.link(down, task);
                if (down.evaluating) {
                    down.evaluating = false;
                    d.disarm(TimerKind.EVALUATE_GATE, down.id());
                }
            }
        }
    }

    /** Starts a waiting agent if it is due, else arms its timer. */
    static boolean begin(Decision d, AgentRow agent) {
        if (agent.nextRunAt == null || !d.carriedOut()) {
            return false;
        }
        if (agent.nextRunAt.isAfter(d.now)) {
            d.arm(TimerKind.AGENT_RETRY, agent.id(), agent.nextRunAt);
            return false;
        }
        d.disarm(TimerKind.AGENT_RETRY, agent.id());
        agent.nextRunAt = null;
        d.changes.touch(agent);
        return true;
    }

    /** Restarts a failed run after its backoff if its mode says so and it has attempts left. */
    static void retryRun(Decision d) {
        RetryPolicy policy = d.run.policy().failures().level();
        Instant when = d.now.plus(policy.delay(d.run.attempt, d.run.id().getLeastSignificantBits() ^ d.run.attempt));
        renew(d, true, schedule(d, d.run.attempt, runTries(d), when));
        d.arm(TimerKind.RUN_RETRY, d.run.id(), when);
    }

    static PlanRows.Kept renew(Decision d, boolean fromStart, PayloadPart.@Nullable Schedule schedule) {
        PlanRows.Kept kept = fromStart ? PlanRows.Kept.NOTHING : keptRows(d);
        if (fromStart) {
            Proposals.withdraw(d);
        }
        if (d.run.completedAt != null && d.run.startedAt != null) {
            d.run.ended = d.run.ended.plus(Duration.between(d.run.completedAt, d.now));
        }
        d.run.attempt++;
        d.run.begunAt = null;
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
        ChildLinks.anotherAttempt(d);
        return kept;
    }

    private static PlanRows.Kept keptRows(Decision d) {
        Map<String, UUID> carried = carried(d);
        Map<String, List<TaskRow>> items = new HashMap<>();
        for (TaskSpec spec : d.view.requirePlan().tasks()) {
            if (spec.dependsOn().stream().allMatch(on -> carried.containsKey(on.task()))) {
                items.put(spec.id(), d.view.tasks.values().stream().filter(task -> task.group() != null
                        && !task.isRound() && task.group().key().equals(spec.id())
                        && task.group().state != TaskState.COMPLETED
                        && task.state == TaskState.COMPLETED).toList());
            }
        }
        return new PlanRows.Kept(carried, items, PlanRows.generations(d));
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
                    carried.put(task.key(), task.holdsOutput());
                    grew = true;
                }
            }
        }
        return carried;
    }
}
