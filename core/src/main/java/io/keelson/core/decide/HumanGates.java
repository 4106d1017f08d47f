package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.JsonText;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Handles decisions of humans and answers of the evaluator. */
final class HumanGates {
    /** The errors of a run after a human's rejection. */
    private static final Set<String> REJECTIONS =
            Set.of("PLAN_REJECTED", "APPROVAL_REJECTED", "OUTPUT_REJECTED", "RESULT_REJECTED");

    private HumanGates() {}

    /** Decides the plan gate, else the only approval that waits. */
    static Reply decide(Decision d, boolean approve, @Nullable String comment) {
        if (d.run.state == RunState.AWAITING_APPROVAL) {
            return approve ? approvePlan(d, comment) : rejectPlan(d, comment);
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
            return decideStep(d, waiting.getFirst(), approve, comment);
        }
        return nothingWaits(d, approve);
    }

    /** Repeating a decision is not an error; another decision about the same gate is. */
    private static Reply nothingWaits(Decision d, boolean approve) {
        if (d.run.state == RunState.ESCALATED || d.run.gate == RunRow.Gate.ACCEPTANCE) {
            return Decider.forbidden(d.run.state, approve ? "approve" : "reject");
        }
        boolean same = approve ? d.run.state != RunState.FAILED && d.run.state != RunState.CANCELLED
                : d.run.state == RunState.FAILED && REJECTIONS.contains(String.valueOf(d.run.errorCode));
        if (same && approve && !hasAsked(d)) {
            return new Reply.Rejected("NOTHING_TO_APPROVE", "the run is " + d.run.state.wire()
                    + " and has asked for no approval", d.run.state.wire(), List.of());
        }
        return same ? Reply.UNCHANGED : Decider.forbidden(d.run.state, approve ? "approve" : "reject");
    }

