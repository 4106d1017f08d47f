package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Flow;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.CallGate;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Applies the answers of the evaluator: conditions, inputs, outputs, plans, states of other runs. */
final class EvaluatorAnswers {
    private EvaluatorAnswers() {}

    static Reply evaluated(Decision d, Command.Evaluated command) {
        return switch (command.kind()) {
            case EVALUATE_GATE -> gate(d, d.view.tasks.get(command.subject()), command.evaluation());
            case EVALUATE_STEP -> opened(d, d.view.steps.get(command.subject()), command.evaluation());
            case EVALUATE_TASK_OUTPUT -> taskOutput(d, d.view.tasks.get(command.subject()), command.evaluation());
            case EVALUATE_RUN_OUTPUT -> runOutput(d, command.evaluation());
            case EVALUATE_PLAN -> planned(d, command.evaluation());
            case EVALUATE_CHILD -> ChildRuns.childIs(d, command.subject(), (Evaluation.ChildIs) command.evaluation());
            case EVALUATE_PARENT ->
                ChildRuns.parentIs(d, command.subject(), (Evaluation.ParentIs) command.evaluation());
            case EVALUATE_UNDO -> UndoAnswers.evaluated(d, command.evaluation());
            case EVALUATE_CHILD_UNDO -> ChildUndos.isNow(d, command.subject(), command.evaluation());
            case STEP_RETRY, STEP_WAIT, TASK_CONTINUE, TASK_RETRY, AGENT_RETRY, RUN_RETRY, START, HUMAN, HEARTBEAT,
                    WATCH ->
                throw new IllegalArgumentException(command.toString());
        };
    }

    private static Reply gate(Decision d, @Nullable TaskRow task, Evaluation evaluation) {
        if (task == null || !task.evaluating || task.state != TaskState.PENDING) {
            return Reply.UNCHANGED;
        }
        task.evaluating = false;
        d.disarm(TimerKind.EVALUATE_GATE, task.id());
        if (!d.carriedOut()) {
            return Reply.UNCHANGED;
        }
        switch (evaluation) {
            case Evaluation.Skip skip -> Completion.skipped(d, task,
                    new TaskPayload.Skipped("its condition is not met" + branch(task), null, "when", null, null, null));
            case Evaluation.Proceed(_, Map<Integer, Integer> generations, _) when task.isLoop() ->
                Rounds.start(d, task, generations.getOrDefault(1, 1));
            case Evaluation.Proceed(List<String> items, Map<Integer, Integer> generations, _) when items == null -> {
                task.effectGeneration = Math.max(task.effectGeneration, generations.getOrDefault(1, 1));
                TaskMoves.queue(d, task);
            }
            case Evaluation.Proceed proceed -> fanOut(d, task, Objects.requireNonNull(proceed.items()), proceed);
            case Evaluation.Broken(StepError error) -> breakGate(d, task, error);
            case Evaluation.Starts s -> throw new IllegalArgumentException(s.toString());
            case Evaluation.ChildIs c -> throw new IllegalArgumentException(c.toString());
            case Evaluation.ParentIs p -> throw new IllegalArgumentException(p.toString());
            case Evaluation.Awaits a -> throw new IllegalArgumentException(a.toString());
            case Evaluation.Holds h -> throw new IllegalArgumentException(h.toString());
            case Evaluation.Approved a -> throw new IllegalArgumentException(a.toString());
            case Evaluation.Opened o -> throw new IllegalArgumentException(o.toString());
            case Evaluation.Output o -> throw new IllegalArgumentException(o.toString());
            case Evaluation.Undoes u -> throw new IllegalArgumentException(u.toString());
            case Evaluation.UndoIs u -> throw new IllegalArgumentException(u.toString());
            case Evaluation.ChildUndo c -> throw new IllegalArgumentException(c.toString());
            case Evaluation.Repeats r -> throw new IllegalArgumentException(r.toString());
            case Evaluation.Reused r -> throw new IllegalArgumentException(r.toString());
            case Evaluation.ComputedBy c -> throw new IllegalArgumentException(c.toString());
            case Evaluation.Computes c -> throw new IllegalArgumentException(c.toString());
            case Evaluation.Planned p -> throw new IllegalArgumentException(p.toString());
        }
        return Reply.CHANGED;
    }

