package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.decide.UndoRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.plan.Undo;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.UndoRules;
import io.keelson.core.plan.UndoWork;
import io.keelson.core.plan.Undoes;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/** Undos of runs: the answers of the server, and laws for the end of a story. */
final class Undos {
    /** The goal of runs in whose stories runs that steps started have undos. */
    static final String OF_CHILDREN = "undo";

    private Undos() {}

    static boolean ofChildren(RunRows rows) {
        return rows.accepted.goal().equals(OF_CHILDREN);
    }

    static boolean is(RunRows rows) {
        return rows.accepted.policy().undo().undoes() != null;
    }

    static Evaluation answer(Store store, RunRows rows) {
        if (rows.undo == null || rows.undo.state() == UndoRow.State.REQUESTED) {
            Plan plan = UndoPlan.of(UndoWork.of(rows.tasks.values().stream().filter(task -> !task.key().startsWith("."))
                    .map(task -> row(store, rows, task)).toList()));
            return new Evaluation.Undoes(plan.tasks().isEmpty() ? null : run(rows, plan));
        }
        return new Evaluation.UndoIs(
                rows.undo.undoRun() == null ? RunState.COMPLETED : store.run(rows.undo.undoRun()).run.state(),
                rows.undo.undoRun() == null ? Evaluation.UndoCounts.NONE : counts(store.run(rows.undo.undoRun())),
                rows.timers.containsKey(key(rows)) ? rows.timers.get(key(rows)).dueAt() : null);
    }

    /** The run whose undo the evaluator requests before it answers; null for any other evaluation. */
    static UUID childToUndo(RunRows rows, Evaluate asked) {
        Saved.Step step = asked.kind() == TimerKind.EVALUATE_STEP ? rows.steps.get(asked.subject()) : null;
        return step == null || !step.spec().undoesRun() ? null
                : rows.tasks.get(step.taskId()).spec().policy().undoes().run();
    }

    /** Whether a ticket is about the undo of a run that the original started. */
    static boolean ofChild(RunRows rows, Saved.Ticket ticket) {
        Undoes undoes = ticket.taskId() == null ? null : rows.tasks.get(ticket.taskId()).spec().policy().undoes();
        return undoes != null && undoes.run() != null;
    }

    static Evaluation ofChild(Store store, UUID child, Timer armed) {
        UndoRow undo = store.run(child).undo;
        return new Evaluation.ChildUndo(child, undo.state().wire(), undo.undoRun(), undo.counts().notUndone(),
                undo.errorCode(), armed == null ? null : armed.dueAt());
    }

    /** Child runs of a step, except ended ones without undoable work. */
    private static List<UndoPlan.Child> children(Store store, UUID step) {
        return store.runs().stream()
                .filter(run -> run.parent != null && run.parent.stepId().equals(step) && mayBeUndone(store, run))
                .map(run -> new UndoPlan.Child(run.id(), "r")).toList();
    }

    private static boolean mayBeUndone(Store store, RunRows rows) {
        return !rows.run.state().terminal()
                || rows.tasks.values().stream().anyMatch(task -> task.spec().policy().undo() != null)
                || rows.children.values().stream().anyMatch(child -> mayBeUndone(store, store.run(child.runId())));
    }

    private static TimerKey key(RunRows rows) {
        return new TimerKey(TimerKind.EVALUATE_UNDO, rows.id());
    }

    private static Evaluation.UndoCounts counts(RunRows undo) {
        int undone = (int) undo.tasksNow().stream().filter(task -> task.state() == TaskState.COMPLETED).count();
        int byHand = skipped(undo, "DONE_BY_HAND");
        int notDone = skipped(undo, "NOT_DONE");
        return new Evaluation.UndoCounts(undone, byHand, notDone,
                (int) undo.tasksNow().stream().filter(task -> !task.key().startsWith(".")).count() - undone - byHand
                        - notDone);
    }

    private static int skipped(RunRows undo, String code) {
        return (int) undo.tasksNow().stream().filter(
                task -> task.state() == TaskState.SKIPPED && code.equals(task.errorCode())).count();
    }

    private static UndoWork.Row row(Store store, RunRows rows, Saved.Task task) {
        Saved.Task group = task.groupId() == null ? null : rows.tasks.get(task.groupId());
        boolean own = task.reusedFrom() == null;
        List<UndoWork.Step> steps = rows.stepsOf(task.id()).filter(Undos::isWork)
                .map(step -> new UndoWork.Step(step.spec().name(), step.state() == StepState.COMPLETED,
                        step.leaseEpoch(), true, step.errorCode(), step.errorClass(), children(store, step.id())))
                .toList();
        return new UndoWork.Row(task.id(), task.key(), task.key(), group == null ? null : group.key(),
                group != null && group.isLoop() ? task.itemIndex() : 0,
                task.upstreams().stream().map(on -> rows.tasks.get(on).key()).toList(), task.spec().parallelSteps(),
                own && !isGroup(task) ? task.spec().policy().undo() : null,
                task.state() == TaskState.COMPLETED, steps);
    }

    static boolean isWork(Saved.Step step) {
        return acts(step) || step.spec().startsRun();
    }

