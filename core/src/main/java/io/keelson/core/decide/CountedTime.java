package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.EngineOutage;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Time that counts for timeouts: with a live engine, and without waits and pauses. */
final class CountedTime {
    private CountedTime() {}

    /** Time at work in this attempt. */
    static Duration active(RunView view, Instant now) {
        return view.run.activeSince == null ? view.run.active
                : view.run.active.plus(alive(view, view.run.activeSince, now));
    }

    /** The part of the time since then with a live engine; zero for null. */
    static Duration alive(RunView view, @Nullable Instant since, Instant now) {
        return since == null ? Duration.ZERO : EngineOutage.aliveBetween(since, now, view.outages);
    }

    /** Like {@link #alive}, but starts no earlier than the run's last resume: earlier time is forgiven. */
    static Duration goingSince(RunView view, @Nullable Instant since, Instant now) {
        Instant going = view.run.stateSince;
        return alive(view, since != null && going != null && going.isAfter(since) ? going : since, now);
    }

    static boolean runTimeIsUp(RunView view, Instant now) {
        return active(view, now).compareTo(view.run.policy().timeouts().running()) >= 0;
    }

    /**
     * True while a task's time does not count: it waits for a person, a time, a signal, another run, a busy system or a
     * limit.
     */
    static boolean spared(TaskRow task) {
        return task.waits || task.steps.stream().anyMatch(step -> step.state == StepState.WAITING && !step.queued
                || step.state == StepState.RUNNING && step.deferredSince != null);
    }

    static boolean spared(RunView view, AgentRow agent) {
        return view.tasks.values().stream().filter(task -> task.agent() == agent && RunView.hasBegun(task))
                .filter(task -> task.state != TaskState.QUEUED || task.hasSlot).allMatch(CountedTime::spared);
    }

    /**
     * Excludes a step's wait from the time of its task and its agent.
     *
     * @param since when the wait began; null if absent
     */
    static void spare(ChangeSet changes, StepRow step, @Nullable Instant since, Instant now) {
        if (since != null) {
            moveOn(changes, step.task(), Duration.between(since, now), now);
            AgentRow agent = step.task().agent();
            agent.begunAt = later(agent.begunAt, Duration.between(since, now), now);
            changes.touch(agent);
        }
    }

    /** The wait of a step for a limit ends; a resume of the run has excluded the time before. */
    static void spareRefused(RunView view, ChangeSet changes, StepRow step, Instant now) {
        spare(changes, step, later(step.deferredSince, view.run.stateSince), now);
        step.deferredSince = null;
    }

    private static @Nullable Instant later(@Nullable Instant one, @Nullable Instant other) {
        return one == null || other == null || one.isAfter(other) ? one : other;
    }

    /** Counts the time without a sign of life of the task from now. */
    static void from(ChangeSet changes, TaskRow task, Instant now) {
        task.stateSince = now;
        changes.touch(task);
    }

    /** Excludes the time in which the run was paused. */
    static void heldUp(RunView view, ChangeSet changes, @Nullable Instant since, Instant now) {
        Duration held = since == null ? Duration.ZERO : Duration.between(since, now);
        view.tasks.values().stream().filter(RunView::hasBegun).forEach(task -> moveOn(changes, task, held, now));
        for (AgentRow agent : view.agents) {
            if (!agent.state.terminal()) {
                agent.begunAt = later(agent.begunAt, held, now);
                changes.touch(agent);
            }
        }
    }

    private static void moveOn(ChangeSet changes, TaskRow task, Duration by, Instant now) {
        task.begunAt = later(task.begunAt, by, now);
        task.stateSince = later(task.stateSince, by, now);
        changes.touch(task);
    }

    private static @Nullable Instant later(@Nullable Instant time, Duration by, Instant most) {
        if (time == null) {
            return null;
        }
        Instant moved = time.plus(by);
        return moved.isAfter(most) ? most : moved;
    }
}