    private static String branch(TaskRow task) {
        Flow flow = task.spec().policy().flow();
        Flow.Place place = flow == null ? null : flow.branch();
        return place == null ? "" : ": it is in branch '" + place.branch() + "' of switch '" + place.of() + "'";
    }

    private static void fanOut(Decision d, TaskRow task, List<String> items, Evaluation.Proceed proceed) {
        int limit = d.run.policy().maxFanOut();
        if (items.size() > limit) {
            breakGate(d, task, new StepError("FAN_OUT_LIMIT", ErrorClass.PERMANENT,
                    "for_each yielded " + items.size() + " items; the limit is " + limit));
        } else {
            Planning.fanOut(d, task, items, proceed.generations(), proceed.titles());
        }
    }

    private static void breakGate(Decision d, TaskRow task, StepError error) {
        d.move(task, TaskState.QUEUED, EventPayloads.queued(task));
        d.move(task, TaskState.ASSIGNED, EventPayloads.assigned(task, null));
        Propagation.failed(d, task, error);
    }

    private static Reply opened(Decision d, @Nullable StepRow step, Evaluation evaluation) {
        if (step == null || !step.evaluating || step.state != StepState.PENDING) {
            return Reply.UNCHANGED;
        }
        if (evaluation instanceof Evaluation.Holds != (step.asks() && conditional(step))) {
            return Reply.UNCHANGED;
        }
        step.evaluating = false;
        d.view.lookAtWaits(step.task());
        d.disarm(TimerKind.EVALUATE_STEP, step.id());
        if (!d.carriedOut()) {
            return Reply.UNCHANGED;
        }
        if (evaluation instanceof Evaluation.Holds holds) {
            return applyCondition(d, step, holds);
        }
        if (step.reuses()) {
            return ResultReuse.evaluated(d, step, evaluation);
        }
        if (evaluation instanceof Evaluation.Starts starts) {
            ChildRuns.start(d, step, starts);
            return Reply.CHANGED;
        }
        boolean approval = step.spec().kind() == StepKind.APPROVAL;
        if (approval) {
            d.move(step, StepState.WAITING_APPROVAL, new StepPayload.ApprovalRequested(null));
        } else {
            d.move(step, StepState.WAITING, new StepPayload.Waiting());
        }
        if (evaluation instanceof Evaluation.ChildUndo is) {
            ChildUndos.begin(d, step, is);
        } else if (evaluation instanceof Evaluation.Awaits awaits) {
            Signals.await(d, step, awaits);
        } else if (evaluation instanceof Evaluation.Opened(String input, Duration delay, Instant until)) {
            d.changes.resolvedInput(step, input);
            if (approval) {
                d.ask(step.id());
            } else {
                step.nextRunAt = until != null ? until : d.now.plus(Objects.requireNonNull(delay));
                d.arm(TimerKind.STEP_WAIT, step.id(), step.nextRunAt);
            }
        } else if (evaluation instanceof Evaluation.Approved(String input, String output, String by, int attempt)) {
            d.changes.resolvedInput(step, input);
            TaskProgress.succeed(d, step, output, new StepPayload.Approved(by,
                    "approved in attempt " + attempt + " of the task, for the same input"));
        } else if (evaluation instanceof Evaluation.Broken(StepError error)) {
            StepFailures.failWithoutHolder(d, step, error, approval ? new StepPayload.Rejected(null, null, error.code())
                    : new StepPayload.Failed(PayloadPart.Failure.of(error), null, null, false));
        } else {
            throw new IllegalArgumentException(evaluation.toString());
        }
        return Reply.CHANGED;
    }

    private static boolean conditional(StepRow step) {
        return step.gate != null && step.gate.conditional();
    }

    /** A call's condition was evaluated. A condition that could not be evaluated asks a person, too. */
    private static Reply applyCondition(Decision d, StepRow call, Evaluation.Holds answer) {
        CallGate gate = Objects.requireNonNull(call.gate);
        if (answer.error() != null) {
            call.gate = gate.failed(answer.error());
        } else if (!answer.holds()) {
            call.gate = gate.open();
        }
        d.changes.touch(call);
        if (call.asks()) {
            SlotScheduling.ask(d, call);
        } else {
            TaskProgress.advance(d, call.task(), null);
        }
        return Reply.CHANGED;
    }

