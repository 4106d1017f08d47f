package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.decide.ChildRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.SourceStep;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Results of expressions: the same for the same subject on every request. */
final class Evaluations {

    private Evaluations() {}

    static Evaluation answer(Store store, Evaluate asked) {
        RunRows rows = store.run(asked.runId());
        switch (asked.kind()) {
            case EVALUATE_CHILD -> {
                return child(store.run(rows.children.get(asked.subject()).runId()),
                        rows.timers.get(new TimerKey(TimerKind.EVALUATE_CHILD, asked.subject())));
            }
            case EVALUATE_PARENT -> {
                return parent(store.run(rows.parent.runId()), rows.parent.stepId());
            }
            case EVALUATE_UNDO -> {
                return Undos.answer(store, rows);
            }
            case EVALUATE_CHILD_UNDO -> {
                return Undos.ofChild(store, asked.subject(),
                        rows.timers.get(new TimerKey(TimerKind.EVALUATE_CHILD_UNDO, asked.subject())));
            }
            default -> {
            }
        }
        UUID undone = Undos.childToUndo(rows, asked);
        if (undone != null) {
            return Undos.ofChild(store, undone, null);
        }
        int dice = dice(asked.subject(), asked.kind());
        Saved.Step call = rows.steps.get(asked.subject());
        if (call != null && call.gate() != null && call.gate().conditional() && call.startedAt() == null) {
            return new Evaluation.Holds(asks(call.id()) && dice % 4 != 0, dice % 4 == 0 ? "no" : null);
        }
        if (dice == 0) {
            return new Evaluation.Broken(new StepError("EXPRESSION_FAILED", ErrorClass.PERMANENT, "no"));
        }
        return switch (asked.kind()) {
            case EVALUATE_GATE -> gate(rows, rows.tasks.get(asked.subject()), dice);
            case EVALUATE_STEP -> opened(rows, rows.steps.get(asked.subject()), dice);
            case EVALUATE_TASK_OUTPUT -> output(rows, rows.tasks.get(asked.subject()));
            case EVALUATE_RUN_OUTPUT -> new Evaluation.Output("1");
            case EVALUATE_PLAN -> RandomPlans.another(rows);
            case EVALUATE_CHILD, EVALUATE_PARENT, EVALUATE_UNDO, EVALUATE_CHILD_UNDO, STEP_RETRY, STEP_WAIT,
                    TASK_CONTINUE, TASK_RETRY,
                    AGENT_RETRY,
                    RUN_RETRY, START, HUMAN,
                    HEARTBEAT, WATCH ->
                throw new IllegalArgumentException(asked.toString());
        };
    }

    private static int dice(UUID subject, TimerKind kind) {
        return Math.floorMod(subject.hashCode() * 31 + kind.ordinal(), 20);
    }

    /** Whether a person is asked about a call with a condition: it holds, or it cannot be evaluated. */
    static boolean asks(UUID call) {
        return dice(call, TimerKind.EVALUATE_STEP) % 2 == 0;
    }

    private static Evaluation child(RunRows child, Timer armed) {
        return new Evaluation.ChildIs(child.run.state(), child.children.values().stream().allMatch(ChildRow::ended),
                child.run.state() == RunState.COMPLETED ? "1" : null,
                child.head.tokens().total() + child.children.values().stream().mapToLong(ChildRow::tokens).sum(),
                cost(child), child.run.errorCode(), armed == null ? null : armed.dueAt());
    }

    /** What a run that another has started takes of that one's limit. */
    static BigDecimal cost(ChildRow child) {
        boolean known = child.ended() || child.charged().signum() > 0 || child.allotment() == null;
        return known ? child.charged() : child.allotment();
    }

    /** What a run and those that it has started have cost, or may. */
    static BigDecimal cost(RunRows rows) {
        return rows.run.chargedBefore().add(rows.head.charged()).add(rows.children.values().stream()
                .map(Evaluations::cost)
                .reduce(BigDecimal.ZERO, BigDecimal::add));
    }

    private static Evaluation parent(RunRows parent, UUID step) {
        return new Evaluation.ParentIs(parent.steps.get(step).state() == StepState.WAITING,
                parent.run.state() == RunState.PAUSED, parent.head.version());
    }

