package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.Repeat;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.util.Collection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rounds of tasks with {@code repeat}. A round is a child of its task, with its own attempts, checks and questions. The
 * view has the last ended rounds only, so that a decision costs the same in every round.
 */
final class Rounds {
    static final String EXHAUSTED = "REPEAT_EXHAUSTED";
    static final String BUDGET_EXHAUSTED = "REPEAT_BUDGET_EXHAUSTED";

    private Rounds() {}

    /**
     * The gate of a task is open: its first round begins.
     *
     * @param generation effect generation of the first round of an earlier row of the task; 1 if absent
     */
    static void start(Decision d, TaskRow loop, int generation) {
        d.move(loop, TaskState.QUEUED, EventPayloads.queued(loop));
        d.move(loop, TaskState.ASSIGNED, EventPayloads.assigned(loop, null));
        d.move(loop, TaskState.RUNNING, new TaskPayload.Started(loop.attempt, null, null));
        loop.effectGeneration = generation;
        begin(d, loop);
    }

    private static void begin(Decision d, TaskRow loop) {
        int number = loop.round() + 1;
        for (int left = loop.children.size() - rule(loop).keep(); left > 0; left--) {
            fold(d, loop);
        }
        TaskRow round = new TaskRow(d.ids.next(), loop.key() + "[" + number + "]", loop.sequence(), loop.spec(),
                loop.agent(), loop, number, null);
        round.effectGeneration = loop.effectGeneration;
        PlanRows.add(d, round);
        PlanRows.recordCreated(d, round);
        TaskMoves.queue(d, round);
    }

    /** The earliest round leaves the view. */
    private static void fold(Decision d, TaskRow loop) {
        TaskRow round = loop.children.removeFirst();
        AgentRow agent = round.agent();
        CompletionCounters.uncount(agent, round);
        agent.tasks--;
        CompletionCounters.countTask(d.run, round, -1);
        CompletionCounters.countEnd(d.run, round, -1);
        PlanRows.dropSteps(d, round);
        d.view.tasks.remove(round.id());
        d.changes.fold(round);
    }

    /**
     * A round has ended. A cancelled one ends its task.
     *
     * @param ended collects tasks that end with it
     */
    static void ended(Decision d, TaskRow loop, TaskRow round, Collection<TaskRow> ended) {
        if (round.state == TaskState.CANCELLED) {
            TaskMoves.cancel(d, loop, new TaskPayload.Cancelled(Actor.SYSTEM.name(),
                    "round " + round.itemIndex() + " was cancelled", false));
            ended.add(loop);
        } else {
            TaskMoves.evaluateOutput(d, loop);
        }
    }

    /** The last round's output meets the condition. */
    static void met(Decision d, TaskRow loop) {
        note(d, loop, true);
    }

    /**
     * The last round's output does not meet the condition: another round follows, or the task fails.
     *
     * @param generation effect generation of the next round of an earlier row of the task; 1 if absent
     */
    static void unmet(Decision d, TaskRow loop, int generation) {
        StepError end = exhausted(loop);
        if (end != null) {
            note(d, loop, false);
            Propagation.failed(d, loop, end);
            return;
        }
        loop.nextRunAt = d.now.plus(rule(loop).delay());
        loop.effectGeneration = generation;
        d.changes.touch(loop);
        note(d, loop, false);
        due(d, loop);
    }

    private static void note(Decision d, TaskRow loop, boolean until) {
        TaskRow round = loop.children.getLast();
        d.note(loop, new TaskPayload.RoundCompleted(round.itemIndex(), round.id(), round.attempt, round.tokens,
                round.cost.stripTrailingZeros(), until, loop.nextRunAt));
    }

    private static @Nullable StepError exhausted(TaskRow loop) {
        Repeat rule = rule(loop);
        if (loop.round() >= rule.max()) {
            return new StepError(EXHAUSTED, ErrorClass.QUALITY,
                    "until does not hold after " + loop.round() + " rounds");
        }
        if (rule.budget() != null && loop.cost.compareTo(rule.budget()) >= 0) {
            return new StepError(BUDGET_EXHAUSTED, ErrorClass.QUALITY, "until does not hold after " + loop.round()
                    + " rounds, which have used " + Amounts.text(loop.cost) + " of " + Amounts.credits(rule.budget()));
        }
        return null;
    }

    /** Begins the next round if it is due, else arms its timer; while the run is paused the round waits for the resume. */
    static void due(Decision d, TaskRow loop) {
        if (loop.state != TaskState.RUNNING || loop.nextRunAt == null) {
            d.disarm(TimerKind.TASK_CONTINUE, loop.id());
        } else if (loop.nextRunAt.isAfter(d.now)) {
            d.arm(TimerKind.TASK_CONTINUE, loop.id(), loop.nextRunAt);
        } else {
            d.disarm(TimerKind.TASK_CONTINUE, loop.id());
            if (d.carriedOut()) {
                loop.nextRunAt = null;
                d.changes.touch(loop);
                begin(d, loop);
            }
        }
    }

    private static Repeat rule(TaskRow loop) {
        return Objects.requireNonNull(loop.spec().policy().repeat());
    }
}
