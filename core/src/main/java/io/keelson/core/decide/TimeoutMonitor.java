package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.Seconds;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Timeouts and stalls. A run has one timer for all of them, due no later than the earliest.
 * When it is due, expired timeouts are handled and the timer is set again.
 */
final class TimeoutMonitor {

    private TimeoutMonitor() {}

    /** After a decision: updates whether time counts, and the next check. */
    static void after(Decision d, RunState before) {
        boolean counts = (d.run.state == RunState.RUNNING || d.run.state == RunState.PLANNING)
                && !d.view.onlyWaits();
        boolean begins = counts && d.run.activeSince == null && !d.changes.events().isEmpty();
        if (begins) {
            d.run.activeSince = d.now;
            d.changes.touch(d.run);
        } else if (!counts && d.run.activeSince != null) {
            d.run.active = active(d);
            d.run.activeSince = null;
            d.changes.touch(d.run);
        }
        if (!d.run.state.terminal() && (d.run.state != before || begins)) {
            Duration first = firstLook(d);
            if (first != null) {
                by(d, d.now.plus(first));
            }
        }
    }

    /** Time at work in this attempt. */
    private static Duration active(Decision d) {
        return d.run.activeSince == null ? d.run.active : d.run.active.plus(alive(d, d.run.activeSince));
    }

    /** The part of the time since then with a live engine; zero for null. */
    static Duration alive(Decision d, @Nullable Instant since) {
        return since == null ? Duration.ZERO : EngineOutage.aliveBetween(since, d.now, d.view.outages);
    }

    /** Like {@link #alive}, but starts no earlier than the run's last resume: earlier time is forgiven. */
    static Duration goingSince(Decision d, @Nullable Instant since) {
        Instant going = d.run.stateSince;
        return alive(d, since != null && going != null && going.isAfter(since) ? going : since);
    }

    static boolean runTimeIsUp(Decision d) {
        return active(d).compareTo(d.run.policy().timeouts().running()) >= 0;
    }

    private static @Nullable Duration firstLook(Decision d) {
        Timeouts t = d.run.policy().timeouts();
        return switch (d.run.state) {
            case PENDING, READY -> t.pending();
            case RUNNING, PLANNING -> d.view.onlyWaits() ? null : shortest(t);
            case PAUSED -> t.paused();
            case RESUMING -> t.resuming();
            case RETRYING -> t.retrying();
            case CREATED, AWAITING_APPROVAL, BUDGET_EXCEEDED, ESCALATED, COMPLETED, FAILED, CANCELLED,
                    SKIPPED ->
                null;
        };
    }

    private static Duration shortest(Timeouts t) {
        return Objects.requireNonNull(List.of(t.running(), t.agent(), t.task(), t.stall(), t.assign(), t.verify())
                .stream().min(Duration::compareTo).orElse(t.running()));
    }

    /** A task with its own timeout has begun. */
    static void begun(Decision d, TaskRow task) {
        Duration own = task.spec().policy().timeout();
        if (own != null) {
            by(d, d.now.plus(own));
        }
    }

    /** Sets the next check to that time, unless it is earlier. */
    private static void by(Decision d, Instant due) {
        if (d.view.watchDue == null || due.isBefore(d.view.watchDue)) {
            d.view.watchDue = due;
            d.arm(TimerKind.WATCH, d.run.id(), due);
        }
    }

    /** The timer has come due. */
    static void look(Decision d) {
        d.disarm(TimerKind.WATCH, d.run.id());
        d.view.watchDue = null;
        CounterAudit.check(d);
        Timeouts t = d.run.policy().timeouts();
        switch (d.run.state) {
            case PENDING, READY -> over(d, t.pending(), "RUN_NOT_STARTED", "no step of the run began in time");
            case RESUMING -> over(d, t.resuming(), "RUN_NOT_RESUMED", "the run did not get going again in time");
            case RETRYING -> over(d, t.retrying(), "RUN_NOT_RETRIED", "the next attempt did not begin in time");
            case PAUSED -> {
                if (passed(d, d.run.stateSince, t.paused())) {
                    Completion.cancelRun(d, "paused for too long");
                }
            }
            case RUNNING, PLANNING -> running(d, t);
            case CREATED, AWAITING_APPROVAL, BUDGET_EXCEEDED, ESCALATED, COMPLETED, FAILED, CANCELLED,
                    SKIPPED ->
                {
                }
        }
        Duration next = d.run.state.terminal() ? null : firstLook(d);
        if (next != null) {
            by(d, d.now.plus(next));
        }
    }