    /** Whether a human has approved its plan or anything of its current attempt. */
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
            Completion.failAll(d, null, null, null, d.by());
        }
        return Reply.CHANGED;
    }

    private static Reply approvePlan(Decision d, @Nullable String comment) {
        d.disarm(TimerKind.HUMAN, d.run.id());
        d.move(RunState.READY, new RunPayload.Approved(d.by(), List.of(), comment));
        Planning.run(d);
        return Reply.CHANGED;
    }

    private static Reply rejectPlan(Decision d, @Nullable String reason) {
        d.note(new RunPayload.Rejected(d.by(), reason));
        d.run.errorCode = "PLAN_REJECTED";
        d.run.errorMessage = reason == null ? "the plan was rejected" : "the plan was rejected: " + reason;
        Completion.failAll(d, null, null, null, d.by());
        return Reply.CHANGED;
    }

    static Reply decideStep(Decision d, Command.DecideStep command) {
        StepRow step = d.view.steps.get(command.stepId());
        if (step == null) {
            return Reply.rejected("STEP_NOT_FOUND", "the run's current attempt has no such step");
        }
        if (step.spec().kind() != StepKind.APPROVAL) {
            return Reply.rejected("NOT_AN_APPROVAL", "step '" + step.name() + "' is not an approval");
        }
        return decideStep(d, step, command.approve(), command.comment());
    }

    static Reply decideStep(Decision d, StepRow step, boolean approve, @Nullable String comment) {
        return switch (step.state) {
            case WAITING_APPROVAL -> {
                d.disarm(TimerKind.HUMAN, step.id());
                if (approve) {
                    Steps.succeed(d, step, approval(d.actor, comment),
                            new StepPayload.Approved(d.by(), comment));
                } else {
                    StepError error = new StepError("APPROVAL_REJECTED", ErrorClass.HUMAN_REJECTION,
                            comment == null ? "rejected" : "rejected: " + comment);
                    Failures.refused(d, step, error, new StepPayload.Rejected(d.by(), comment, error.code()));
                }
                yield Reply.CHANGED;
            }
            case COMPLETED -> approve ? Reply.UNCHANGED : decided("approved", step);
            case FAILED -> !approve && "APPROVAL_REJECTED".equals(step.errorCode) ? Reply.UNCHANGED
                    : decided("rejected", step);
            case PENDING, RUNNING, WAITING, AWAITING_RETRY, CANCELLED, SKIPPED -> new Reply.Rejected(
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
                    new TaskPayload.Skipped("its condition is not met", null, "when", null, null, null));
            case Evaluation.Proceed(List<String> items, _, _) when items == null -> Completion.queue(d, task);
            case Evaluation.Proceed proceed -> fanOut(d, task, Objects.requireNonNull(proceed.items()), proceed);
            case Evaluation.Broken(StepError error) -> breakGate(d, task, error);
            case Evaluation.Starts s -> throw new IllegalArgumentException(s.toString());
            case Evaluation.ChildIs c -> throw new IllegalArgumentException(c.toString());
            case Evaluation.ParentIs p -> throw new IllegalArgumentException(p.toString());
            case Evaluation.Awaits a -> throw new IllegalArgumentException(a.toString());
            case Evaluation.Opened o -> throw new IllegalArgumentException(o.toString());
            case Evaluation.Output o -> throw new IllegalArgumentException(o.toString());
            case Evaluation.Planned p -> throw new IllegalArgumentException(p.toString());
        }
        return Reply.CHANGED;
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
        d.move(task, TaskState.QUEUED, ParentNotice.queued(task));
        d.move(task, TaskState.ASSIGNED, AgentTurns.assigned(task, null));
        Propagation.failed(d, task, error);
    }

    private static Reply opened(Decision d, @Nullable StepRow step, Evaluation evaluation) {
        if (step == null || !step.evaluating || step.state != StepState.PENDING) {
            return Reply.UNCHANGED;
        }
        step.evaluating = false;
        d.disarm(TimerKind.EVALUATE_STEP, step.id());
        if (!d.carriedOut()) {
            return Reply.UNCHANGED;
        }
        if (evaluation instanceof Evaluation.Starts starts) {
            ChildRuns.start(d, step, starts);
            return Reply.CHANGED;
        }
        boolean approval = step.spec().kind() == StepKind.APPROVAL;
        if (approval) {
            d.move(step, StepState.WAITING_APPROVAL, new StepPayload.ApprovalRequested());
        } else {
            d.move(step, StepState.WAITING, new StepPayload.Waiting());
        }
        if (evaluation instanceof Evaluation.Awaits awaits) {
            Signals.await(d, step, awaits);
        } else if (evaluation instanceof Evaluation.Opened(String input, Duration delay, Instant until)) {
            d.changes.resolvedInput(step, input);
            if (approval) {
                d.arm(TimerKind.HUMAN, step.id(), d.now.plus(d.run.policy().humans().patience()));
            } else {
                step.nextRunAt = until != null ? until : d.now.plus(Objects.requireNonNull(delay));
                d.arm(TimerKind.STEP_WAIT, step.id(), step.nextRunAt);
            }
        } else if (evaluation instanceof Evaluation.Broken(StepError error)) {
            Failures.refused(d, step, error, approval ? new StepPayload.Rejected(null, null, error.code())
                    : new StepPayload.Failed(PayloadPart.Failure.of(error), null, null, false));
        } else {
            throw new IllegalArgumentException(evaluation.toString());
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
            d.changes.output(task, json);
            d.yielded = json;
            Verdicts.submit(d, task);
        } else if (evaluation instanceof Evaluation.Broken(StepError error)) {
            Propagation.failed(d, task, error);
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
            Completion.failAll(d, null, null, null, null);
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
            Replanning.planned(d, planned);
        } else if (evaluation instanceof Evaluation.Broken(StepError error)) {
            Replanning.broken(d, error);
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
            case EVALUATE_CHILD -> ChildRuns.wanted(d, subject);
            case EVALUATE_PARENT -> d.run.parent != null && !d.run.state.terminal();
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

    /** @param by who pauses it, as named in payloads */
    static Reply pause(Decision d, String by, @Nullable String reason) {
        d.move(RunState.PAUSED, new RunPayload.Paused(by, reason));
        if (d.run.gate == RunRow.Gate.ACCEPTANCE) {
            d.disarm(TimerKind.HUMAN, d.run.id());
        }
        rest(d);
        ChildRuns.tellAll(d);
        return Reply.CHANGED;
    }

    /** Stops dispatch; work in flight may finish and is recorded. */
    static void rest(Decision d) {
        for (AgentRow agent : d.view.agents) {
            if (!agent.state.terminal()) {
                d.move(agent, AgentState.PAUSED, new AgentPayload.Paused());
            }
        }
        SlotScheduling.withdraw(d);
    }

    static Reply resume(Decision d) {
        return resume(d, Credits.hardLimit(d.run));
    }

    /** @param before the run's previous hard limit; null for none */
    static Reply resume(Decision d, @Nullable BigDecimal before) {
        TimeoutMonitor.heldUp(d, d.run.stateSince);
        if (d.run.state == RunState.PAUSED) {
            ChildRuns.tellAll(d);
            ChildRuns.rested(d, d.run.stateSince);
        }
        String by = d.by();
        d.move(RunState.RESUMING, d.run.state == RunState.BUDGET_EXCEEDED
                ? new RunPayload.BudgetIncreased(before, Credits.hardLimit(d.run), by)
                : new RunPayload.Resuming(by));
        TaskBudgets.continued(d);
        for (AgentRow agent : d.view.agents) {
            if (agent.state == AgentState.PAUSED) {
                d.move(agent, AgentState.PENDING, new AgentPayload.Resumed());
            }
        }
        d.move(RunState.RUNNING, new RunPayload.Resumed(by));
        if (!d.view.tickets.isEmpty()) {
            Tickets.hold(d);
            return Reply.CHANGED;
        }
        if (ChildRuns.rest(d) || HardLimit.stopsNow(d)) {
            return Reply.CHANGED;
        }
        if (d.run.gate == RunRow.Gate.ACCEPTANCE) {
            d.arm(TimerKind.HUMAN, d.run.id(), d.now.plus(d.run.policy().humans().patience()));
        }
        d.view.agents.forEach(agent -> AttemptRestarts.begin(d, agent));
        d.view.agents.stream().filter(agent -> agent.begunAt != null && agent.tasksOpen == 0)
                .forEach(agent -> SlotScheduling.start(d, agent));
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            goOn(d, task);
        }
        Completion.judgeAll(d);
        for (AgentRow agent : d.view.agents) {
            SlotScheduling.fill(d, agent);
        }
        if (Replanning.plannerIsDone(d)) {
            Replanning.answered(d);
        }
        Completion.settle(d);
        return Reply.CHANGED;
    }

    private static void goOn(Decision d, TaskRow task) {
        if (task.state == TaskState.AWAITING_RETRY) {
            AttemptRestarts.nextAttempt(d, task);
        } else if (task.state == TaskState.VERIFYING) {
            SlotScheduling.start(d, task.agent());
            Steps.armRetries(d, task);
            SlotScheduling.open(d, task, null);
        } else if (task.state == TaskState.CONTINUING) {
            SlotScheduling.start(d, task.agent());
            Steps.nextTurn(d, task);
        } else if (task.state == TaskState.RUNNING && !task.isGroup()) {
            SlotScheduling.start(d, task.agent());
            Steps.armRetries(d, task);
            if (!SlotScheduling.open(d, task, null) && !task.evaluating) {
                Steps.finish(d, task);
            }
        } else if (task.state == TaskState.AWAITING_HUMAN) {
            SlotScheduling.start(d, task.agent());
        } else if (task.state == TaskState.RUNNING && task.childrenOpen == 0 && !task.evaluating) {
            Steps.finish(d, task);
        }
    }
}
