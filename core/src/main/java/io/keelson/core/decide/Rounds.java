package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.Repeat;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rounds of tasks and groups with {@code repeat}. A round is a child of its task, with its own attempts, checks and
 * questions; of a group, one child for each of its tasks, with dependencies among them. The view has the last ended rounds only, so
 * that a decision costs the same in every round.
 */
final class Rounds {
    static final String EXHAUSTED = "REPEAT_EXHAUSTED";
    static final String BUDGET_EXHAUSTED = "REPEAT_BUDGET_EXHAUSTED";

    /** Characters of a condition in a message. */
    private static final int MAX_CONDITION = 200;

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
        if (loop.isRepeatedGroup()) {
            judge(d, loop);
        } else {
            begin(d, loop);
        }
    }

    private static void begin(Decision d, TaskRow loop) {
        List<TaskRow> last = loop.lastRound();
        int number = loop.round() + 1;
        while (!loop.children.isEmpty() && loop.children.getFirst().itemIndex() < number - rule(loop).keep()) {
            fold(d, loop);
        }
        if (loop.isRepeatedGroup()) {
            PlanRows.repeat(d, loop, last);
            judge(d, loop);
        } else {
            TaskRow round = new TaskRow(d.ids.next(), loop.key() + "[" + number + "]", loop.sequence(), loop.spec(),
                    loop.agent(), loop, number, null);
            round.effectGeneration = loop.effectGeneration;
            PlanRows.add(d, round);
            PlanRows.recordCreated(d, round);
            TaskMoves.queue(d, round);
        }
    }

    /**
     * Begins the members of a group's last round that wait for no other member. People may have ended all members of the first
     * round before.
     */
    private static void judge(Decision d, TaskRow loop) {
        Deque<TaskRow> ended = new ArrayDeque<>();
        if (loop.childrenOpen == 0) {
            ended(d, loop, ended);
        } else {
            loop.lastRound().forEach(member -> Completion.judge(d, member, ended));
        }
        Completion.ended(d, List.copyOf(ended));
    }

    /** Whether effects of a member may have happened in an earlier attempt, so that its effect generation is looked up. */
    static boolean mayRepeatEffects(Decision d, TaskRow member) {
        return d.run.attempt > 1 || member.agent().attempt > 1;
    }

    /** A group has ended: members that have not begun are skipped. */
    static void skipRest(Decision d, TaskRow loop, Collection<TaskRow> ended) {
        for (TaskRow member : loop.children) {
            if (member.state == TaskState.PENDING) {
                TaskMoves.cancelSteps(d, member);
                d.move(member, TaskState.SKIPPED, new TaskPayload.Skipped("its group is " + loop.state.wire(),
                        loop.id(), "dependency_failed", null, null, null));
                ended.add(member);
            }
        }
    }

    /** The earliest child leaves the view. */
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
     * A round has ended. A cancelled one ends its task or group.
     *
     * @param ended collects tasks that end with it
     */
    static void ended(Decision d, TaskRow loop, Collection<TaskRow> ended) {
        if (loop.lastRound().stream().anyMatch(child -> child.state == TaskState.CANCELLED)) {
            TaskMoves.cancel(d, loop, new TaskPayload.Cancelled(Actor.SYSTEM.name(),
                    "round " + loop.round() + " was cancelled", false));
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
        List<TaskRow> round = loop.lastRound();
        d.note(loop, new TaskPayload.RoundCompleted(loop.round(),
                loop.isRepeatedGroup() ? null : round.getFirst().id(),
                round.stream().mapToInt(TaskRow::attempt).max().orElse(1),
                round.stream().mapToLong(TaskRow::tokens).sum(),
                round.stream().map(TaskRow::cost).reduce(BigDecimal.ZERO, BigDecimal::add).stripTrailingZeros(), until,
                loop.nextRunAt));
    }

    private static @Nullable StepError exhausted(TaskRow loop) {
        Repeat rule = rule(loop);
        if (loop.round() >= rule.max()) {
            return new StepError(EXHAUSTED, ErrorClass.QUALITY,
                    "until does not hold after " + loop.round() + " rounds: " + condition(rule));
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

    private static String condition(Repeat rule) {
        return rule.until().length() <= MAX_CONDITION ? rule.until() : rule.until().substring(0, MAX_CONDITION) + "…";
    }

    private static Repeat rule(TaskRow loop) {
        return Objects.requireNonNull(loop.spec().policy().repeat());
    }
}