    private static void over(Decision d, Duration limit, String code, String message) {
        if (passed(d, d.run.stateSince, limit)) {
            Failures.abort(d, "run_timeout", null, new StepError(code, ErrorClass.INFRASTRUCTURE, message));
        }
    }

    /** Whether that much time with a live engine has passed; if not, schedules the next check. */
    private static boolean passed(Decision d, @Nullable Instant since, Duration limit) {
        if (since == null) {
            return false;
        }
        Duration left = limit.minus(alive(d, since));
        if (left.isPositive()) {
            by(d, d.now.plus(left));
        }
        return !left.isPositive();
    }

    private static void running(Decision d, Timeouts t) {
        if (runTimeIsUp(d)) {
            Failures.abort(d, "run_timeout", null, new StepError("RUN_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                    "the run was at work for longer than " + Seconds.of(t.running())));
            return;
        }
        if (d.run.activeSince != null) {
            by(d, d.now.plus(t.running().minus(active(d))));
        }
        for (AgentRow agent : List.copyOf(d.view.agents)) {
            if (agent.state == AgentState.RUNNING && awaitsClaims(d, agent)) {
                agent.begunAt = d.now;
                d.changes.touch(agent);
            }
            if (d.atWork() && agent.state == AgentState.RUNNING
                    && !agent.failing && !spared(d.view, agent) && passed(d, agent.begunAt, t.agent())) {
                Propagation.timedOut(d, agent);
            }
        }
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            if (d.atWork() && !task.terminal() && !task.isGroup() && !task.superseded) {
                task(d, task, t);
            }
        }
        if (d.run.state == RunState.RUNNING) {
            Completion.judgeAll(d);
            Completion.settle(d);
        }
    }

    private static void task(Decision d, TaskRow task, Timeouts t) {
        Duration own = task.spec().policy().timeout();
        Duration limit = own == null ? t.task() : own;
        boolean begun = task.state == TaskState.RUNNING || task.state == TaskState.VERIFYING;
        if (task.state == TaskState.CONTINUING && passed(d, task.begunAt, limit)) {
            by(d, d.now.plus(Steps.CONTINUATION_PAUSE));
        } else if (begun && !spared(task) && passed(d, task.begunAt, limit)) {
            Failures.task(d, task, new StepError("TASK_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                    "the task took longer than " + Seconds.of(limit)));
        } else if (task.state == TaskState.VERIFYING && passed(d, task.stateSince, t.verify())) {
            d.note(task, stalled(task, "awaiting_human"));
            Verdicts.missing(d, task, new StepError("VERIFY_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                    "no verdict within " + Seconds.of(t.verify())));
        } else if (task.state == TaskState.ASSIGNED && passed(d, task.stateSince, t.assign())) {
            d.note(task, stalled(task, "requeued"));
            SlotScheduling.leave(d, task);
            Completion.queue(d, task);
        } else if (task.state == TaskState.RUNNING && idle(task) && passed(d, signOfLife(task), t.stall())) {
            stalled(d, task, t);
        }
    }

    /** A running task shows no progress. A task that a limit may hold back is only scheduled again. */
    private static void stalled(Decision d, TaskRow task, Timeouts t) {
        if (HardLimit.mayHoldBack(d, task)) {
            SlotScheduling.open(d, task, null);
            return;
        }
        d.note(task, new OtherPayload.StallDetected("task", task.id(), task.state.wire(), signOfLife(task),
                Failures.mayRetry(d, task) ? "retried"
                        : d.run.policy().failures().escalation().onExhausted() ? "escalated" : "failed"));
        Failures.task(d, task, new StepError("TASK_STALLED", ErrorClass.INFRASTRUCTURE,
                "nothing of the task was under way for " + Seconds.of(t.stall())));
    }

    private static OtherPayload stalled(TaskRow task, String action) {
        return new OtherPayload.StallDetected("task", task.id(), task.state.wire(), task.stateSince, action);
    }

    /** When the task or one of its steps last changed its state. Heartbeats of a lease count by the lease. */
    private static @Nullable Instant signOfLife(TaskRow task) {
        return Stream.concat(Stream.ofNullable(task.stateSince), task.steps.stream()
                .flatMap(step -> Stream.of(step.startedAt, step.completedAt).filter(Objects::nonNull)))
                .max(Comparator.naturalOrder()).orElse(null);
    }

    /** True while a task's time does not count: it waits for a person, a time, a signal or another run. */
    static boolean spared(TaskRow task) {
        return task.waits || task.steps.stream().anyMatch(step -> step.state == StepState.WAITING);
    }

    static boolean spared(RunView view, AgentRow agent) {
        return view.tasks.values().stream().filter(task -> task.agent() == agent && RunView.begun(task))
                .filter(task -> task.state != TaskState.QUEUED || task.hasSlot).allMatch(TimeoutMonitor::spared);
    }

    /** True while an agent's tasks only wait to be claimed; its time then starts again. */
    private static boolean awaitsClaims(Decision d, AgentRow agent) {
        List<TaskRow> begun = d.view.tasks.values().stream().filter(task -> task.agent() == agent && RunView.begun(task)
                && !spared(task) && (task.state != TaskState.QUEUED || task.hasSlot)).toList();
        return !begun.isEmpty() && begun.stream().allMatch(task -> task.steps.stream().noneMatch(StepRow::held)
                && task.steps.stream().anyMatch(step -> step.queued));
    }

    /** Excludes a step's wait from the time of its task and its agent. */
    static void spare(Decision d, StepRow step) {
        if (step.startedAt != null) {
            moveOn(d, step.task(), Duration.between(step.startedAt, d.now));
            AgentRow agent = step.task().agent();
            agent.begunAt = later(agent.begunAt, Duration.between(step.startedAt, d.now), d.now);
            d.changes.touch(agent);
        }
    }

    /** Excludes the time in which the run was held up. */
    static void heldUp(Decision d, @Nullable Instant since) {
        Duration held = since == null ? Duration.ZERO : Duration.between(since, d.now);
        d.view.tasks.values().stream().filter(RunView::begun).forEach(task -> moveOn(d, task, held));
        for (AgentRow agent : d.view.agents) {
            if (!agent.state.terminal()) {
                agent.begunAt = later(agent.begunAt, held, d.now);
                d.changes.touch(agent);
            }
        }
    }

    private static void moveOn(Decision d, TaskRow task, Duration by) {
        task.begunAt = later(task.begunAt, by, d.now);
        task.stateSince = later(task.stateSince, by, d.now);
        d.changes.touch(task);
    }

    private static @Nullable Instant later(@Nullable Instant time, Duration by, Instant most) {
        if (time == null) {
            return null;
        }
        Instant moved = time.plus(by);
        return moved.isAfter(most) ? most : moved;
    }

    /** True when a running task has nothing in progress: no lease, queue row, timer or open question. */
    private static boolean idle(TaskRow task) {
        return !task.evaluating && !task.waits && task.steps.stream().noneMatch(step -> step.queued
                || step.evaluating || switch (step.state) {
                    case AWAITING_RETRY, WAITING, WAITING_APPROVAL -> true;
                    case PENDING, RUNNING, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
                });
    }

    /** A lease expired. If the run fails of silence, the time of silence begins to count. */
    static void leaseLost(Decision d, Duration lease) {
        if (!d.run.policy().failures().failOnLostHeartbeat() || d.run.quietSince != null
                || d.run.state != RunState.RUNNING || d.view.steps.values().stream().anyMatch(StepRow::held)) {
            return;
        }
        d.run.quietSince = d.now.minus(lease);
        Duration left = d.run.policy().timeouts().heartbeat().minus(lease);
        d.arm(TimerKind.HEARTBEAT, d.run.id(), d.now.plus(left.isNegative() ? Duration.ZERO : left));
    }

    /** Checks the heartbeat timeout. */
    static void heartbeatDue(Decision d) {
        d.disarm(TimerKind.HEARTBEAT, d.run.id());
        Instant since = d.run.quietSince;
        if (since == null || d.run.state != RunState.RUNNING) {
            return;
        }
        Duration left = d.run.policy().timeouts().heartbeat().minus(alive(d, since));
        if (left.isPositive()) {
            d.arm(TimerKind.HEARTBEAT, d.run.id(), d.now.plus(left));
        } else {
            Failures.abort(d, "heartbeat_lost", null, new StepError(Failures.WORKER_LOST, ErrorClass.INFRASTRUCTURE,
                    "no worker of the run was heard of for "
                            + Seconds.of(d.run.policy().timeouts().heartbeat())));
        }
    }
}