    private static Evaluation starts(RunRows rows, Saved.Step step, int dice) {
        UUID id = new UUID(~step.id().getMostSignificantBits(), step.id().getLeastSignificantBits());
        Random random = new Random(step.id().hashCode());
        RandomPlans plans = Undos.ofChildren(rows) ? RandomPlans.undoingChildren(random) : new RandomPlans(random);
        return new Evaluation.Starts("{}", plans.run(id, rows.accepted.workspaceId()),
                dice % 3 == 0 ? null : BigDecimal.valueOf(dice * 5L, 2), dice % 5 == 0,
                dice % 4 == 0 ? Duration.ofSeconds(dice * 3L) : null);
    }

    private static Evaluation opened(RunRows rows, Saved.Step step, int dice) {
        if (!step.spec().engineOwned()) {
            return result(step, dice);
        }
        if (step.spec().startsRun()) {
            return starts(rows, step, dice);
        }
        if (step.spec().kind() == StepKind.APPROVAL && dice % 4 == 0) {
            return new Evaluation.Approved("{}", "{}", "ann", 1);
        }
        return step.spec().kind() != StepKind.SIGNAL ? new Evaluation.Opened("{}", Duration.ofMillis(dice * 700L), null)
                : new Evaluation.Awaits("{\"name\": \"" + signal(step.id()) + "\", \"on_timeout\": \""
                        + (dice % 2 == 0 ? "continue" : "fail") + "\"}", signal(step.id()),
                        dice % 3 == 0 ? null : Duration.ofSeconds(dice),
                        dice % 2 == 0);
    }

    /** A random answer: a result of another step, a result that never comes, or no result. */
    private static Evaluation result(Saved.Step step, int dice) {
        return switch (dice % 3) {
            case 0 -> new Evaluation.Computes();
            case 1 -> new Evaluation.Reused("1", new SourceStep(new UUID(1, 1), new UUID(1, 3), new UUID(1, 2)));
            default -> new Evaluation.ComputedBy(new SourceStep(new UUID(1, 1), new UUID(1, 3), step.id()));
        };
    }

    /** One of few names, so that several wait for the same. */
    static String signal(UUID step) {
        return "signal" + Math.floorMod(step.hashCode(), 2);
    }

    private static Evaluation gate(RunRows rows, Saved.Task task, int dice) {
        if (task.spec().when() != null && dice % 3 == 0) {
            return new Evaluation.Skip();
        }
        List<String> items = IntStream.range(0, dice % 6).mapToObj(Integer::toString).toList();
        if (task.isLoop()) {
            return new Evaluation.Proceed(null, generations(rows, task.key()));
        }
        if (task.groupId() != null) {
            return new Evaluation.Proceed(null, Map.of(1, rows.tasks.values().stream()
                    .filter(other -> other.key().equals(task.key())).mapToInt(Saved.Task::effectGeneration).max()
                    .orElse(1)));
        }
        return task.spec().forEach() == null ? new Evaluation.Proceed(null)
                : new Evaluation.Proceed(items, generations(rows, task.key()));
    }

    /** Every sixth round on average is the last one. */
    private static Evaluation output(RunRows rows, Saved.Task task) {
        int rounds = (int) rows.roundsOf(task).map(Saved.Task::itemIndex).distinct().count();
        return !task.isLoop() || Math.floorMod(task.id().hashCode() + 7 * rounds, 6) == 0 ? new Evaluation.Output("1")
                : new Evaluation.Repeats(task.spec().policy().repeat().tasks().isEmpty()
                        ? generations(rows, task.key()).getOrDefault(rounds + 1, 1)
                        : 1);
    }

    /** Of all that tasks of the key have fanned out into. */
    private static Map<Integer, Integer> generations(RunRows rows, String key) {
        return rows.tasks.values().stream().filter(task -> task.groupId() != null)
                .filter(task -> rows.tasks.get(task.groupId()).key().equals(key))
                .collect(Collectors.toMap(Saved.Task::itemIndex, Saved.Task::effectGeneration, Math::max));
    }
}
