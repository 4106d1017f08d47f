package io.keelson.core.decide;

import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.money.Funds;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.TimerKind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Decides commands on a run. Deterministic: no clock, no random, no I/O, no threads. Reply and changes follow from the
 * view, the command, the time and the ids given. A refusal is a value and leaves the view unchanged; an exception is a
 * bug, after which the view must be discarded.
 */
public final class Decider {
    private Decider() {}

    /**
     * Accepts a new run, unless its workspace cannot pay for it. A run that starts at a later time is accepted in any
     * case: it waits until it can be paid for.
     *
     * @param changes collects the rows to write
     * @param capacity free slots of the deciding node; the decision takes from them
     * @param funds prices, and balances of workspaces
     */
    public static Created create(Command.Create command, ChangeSet changes, Instant now, Ids ids,
            LocalCapacity capacity, Funds funds) {
        return RunCreation.create(command, null, changes, now, ids, capacity, funds);
    }

    /**
     * Decides any other command.
     *
     * @param view current as of the run's version, under the run's lock; edited in place
     * @param capacity free slots of the deciding node; the decision takes from them
     * @param funds prices, and balances of workspaces
     */
    public static Reply decide(RunView view, Command command, ChangeSet changes, Instant now, Ids ids,
            LocalCapacity capacity, Funds funds) {
        if (!(command instanceof Command.CompleteChain chain)) {
            return decideOne(new Decision(view, changes, now, ids, capacity, funds, command.actor()), command);
        }
        List<Reply> taken = new ArrayList<>();
        int last = chain.reports().size() - 1;
        for (Command.Report report : chain.reports()) {
            Decision d = new Decision(view, changes, now, ids, capacity, funds, report.actor());
            d.yields = chain.yields() && taken.size() == last;
            d.follower = taken.size() == last ? null : chain.reports().get(taken.size() + 1).stepId();
            Reply reply = chain.held() && Steps.isHeldByOther(d, report)
                    ? Reply.rejected("STALE_LEASE", "another worker holds the step")
                    : decideOne(d, report);
            if (!reply.equals(Reply.CHANGED) && !(reply instanceof Reply.Duplicate)
                    && !(reply instanceof Reply.Claimed)) {
                return new Reply.Taken(taken, reply);
            }
            taken.add(reply);
        }
        return new Reply.Taken(taken);
    }

    /**
     * The steps that the deciding node may execute before the commit of its claim: the chain that begins in the first lane of the
     * task. Changes nothing. Empty if the lane's step does not wait for its first claim.
     *
     * @param capacity has the tools of the node
     */
    public static List<StepRow> unclaimed(RunView view, UUID task, LocalCapacity capacity, Funds funds) {
        TaskRow found = view.task(task);
        Decision d = new Decision(view, new ChangeSet(), Instant.EPOCH, () -> task, capacity, funds, Actor.SYSTEM);
        return found == null ? List.of() : Chains.ofUnclaimed(d, found);
    }

    /** Whether the claim would give that step for the first time. */
    public static boolean waits(RunView view, Command.Claim claim, @Nullable UUID step) {
        TaskRow task = view.task(claim.taskId());
        StepRow queued = task == null ? null : SlotScheduling.queuedStep(task, claim.lane());
        return queued != null && queued.id().equals(step) && queued.leaseEpoch == 0;
    }

    private static Reply decideOne(Decision d, Command command) {
        RunView view = d.view;
        ChangeSet changes = d.changes;
        RunState before = view.run.state;
        int events = changes.events().size();
        Command decision = command instanceof Command.Vote vote ? vote.decision() : command;
        Reply first = Votes.take(d, command, decision);
        Reply reply = first == null ? decide(d, decision) : first;
        if (d.failedPlanner != null) {
            PlanAnswers.missing(d, d.failedPlanner);
        }
        Pauses.pauseWithParent(d);
        if (view.run.state == RunState.ESCALATED && (view.tickets.isEmpty() || Undoing.othersContinue(d))) {
            Resumption.resume(d);
        }
        Tickets.hold(d);
        RunBudget.replan(d);
        RunBudget.finished(d);
        if (d.heldBack || d.holdEnded || !d.budgets.isEmpty() || changes.events().size() > events) {
            LimitStop.after(d);
        }
        TimeoutMonitor.after(d, before);
        if (!(reply instanceof Reply.Rejected)) {
            Votes.forget(d);
        }
        return reply;
    }

