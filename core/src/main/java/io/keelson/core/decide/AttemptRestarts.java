package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** A whole level from its beginning: a task's, an agent's, a run's next attempt; the old rows stay (failure §4). */
final class AttemptRestarts {

    private AttemptRestarts() {}

    /** The time of a task's next attempt has come; while the run is held up it waits for the resume. */
    static void taskDue(Decision d, TaskRow task) {
        if (task.nextRunAt != null && task.nextRunAt.isAfter(d.now)) {
            return;
        }
        d.disarm(TimerKind.TASK_RETRY, task.id());
        nextAttempt(d, task);
    }

    /** Begins a task's next attempt if its time has come. */
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
        task.continuations = 0;
        Planning.freshSteps(d, task);
        Completion.queue(d, task);
    }

    /** True when the agent may start over once more, and what failed it may go better then. */
    static boolean agentMay(Decision d, AgentRow agent, StepError error) {
        return error.errorClass().retryable() && agent.attempt < d.run.policy().failures().agentTries();
    }

    /** Likewise of the run, whose failed tasks have all ended. */
    static boolean runMay(Decision d) {
        return d.run.attempt < runTries(d) && d.view.tasks.values().stream()
                .filter(task -> task.state == TaskState.FAILED && !task.failureIgnored && task.errorClass != null)
                .allMatch(task -> ErrorClass.fromWire(Objects.requireNonNull(task.errorClass)).retryable());
    }

    private static int runTries(Decision d) {
        return Math.min(d.run.policy().maxAttempts(), d.run.policy().failures().runTries());
    }

    /**
     * Starts an agent over: all its tasks anew, those that had ended in this attempt of the run included. Others' tasks
     * that have not begun wait for the new ones; what has begun on the old ones' outputs goes on.
     */
    static void startOver(Decision d, AgentRow agent, StepError error) {
        SlotScheduling.start(d, agent);
        List<TaskRow> old = d.view.tasks.values().stream()
                .filter(task -> task.agent() == agent && task.reusedFrom == null).toList();
        Map<TaskRow, List<StepSpec>> planned = new HashMap<>();
        old.forEach(task -> planned.put(task, task.planned()));
        old.forEach(task -> Completion.drop(d, task));
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
        Map<TaskRow, TaskRow> anew = new LinkedHashMap<>();
        for (TaskRow task : old) {
            if (task.group() == null) {
                anew.put(task, Planning.respawn(d, task, Objects.requireNonNull(planned.get(task))));
            }
        }
        for (TaskRow task : old) {
            if (task.group() == null) {
                relink(d, task, anew);
            }
        }
        anew.forEach((task, again) -> Planning.tell(d, again, task.id()));
        CompletionCounters.forgetSuperseded(d.view);
        d.arm(TimerKind.AGENT_RETRY, agent.id(), when);
        SlotScheduling.letOthers(d);
    }

    private static PayloadPart.Schedule schedule(Decision d, int attempts, int most, Instant when) {
        int left = most - attempts;
        return new PayloadPart.Schedule(RetryReason.RETRY_SCHEDULED.wire(),
                Duration.between(d.now, when).toMillis() / 1000.0, attempts, attempts, left, left);
    }

    private static void relink(Decision d, TaskRow old, Map<TaskRow, TaskRow> anew) {
        TaskRow task = Objects.requireNonNull(anew.get(old));
        for (TaskRow upstream : old.upstreams) {
            d.view.link(task, anew.getOrDefault(upstream, upstream));
        }
        for (TaskRow down : List.copyOf(old.downstreams)) {
            if (!anew.containsKey(down) && down.state == TaskState.PENDING) {
                CompletionCounters.relink(down, old, task);
                d.changes.link(down, task);
                if (down.evaluating) {
                    down.evaluating = false;
                    d.disarm(TimerKind.EVALUATE_GATE, down.id());
                }
            }
        }
    }

    /** The time of an agent's next attempt has come; while the run is held up it waits for the resume. */
    static void agentDue(Decision d, AgentRow agent) {
        if (agent.nextRunAt != null && agent.nextRunAt.isAfter(d.now)) {
            return;
        }
        d.disarm(TimerKind.AGENT_RETRY, agent.id());
        if (begin(d, agent)) {
            Completion.judgeAll(d);
            Completion.settle(d);
        }
    }

    /** Lets a waiting agent begin if its time has come, else sees to it that its time will come. */
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

    /** A failed run whose mode says so begins again, after its backoff, while it has attempts left. */
    static void retryRun(Decision d) {
        RetryPolicy policy = d.run.policy().failures().level();
        Instant when = d.now.plus(policy.delay(d.run.attempt, d.run.id().getLeastSignificantBits() ^ d.run.attempt));
        Planning.retry(d, when, schedule(d, d.run.attempt, runTries(d), when));
    }

    /** The time of a run's next attempt has come. */
    static void runDue(Decision d) {
        d.disarm(TimerKind.RUN_RETRY, d.run.id());
        if (d.run.state != RunState.RETRYING) {
            return;
        }
        Reply.Rejected refusal = Credits.reserve(d, d.run.attempt);
        if (refusal == null) {
            Planning.begin(d, true, Planning.Kept.NOTHING);
        } else {
            Failures.abort(d, refusal.code().toLowerCase(Locale.ROOT), null,
                    new StepError(refusal.code(), ErrorClass.PERMANENT, refusal.message()));
        }
    }
}