    static boolean acts(Saved.Step step) {
        return step.spec().kind() == StepKind.TOOL || step.spec().kind() == StepKind.TURN;
    }

    static boolean isGroup(Saved.Task task) {
        return task.isLoop() || task.spec().forEach() != null && task.groupId() == null;
    }

    private static NewRun run(RunRows rows, Plan plan) {
        RunPolicy policy = rows.accepted.policy();
        FailureRules rules = new FailureRules(FailureMode.CONTINUE, FailureMode.CONTINUE, RetryPolicy.TASK,
                RetryPolicy.LEVEL, EscalationPolicy.OFF, null, 0, false, false);
        RunPolicy own = new RunPolicy(false, 3, policy.maxAgents(), policy.tasksPerAgent(),
                policy.tasksPerDefaultAgent(), policy.stepsPerTask(), false, policy.maxDeliveries(), 2, 4)
                .with(rules).with(patient(policy.timeouts())).with(Budget.NONE)
                .with(new UndoRules(false, false, rows.id()));
        UUID id = new UUID(rows.id().getMostSignificantBits() ^ 0x0f00_0000L, rows.id().getLeastSignificantBits());
        return new NewRun(id, rows.accepted.workspaceId(), "undo", null, "goal", plan, "{}", "{}", own, "{}", "[]",
                null,
                1, "undo", null, null, "ann");
    }

    /** An undo may take longer than an agent. */
    private static Timeouts patient(Timeouts of) {
        return new Timeouts(of.pending(), of.running(), of.paused(), of.resuming(), of.retrying(), Duration.ofDays(365),
                of.task(), of.stall(), of.assign(), of.verify(), of.heartbeat(), of.providerWait());
    }

    /** Whether the run knows the end of its undo. */
    static boolean known(Store store, RunRows rows) {
        if (rows.undo == null || rows.undo.state() == UndoRow.State.REFUSED
                || rows.undo.state() == UndoRow.State.NOTHING) {
            return true;
        }
        return rows.undo.undoRun() != null && rows.undo.state() == switch (store.run(rows.undo.undoRun()).run.state()) {
            case COMPLETED, SKIPPED -> counts(store.run(rows.undo.undoRun())).notUndone() == 0 ? UndoRow.State.UNDONE
                    : UndoRow.State.PARTLY_UNDONE;
            case FAILED -> UndoRow.State.FAILED;
            case CANCELLED -> UndoRow.State.CANCELLED;
            default -> UndoRow.State.RUNNING;
        };
    }

    /** Each completed task is undone by one task, after the undo of all work that depended on it. */
    static void check(Store store, RunRows rows) {
        UUID id = rows.undo == null ? null : rows.undo.undoRun();
        if (id == null) {
            return;
        }
        RunRows undo = store.run(id);
        Violation.unless(rows.id().equals(undo.accepted.policy().undo().undoes()), "not its undo: %s", undo.run);
        Map<String, Integer> undone = new HashMap<>();
        for (TaskSpec task : undo.accepted.plan().tasks()) {
            Undoes original = Objects.requireNonNull(task.policy().undoes());
            if (original.step() == null) {
                undone.merge(original.key(), 1, Integer::sum);
            }
        }
        rows.tasks.values().stream().filter(task -> task.state() == TaskState.COMPLETED && task.reusedFrom() == null
                && !isGroup(task) && whole(task.spec().policy().undo()))
                .forEach(task -> Violation.unless(undone.getOrDefault(task.key(), 0) == 1, "undone %s times: %s",
                        undone.get(task.key()), task));
        UndoneParts.check(rows, undo);
        UndoneChildren.check(store, rows, undo);
        Plan plan = undo.accepted.plan();
        for (TaskSpec task : plan.tasks()) {
            Set<String> later = below(rows, task.policy().undoes().key());
            Set<String> before = before(plan, task.id());
            plan.tasks().stream().filter(other -> later.contains(other.policy().undoes().key()))
                    .forEach(other -> Violation.unless(before.contains(other.id()), "not undone after %s: %s", other,
                            task));
        }
    }

    /** The ids of all tasks that a task depends on. */
    static Set<String> before(Plan plan, String task) {
        Set<String> before = new HashSet<>(Set.of(task));
        boolean grew = true;
        while (grew) {
            grew = plan.tasks().stream().filter(spec -> before.contains(spec.id()))
                    .flatMap(spec -> spec.dependsOn().stream()).map(Dependency::task).toList().stream()
                    .map(before::add).reduce(false, Boolean::logicalOr);
        }
        before.remove(task);
        return before;
    }

    private static boolean whole(Undo undo) {
        return undo != null && !undo.whole().isEmpty();
    }

    /** Keys of all tasks that depended on one, by the run's last plan. */
    private static Set<String> below(RunRows rows, String key) {
        Set<String> below = new HashSet<>();
        boolean grew = true;
        while (grew) {
            grew = rows.accepted.plan().tasks().stream().filter(spec -> spec.dependsOn().stream().map(Dependency::task)
                    .anyMatch(on -> on.equals(key) || below.contains(on))).map(TaskSpec::id)
                    .filter(id -> !below.contains(id)).toList().stream().map(below::add).reduce(false,
                            Boolean::logicalOr);
        }
        return below;
    }
}