    private static Reply decide(Decision d, Command command) {
        return switch (command) {
            case Command.Create c -> throw new IllegalArgumentException("a view exists already: " + c.runId());
            case Command.Start c -> DeferredStart.startNow(d);
            case Command.Admit c -> admit(d);
            case Command.Approve c -> HumanGates.approve(d, c);
            case Command.Reject c -> HumanGates.decide(d, false, c.reason());
            case Command.Vote c -> throw new IllegalArgumentException("a vote in a vote: " + c.runId());
            case Command.WithdrawVote c -> Votes.withdraw(d, c);
            case Command.DecideGate c -> decideGate(d, c);
            case Command.DecideStep c -> HumanGates.decideStep(d, c);
            case Command.Answer c -> CallWaits.answer(d, c);
            case Command.DecideTask c -> Verdicts.decide(d, c);
            case Command.DecideProposal c -> ProposalAnswers.decide(d, c);
            case Command.Resolve c -> TicketAnswers.resolve(d, c);
            case Command.FailRun c -> failRun(d, c);
            case Command.Replan c -> Replanning.request(d, c);
            case Command.CancelTask c -> ManualActions.cancel(d, c);
            case Command.RetryTask c -> ManualActions.retry(d, c);
            case Command.SkipTask c -> ManualActions.skip(d, c);
            case Command.CancelAgent c -> ManualActions.cancel(d, c);
            case Command.Pause c -> pause(d, c);
            case Command.Resume c -> resume(d);
            case Command.RaiseBudget c -> RunBudget.raise(d, c);
            case Command.AddChildBudget c -> ChildBudgets.allot(d, c);
            case Command.ChildBudgetAdded c -> ChildBudgets.receive(d, c);
            case Command.Cancel c -> cancel(d, c);
            case Command.SendSignal c -> Signals.received(d, c);
            case Command.Retry c -> retry(d, c);
            case Command.Undo c -> UndoAnswers.request(d, c);
            case Command.Claim c -> Steps.claim(d, c);
            case Command.Complete c -> Steps.complete(d, c);
            case Command.Continue c -> Steps.another(d, c);
            case Command.Fail c -> Steps.fail(d, c);
            case Command.Release c -> Steps.release(d, c);
            case Command.CompleteChain c -> throw new IllegalArgumentException("a chain in a chain: " + c.runId());
            case Command.TrackCall c -> Steps.track(d, c);
            case Command.Hold c -> Steps.hold(d, c);
            case Command.Meter c -> Steps.meter(d, c);
            case Command.AskModel c -> Steps.ask(d, c);
            case Command.CallTool c -> Steps.call(d, c);
            case Command.Park c -> Steps.park(d, c);
            case Command.EndRequest c -> Requests.end(d, c);
            case Command.LeaseExpired c -> Steps.leaseExpired(d, c);
            case Command.Settle c -> settle(d);
            case Command.TimerDue c -> timer(d, c);
            case Command.Evaluated c -> EvaluatorAnswers.evaluated(d, c);
        };
    }

    private static Reply admit(Decision d) {
        if (d.run.state != RunState.PENDING) {
            return Reply.UNCHANGED;
        }
        Planning.admit(d);
        return Reply.CHANGED;
    }

    private static Reply pause(Decision d, Command.Pause command) {
        if (d.run.state == RunState.PAUSED) {
            return Reply.UNCHANGED;
        }
        boolean may = d.run.state == RunState.PENDING ? d.carriedOut()
                : Lifecycles.RUN.allows(d.run.state, RunState.PAUSED);
        return may ? Pauses.pause(d, d.by(), command.reason())
                : RunActions.forbidden(d, "pause");
    }

    private static Reply resume(Decision d) {
        return switch (d.run.state) {
            case RUNNING, RESUMING -> Reply.UNCHANGED;
            case PAUSED -> {
                ChildLinks.released(d);
                Credits.provideAgain(d);
                yield Resumption.resume(d);
            }
            case BUDGET_EXCEEDED -> RunBudget.resume(d);
            case ESCALATED -> TicketAnswers.resumeAll(d);
            default -> RunActions.forbidden(d, "resume");
        };
    }

