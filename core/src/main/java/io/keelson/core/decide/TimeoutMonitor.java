package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.policy.ErrorClass;
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
    /** How often a run at work checks whether its workspace pays a refused request now. */
    static final Duration LIMITS = Duration.ofSeconds(5);

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
            d.run.active = CountedTime.active(d.view, d.now);
            d.run.activeSince = null;
            d.changes.touch(d.run);
        }
        if (d.view.refused > 0 && d.run.state == RunState.RUNNING) {
            d.watch(d.now.plus(LIMITS));
        }
        if (!d.run.state.terminal() && (d.run.state != before || begins)) {
            Duration first = firstLook(d);
            if (first != null) {
                d.watch(d.now.plus(first));
            }
        }
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
                if (hasPassed(d, d.run.stateSince, t.paused())) {
                    RunEnd.cancelRun(d, "paused for too long");
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
            d.watch(d.now.plus(next));
        }
    }

    private static void over(Decision d, Duration limit, String code, String message) {
        if (hasPassed(d, d.run.stateSince, limit)) {
            RunEnd.abort(d, "run_timeout", null, new StepError(code, ErrorClass.INFRASTRUCTURE, message));
        }
    }

    /** Whether that much time with a live engine has passed; if not, schedules the next check. */
    private static boolean hasPassed(Decision d, @Nullable Instant since, Duration limit) {
        if (since == null) {
            return false;
        }
        Duration left = limit.minus(CountedTime.alive(d.view, since, d.now));
        if (left.isPositive()) {
            d.watch(d.now.plus(left));
        }
        return !left.isPositive();
    }

    private static void running(Decision d, Timeouts t) {
        if (CountedTime.runTimeIsUp(d.view, d.now)) {
            RunEnd.abort(d, "run_timeout", null, new StepError("RUN_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                    "the run was at work for longer than " + Seconds.of(t.running())));
            return;
        }
        if (d.run.activeSince != null) {
            d.watch(d.now.plus(t.running().minus(CountedTime.active(d.view, d.now))));
        }
        for (AgentRow agent : List.copyOf(d.view.agents)) {
            if (agent.state == AgentState.RUNNING && awaitsClaims(d, agent)) {
                agent.begunAt = d.now;
                d.changes.touch(agent);
            }
            if (d.atWork() && agent.state == AgentState.RUNNING
                    && !agent.failing && !CountedTime.spared(d.view, agent) && hasPassed(d, agent.begunAt, t.agent())) {
                Propagation.timedOut(d, agent);
            }
        }
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            if (d.atWork() && !task.terminal() && !task.isGroup() && !task.superseded) {
                task(d, task, t);
            }
        }
        if (d.run.state == RunState.RUNNING) {
            if (d.view.refused > 0) {
                SlotScheduling.startWaiting(d);
            }
            Completion.judgeAll(d);
            Completion.settle(d);
        }
    }

    private static void task(Decision d, TaskRow task, Timeouts t) {
        Duration own = task.spec().policy().timeout();
        Duration limit = own == null ? t.task() : own;
        boolean begun = task.state == TaskState.RUNNING || task.state == TaskState.VERIFYING;
        if (task.state == TaskState.CONTINUING && hasPassed(d, task.begunAt, limit)) {
            d.watch(d.now.plus(TaskProgress.CONTINUATION_PAUSE));
        } else if (begun && !CountedTime.spared(task) && hasPassed(d, task.begunAt, limit)) {
            TaskFailures.task(d, task, new StepError("TASK_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                    "the task took longer than " + Seconds.of(limit)));
        } else if (task.state == TaskState.VERIFYING && hasPassed(d, task.stateSince, t.verify())) {
            d.note(task, stalled(task, "awaiting_human"));
            Verdicts.missing(d, task, new StepError("VERIFY_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                    "no verdict within " + Seconds.of(t.verify())));
        } else if (task.state == TaskState.ASSIGNED && hasPassed(d, task.stateSince, t.assign())) {
            requeue(d, task);
        } else if (task.state == TaskState.RUNNING && idle(d, task) && hasPassed(d, signOfLife(task), t.stall())) {
            stalled(d, task, t);
        }
    }

    /** A running task shows no progress. A task that a limit may hold back is only scheduled again. */
    private static void stalled(Decision d, TaskRow task, Timeouts t) {
        if (task.steps.stream().noneMatch(step -> abandoned(d, step)) && HardLimit.mayHoldBack(d, task)) {
            SlotScheduling.open(d, task, null);
            return;
        }
        d.note(task, new OtherPayload.StallDetected("task", task.id(), task.state.wire(), signOfLife(task),
                TaskFailures.mayRetry(d, task) ? "retried"
                        : d.run.policy().failures().escalation().onExhausted() ? "escalated" : "failed"));
        TaskFailures.task(d, task, new StepError("TASK_STALLED", ErrorClass.INFRASTRUCTURE,
                "nothing of the task was under way for " + Seconds.of(t.stall())));
    }

    /**
     * A lease of the task is lost, and no worker serves the tool: the task waits for one as it did before it began.
     *
     * @return false while another of its steps is under way, or the run is not at work
     */
    static boolean requeued(Decision d, TaskRow task) {
        if (!d.atWork() || task.state != TaskState.RUNNING
                || !task.steps.stream().allMatch(step -> step.state.terminal()
                        || step.state == StepState.PENDING && !step.evaluating || step.isLost())) {
            return false;
        }
        requeue(d, task);
        return true;
    }

    private static void requeue(Decision d, TaskRow task) {
        d.note(task, stalled(task, "requeued"));
        task.steps.stream().filter(step -> step.queued).forEach(step -> SlotScheduling.close(d, step));
        SlotScheduling.leave(d, task);
        TaskMoves.queue(d, task);
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

    /** True while an agent's tasks only wait to be claimed; its time then starts again. */
    private static boolean awaitsClaims(Decision d, AgentRow agent) {
        List<TaskRow> begun =
                d.view.tasks.values().stream().filter(task -> task.agent() == agent && RunView.hasBegun(task)
                        && !CountedTime.spared(task) && (task.state != TaskState.QUEUED || task.hasSlot)).toList();
        return !begun.isEmpty() && begun.stream().allMatch(task -> task.steps.stream().noneMatch(StepRow::isHeld)
                && task.steps.stream().anyMatch(step -> step.queued));
    }

    /** True for a step whose lease was lost, and that no worker has claimed again. */
    private static boolean abandoned(Decision d, StepRow step) {
        return step.queued && step.isLost() && !d.capacity.serves(step.spec().tool());
    }

    /** True when a running task has nothing in progress: no lease, row of the queue not abandoned, timer or open question. */
    private static boolean idle(Decision d, TaskRow task) {
        return !task.evaluating && !task.waits
                && task.steps.stream().noneMatch(step -> step.queued && !abandoned(d, step)
                        || step.evaluating || step.deferred() || switch (step.state) {
                            case AWAITING_RETRY, WAITING, WAITING_APPROVAL -> true;
                            case PENDING, RUNNING, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
                        });
    }

    /** Checks the heartbeat timeout. */
    static void heartbeatDue(Decision d) {
        d.disarm(TimerKind.HEARTBEAT, d.run.id());
        Instant since = d.run.quietSince;
        if (since == null || d.run.state != RunState.RUNNING) {
            return;
        }
        Duration left = d.run.policy().timeouts().heartbeat().minus(CountedTime.alive(d.view, since, d.now));
        if (left.isPositive()) {
            d.arm(TimerKind.HEARTBEAT, d.run.id(), d.now.plus(left));
        } else {
            RunEnd.abort(d, "heartbeat_lost", null, new StepError(StepFailures.WORKER_LOST, ErrorClass.INFRASTRUCTURE,
                    "no worker of the run has sent a heartbeat for "
                            + Seconds.of(d.run.policy().timeouts().heartbeat())));
        }
    }
}
