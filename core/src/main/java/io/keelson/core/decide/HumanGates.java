package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.JsonText;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TimerKind;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Applies people's decisions on a run's plan, on its approvals and on its result. */
final class HumanGates {
    /** The errors of a run after a person's rejection. */
    private static final Set<String> REJECTIONS =
            Set.of("PLAN_REJECTED", "APPROVAL_REJECTED", "OUTPUT_REJECTED", "RESULT_REJECTED");

    private static final String CALL_REJECTED = "CALL_REJECTED";

    private HumanGates() {}

    static Reply approve(Decision d, Command.Approve command) {
        Command.Approve.Edit edit = command.edit();
        if (edit == null) {
            return decide(d, true, command.comment());
        }
        if (d.run.state != RunState.AWAITING_APPROVAL) {
            return RunActions.forbidden(d, "approve with another plan");
        }
        if (edit.planned().plan().version() != d.run.planVersion + 1) {
            return new Reply.Rejected("GATE_CHANGED", "the plan has changed meanwhile, to version " + d.run.planVersion,
                    d.run.state.wire(), List.of());
        }
        PlanAnswers.edited(d, edit.planned());
        return approvePlan(d, edit.modifications(), command.comment());
    }

    /** Decides the plan gate, else the only approval that waits. */
    static Reply decide(Decision d, boolean approve, @Nullable String comment) {
        if (d.run.state == RunState.AWAITING_APPROVAL) {
            return approve ? approvePlan(d, List.of(), comment) : rejectPlan(d, comment);
        }
        if (d.run.gate == RunRow.Gate.ACCEPTANCE && d.run.state == RunState.RUNNING) {
            return acceptResult(d, approve, comment);
        }
        List<TaskRow> judged = d.view.tasks.values().stream()
                .filter(task -> task.state == TaskState.AWAITING_HUMAN).toList();
        List<StepRow> waiting = d.view.steps.values().stream()
                .filter(step -> step.state == StepState.WAITING_APPROVAL).toList();
        if (waiting.size() + judged.size() > 1) {
            return new Reply.Rejected("APPROVAL_AMBIGUOUS", "several decisions wait; decide one of them by its id",
                    d.run.state.wire(), Stream.concat(
                            waiting.stream()
                                    .map(step -> step.id() + " (" + step.task().key() + "/" + step.name() + ")"),
                            judged.stream().map(task -> task.id() + " (" + task.key() + ")")).sorted().toList());
        }
        if (judged.size() == 1) {
            return Verdicts.decide(d, judged.getFirst(),
                    approve ? Command.DecideTask.Choice.APPROVE : Command.DecideTask.Choice.REJECT, null, comment);
        }
        if (waiting.size() == 1) {
            StepRow step = waiting.getFirst();
            return step.spec().kind() == StepKind.CALL ? decideCall(d, step, approve, comment, null)
                    : decideStep(d, step, approve, comment);
        }
        return nothingWaits(d, approve);
    }

    /** Repeating a decision is not an error; another decision about the same gate is. */
    private static Reply nothingWaits(Decision d, boolean approve) {
        if (d.run.state == RunState.ESCALATED || d.run.gate == RunRow.Gate.ACCEPTANCE) {
            return RunActions.forbidden(d, approve ? "approve" : "reject");
        }
        boolean same = approve ? d.run.state != RunState.FAILED && d.run.state != RunState.CANCELLED
                : d.run.state == RunState.FAILED && REJECTIONS.contains(String.valueOf(d.run.errorCode));
        if (same && approve && !hasAsked(d)) {
            return new Reply.Rejected("NOTHING_TO_APPROVE", "the run is " + d.run.state.wire()
                    + " and has asked for no approval" + (d.run.state != RunState.BUDGET_EXCEEDED ? ""
                            : ": " + RunBudget.remedy(d) + "; `keelson inbox` lists the question about its budget"),
                    d.run.state.wire(), List.of());
        }
        return same ? Reply.UNCHANGED : RunActions.forbidden(d, approve ? "approve" : "reject");
    }

    /** Whether a person has approved its plan or anything of its current attempt. */
    private static boolean hasAsked(Decision d) {
        return d.run.policy().approvePlan() && (d.run.state == RunState.READY || d.run.startedAt != null)
                || d.run.policy().humans().accept() && d.run.state == RunState.COMPLETED
                || d.view.steps.values().stream().anyMatch(step -> step.spec().kind() == StepKind.APPROVAL
                        && step.state == StepState.COMPLETED)
                || d.view.tasks.values().stream().anyMatch(task -> task.state == TaskState.COMPLETED
                        && Verdicts.byHuman(task));
    }

    private static Reply acceptResult(Decision d, boolean approve, @Nullable String comment) {
        d.disarm(TimerKind.HUMAN, d.run.id());
        if (approve) {
            d.note(new RunPayload.Accepted(d.by(), comment));
            Completion.complete(d);
        } else {
            d.run.errorCode = "RESULT_REJECTED";
            d.run.errorMessage = comment == null ? "the result was rejected" : "the result was rejected: " + comment;
            RunEnd.failAll(d, null, null, null, d.by());
        }
        return Reply.CHANGED;
    }