    private static Reply cancel(Decision d, Command.Cancel command) {
        if (d.run.state == RunState.CANCELLED) {
            return Reply.UNCHANGED;
        }
        if (!Lifecycles.RUN.allows(d.run.state, RunState.CANCELLED)) {
            return RunActions.forbidden(d, "cancel");
        }
        RunEnd.cancelRun(d, command.reason());
        return Reply.CHANGED;
    }

    private static Reply failRun(Decision d, Command.FailRun command) {
        if (d.run.state == RunState.FAILED) {
            return Reply.UNCHANGED;
        }
        if (!Lifecycles.RUN.allows(d.run.state, RunState.FAILED)) {
            return RunActions.forbidden(d, "fail");
        }
        d.run.errorCode = "FAILED_BY_HUMAN";
        d.run.errorMessage = command.reason() == null ? "failed by a person" : command.reason();
        RunEnd.failAll(d, null, null, d.by(), null);
        return Reply.CHANGED;
    }

    /** Decides the named gate; rejects the command if the run waits at another gate. */
    private static Reply decideGate(Decision d, Command.DecideGate command) {
        boolean waits = switch (command.gate()) {
            case PLAN -> d.run.state == RunState.AWAITING_APPROVAL;
            case RESULT -> d.run.state == RunState.RUNNING && d.run.gate == RunRow.Gate.ACCEPTANCE;
            case BUDGET -> d.run.state == RunState.BUDGET_EXCEEDED;
        };
        if (!waits) {
            return decidedGate(d, command);
        }
        if (command.asked() != null && !command.asked().equals(Questions.asked(d.view, command.gate()))) {
            return new Reply.Rejected("GATE_CHANGED", "another question about the run's " + command.gate().noun()
                    + " waits now", d.run.state.wire(), List.of());
        }
        if (command.gate() != Command.DecideGate.Gate.BUDGET) {
            return HumanGates.decide(d, command.approve(), command.comment());
        }
        return command.approve() ? approveBudget(d, command)
                : failRun(d, new Command.FailRun(d.run.id(), command.comment(), d.actor));
    }

    private static Reply approveBudget(Decision d, Command.DecideGate command) {
        if (d.run.gate == RunRow.Gate.FINISHING) {
            return command.way().finishing() ? Reply.UNCHANGED : RunBudget.finishing(d);
        }
        String model = command.way().model();
        boolean raises = command.hardLimit() != null || !command.tasks().isEmpty();
        Reply reply = command.way().finishing() ? RunBudget.finish(d)
                : model != null ? RunBudget.downgrade(d, model)
                        : raises ? RunBudget.raise(d,
                                new Command.RaiseBudget(d.run.id(), command.hardLimit(), null, command.tasks(),
                                        d.actor))
                                : RunBudget.resume(d);
        if (reply.equals(Reply.CHANGED)) {
            d.note(new RunPayload.BudgetApproved(d.by(), command.comment(), command.way().finishing() ? "finish_current"
                    : model != null ? "downgrade" : raises ? "raise" : "resume", command.hardLimit(), model));
        }
        return reply;
    }

    /** Repeating the same decision is not an error, unless it would ignore a limit. */
    private static Reply decidedGate(Decision d, Command.DecideGate command) {
        String no = switch (command.gate()) {
            case PLAN -> "PLAN_REJECTED";
            case RESULT -> "RESULT_REJECTED";
            case BUDGET -> "FAILED_BY_HUMAN";
        };
        boolean rejected = d.run.state == RunState.FAILED && no.equals(d.run.errorCode);
        boolean approved = !rejected && d.run.state != RunState.CANCELLED && switch (command.gate()) {
            case PLAN -> d.run.policy().approvePlan()
                    && (d.run.startedAt != null || d.run.state == RunState.READY);
            case RESULT -> d.run.state == RunState.COMPLETED || d.run.state == RunState.SKIPPED;
            case BUDGET -> RunBudget.answeredSo(d, command);
        };
        if (command.approve() ? approved : rejected) {
            return Reply.UNCHANGED;
        }
        return command.gate() == Command.DecideGate.Gate.BUDGET ? RunBudget.contradiction(d)
                : RunActions.forbidden(d, command.approve() ? "approve" : "reject");
    }