    private static Reply taskOutput(Decision d, @Nullable TaskRow task, Evaluation evaluation) {
        if (task == null || !task.evaluating || task.state != TaskState.RUNNING) {
            return Reply.UNCHANGED;
        }
        task.evaluating = false;
        d.disarm(TimerKind.EVALUATE_TASK_OUTPUT, task.id());
        if (evaluation instanceof Evaluation.Output(String json)) {
            if (task.isLoop()) {
                Rounds.met(d, task);
            }
            d.changes.output(task, json);
            d.yielded = json;
            Verdicts.submit(d, task);
        } else if (evaluation instanceof Evaluation.Broken(StepError error)) {
            Propagation.failed(d, task, error);
        } else if (evaluation instanceof Evaluation.Repeats(int generation) && task.isLoop()) {
            Rounds.unmet(d, task, generation);
        } else {
            throw new IllegalArgumentException(evaluation.toString());
        }
        return Reply.CHANGED;
    }

    private static Reply runOutput(Decision d, Evaluation evaluation) {
        if (!d.view.evaluatingOutput) {
            return Reply.UNCHANGED;
        }
        d.view.evaluatingOutput = false;
        d.disarm(TimerKind.EVALUATE_RUN_OUTPUT, d.run.id());
        if (!d.carriedOut()) {
            return Reply.UNCHANGED;
        }
        if (evaluation instanceof Evaluation.Output(String json)) {
            d.run.output = json;
            Completion.accept(d);
        } else if (evaluation instanceof Evaluation.Broken(StepError error)) {
            d.run.errorCode = error.code();
            d.run.errorMessage = "the run's output: " + error.message();
            RunEnd.failAll(d, null, null, null, null);
        } else {
            throw new IllegalArgumentException(evaluation.toString());
        }
        return Reply.CHANGED;
    }

    private static Reply planned(Decision d, Evaluation evaluation) {
        if (!d.view.evaluatingPlan) {
            return Reply.UNCHANGED;
        }
        d.view.evaluatingPlan = false;
        d.disarm(TimerKind.EVALUATE_PLAN, d.run.id());
        if (!d.atWork()) {
            return Reply.UNCHANGED;
        }
        if (evaluation instanceof Evaluation.Planned planned) {
            PlanAnswers.planned(d, planned);
        } else if (evaluation instanceof Evaluation.Broken(StepError error)) {
            PlanAnswers.broken(d, error);
        } else {
            throw new IllegalArgumentException(evaluation.toString());
        }
        return Reply.CHANGED;
    }

    /** An evaluation's timer is due without an answer: repeats the request if the answer is still needed. */
    static void askAgain(Decision d, TimerKind kind, UUID subject) {
        TaskRow task = d.view.tasks.get(subject);
        StepRow step = d.view.steps.get(subject);
        boolean wanted = switch (kind) {
            case EVALUATE_GATE -> task != null && task.evaluating && task.state == TaskState.PENDING;
            case EVALUATE_TASK_OUTPUT -> task != null && task.evaluating && task.state == TaskState.RUNNING;
            case EVALUATE_STEP -> step != null && step.evaluating;
            case EVALUATE_RUN_OUTPUT -> d.view.evaluatingOutput;
            case EVALUATE_PLAN -> d.view.evaluatingPlan;
            case EVALUATE_CHILD -> ChildLinks.hasOpenChild(d, subject);
            case EVALUATE_PARENT -> d.run.parent != null && !d.run.state.terminal();
            case EVALUATE_UNDO -> Undoing.isUndone(d);
            case EVALUATE_CHILD_UNDO -> ChildUndos.waits(d, subject);
            case STEP_RETRY, STEP_WAIT, TASK_CONTINUE, TASK_RETRY, AGENT_RETRY, RUN_RETRY, START, HUMAN, HEARTBEAT,
                    WATCH ->
                throw new IllegalArgumentException(kind.toString());
        };
        if (wanted) {
            d.evaluate(kind, subject);
        } else {
            d.disarm(kind, subject);
        }
    }
}