    private static Reply approvePlan(Decision d, List<String> modifications, @Nullable String comment) {
        d.disarm(TimerKind.HUMAN, d.run.id());
        d.move(RunState.READY, new RunPayload.Approved(d.by(), modifications, comment));
        Planning.run(d);
        return Reply.CHANGED;
    }

    private static Reply rejectPlan(Decision d, @Nullable String reason) {
        d.note(new RunPayload.Rejected(d.by(), reason));
        d.run.errorCode = "PLAN_REJECTED";
        d.run.errorMessage = reason == null ? "the plan was rejected" : "the plan was rejected: " + reason;
        RunEnd.failAll(d, null, null, null, d.by());
        return Reply.CHANGED;
    }

    static Reply decideStep(Decision d, Command.DecideStep command) {
        StepRow step = d.view.steps.get(command.stepId());
        if (step == null) {
            return Reply.rejected("STEP_NOT_FOUND", "the run's current attempt has no such step");
        }
        return switch (step.spec().kind()) {
            case APPROVAL -> decideStep(d, step, command.approve(), command.comment());
            case CALL -> decideCall(d, step, command.approve(), command.comment(), command.given());
            case TOOL, TURN, WAIT, SIGNAL, RUN, VERIFY -> Reply.rejected("NOT_AN_APPROVAL",
                    "step '" + step.name() + "' is not an approval");
        };
    }

    /** An answered call is never decided again; a repeated approval changes nothing. */
    static Reply decideCall(Decision d, StepRow call, boolean approve, @Nullable String comment,
            @Nullable String given) {
        if (call.state != StepState.WAITING_APPROVAL) {
            boolean rejected = call.state == StepState.FAILED && CALL_REJECTED.equals(call.errorCode);
            return rejected == !approve && given == null ? Reply.UNCHANGED
                    : decided(rejected ? "rejected" : "answered", call);
        }
        if (approve && call.question() && given == null) {
            return Reply.rejected("ANSWER_REQUIRED",
                    "the agent's question needs an answer: `answer`, or --content of `keelson approve`");
        }
        d.disarm(TimerKind.HUMAN, call.id());
        if (!approve) {
            StepError error = new StepError(CALL_REJECTED, ErrorClass.PERMANENT,
                    "a person rejected the call" + (comment == null ? "" : ": " + comment));
            StepFailures.failWithoutHolder(d, call, error, new StepPayload.Rejected(d.by(), comment, error.code()));
        } else if (call.question()) {
            TaskProgress.succeed(d, call, Objects.requireNonNull(given), new StepPayload.Approved(d.by(), comment));
        } else {
            if (given != null) {
                call.edit(given);
                d.changes.resolvedInput(call, given);
            }
            d.move(call, StepState.PENDING, new StepPayload.Approved(d.by(), comment));
            TaskProgress.advance(d, call.task(), null);
        }
        return Reply.CHANGED;
    }

    static Reply decideStep(Decision d, StepRow step, boolean approve, @Nullable String comment) {
        return switch (step.state) {
            case WAITING_APPROVAL -> {
                d.disarm(TimerKind.HUMAN, step.id());
                if (!approve && Undoing.asks(step)) {
                    UndoAnswers.notDone(d, step, comment);
                } else if (approve) {
                    TaskProgress.succeed(d, step, approval(d.actor, comment),
                            new StepPayload.Approved(d.by(), comment));
                } else {
                    StepError error = new StepError("APPROVAL_REJECTED", ErrorClass.HUMAN_REJECTION,
                            comment == null ? "rejected" : "rejected: " + comment);
                    StepFailures.failWithoutHolder(d, step, error,
                            new StepPayload.Rejected(d.by(), comment, error.code()));
                }
                yield Reply.CHANGED;
            }
            case COMPLETED -> approve ? Reply.UNCHANGED : decided("approved", step);
            case FAILED -> !approve && "APPROVAL_REJECTED".equals(step.errorCode) ? Reply.UNCHANGED
                    : decided("rejected", step);
            case PENDING, RUNNING, WAITING, AWAITING_RETRY, CANCELLED, SKIPPED -> !approve && Undoing.saidNotDone(step)
                    ? Reply.UNCHANGED
                    : new Reply.Rejected(
                            "INVALID_STATE_TRANSITION", "approval '" + step.name() + "' is not waiting for a decision",
                            step.state.wire(), List.of());
        };
    }

    private static Reply decided(String how, StepRow step) {
        return new Reply.Rejected("APPROVAL_ALREADY_DECIDED", "approval '" + step.name() + "' was already " + how,
                step.state.wire(), List.of());
    }

    private static String approval(Actor actor, @Nullable String comment) {
        return "{\"approved\":true,\"by\":" + (actor.id() == null ? "null" : JsonText.string(actor.id()))
                + ",\"reason\":" + (comment == null ? "null" : JsonText.string(comment)) + "}";
    }
}