    private static Reply retry(Decision d, Command.Retry command) {
        if (d.run.attempt > 1 && d.run.state.type() == StateType.PENDING) {
            return Reply.UNCHANGED;
        }
        long failures = IgnoredFailure.in(d.view).count();
        if (failures > 0 && (d.run.state == RunState.COMPLETED || d.run.state == RunState.SKIPPED)) {
            return new Reply.Rejected("INVALID_STATE_TRANSITION", "cannot retry a run that is " + d.run.state.wire()
                    + " with failures: " + failures
                    + "; `fork` it from a task that failed, to execute that task and those behind it again",
                    d.run.state.wire(), List.of());
        }
        if (d.run.state != RunState.FAILED) {
            return RunActions.forbidden(d, "retry");
        }
        if (RunActions.undone(d)) {
            return new Reply.Rejected("RUN_UNDONE", "the completed work of the run is undone, so that no attempt can"
                    + " continue from it: start another run", d.run.state.wire(), List.of());
        }
        if (Undoing.is(d) && command.fromStart()) {
            return new Reply.Rejected("UNDO_FROM_START",
                    "an undo continues from its failed tasks: retry it `from: failed`",
                    d.run.state.wire(), List.of("failed"));
        }
        if (d.run.parent != null) {
            return new Reply.Rejected("RETRY_PARENT_INSTEAD",
                    "another run has started it and has seen it fail: retry that one, "
                            + d.run.parent.runId(),
                    d.run.state.wire(), List.of());
        }
        if (d.run.attempt >= d.run.policy().maxAttempts()) {
            return new Reply.Rejected("ATTEMPTS_EXHAUSTED", "the run has used all " + d.run.policy().maxAttempts()
                    + " attempts", d.run.state.wire(), List.of());
        }
        Reply.Rejected refusal = Credits.reserve(d, d.run.attempt + 1);
        if (refusal != null) {
            return refusal;
        }
        Planning.retry(d, command.fromStart());
        return Reply.CHANGED;
    }

    private static Reply settle(Decision d) {
        long before = d.run.seq;
        if (d.run.state == RunState.RUNNING && d.view.tasksOpen == 0 && d.run.gate == RunRow.Gate.NONE
                && !d.view.evaluatingOutput) {
            d.note(new OtherPayload.StallDetected("run", d.run.id(), d.run.state.wire(), d.run.stateSince,
                    "re-evaluated"));
        }
        Completion.judgeAll(d);
        Completion.settle(d);
        return new Reply.Done(d.run.seq != before);
    }

    private static Reply timer(Decision d, Command.TimerDue command) {
        UUID subject = command.subject();
        TaskRow task = d.view.tasks.get(subject);
        StepRow step = d.view.steps.get(subject);
        switch (command.kind()) {
            case WATCH -> TimeoutMonitor.look(d);
            case HEARTBEAT -> TimeoutMonitor.heartbeatDue(d);
            case RUN_RETRY -> Planning.runDue(d);
            case START -> DeferredStart.due(d);
            case HUMAN -> HumanTimeouts.over(d, subject);
            case AGENT_RETRY -> d.view.agents.stream().filter(agent -> agent.id().equals(subject)).findFirst()
                    .ifPresentOrElse(agent -> Planning.agentDue(d, agent),
                            () -> d.disarm(command.kind(), subject));
            case TASK_CONTINUE, TASK_RETRY -> {
                if (task == null) {
                    d.disarm(command.kind(), subject);
                } else if (command.kind() == TimerKind.TASK_RETRY) {
                    AttemptRestarts.taskDue(d, task);
                } else if (task.isLoop()) {
                    Rounds.due(d, task);
                } else {
                    TaskProgress.nextTurn(d, task);
                }
            }
            case STEP_RETRY, STEP_WAIT -> {
                if (step == null) {
                    d.disarm(command.kind(), subject);
                } else {
                    Steps.due(d, step, command.kind());
                }
            }
            case EVALUATE_GATE, EVALUATE_STEP, EVALUATE_TASK_OUTPUT, EVALUATE_RUN_OUTPUT, EVALUATE_PLAN,
                    EVALUATE_CHILD, EVALUATE_PARENT, EVALUATE_UNDO, EVALUATE_CHILD_UNDO ->
                EvaluatorAnswers.askAgain(d, command.kind(), subject);
        }
        return Reply.CHANGED;
    }
}
