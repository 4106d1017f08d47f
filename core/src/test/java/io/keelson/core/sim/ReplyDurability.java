package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.Metered;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Event;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;

/** I6: the store has what a reply promises, from the reply on. One case per command. */
final class ReplyDurability {

    private ReplyDurability() {}

    /** @param rows the run's rows; null when the store has no such run */
    static void keep(Command sent, Reply reply, RunRows rows) {
        Command command = sent instanceof Command.Vote vote && rows != null
                && rows.accepted.policy().humans().approvals() == 1 ? vote.decision() : sent;
        if (command instanceof Command.Create && reply instanceof Reply.Rejected) {
            return;
        }
        unless(rows != null, "I6: answered, but there is no such run: %s", command);
        boolean done = reply instanceof Reply.Done;
        boolean changed = reply.equals(Reply.CHANGED);
        boolean holds = switch (command) {
            case Command.Create c -> done;
            case Command.Start c -> !done || rows.run.state() != RunState.CREATED;
            case Command.Admit c -> !done || rows.run.state() != RunState.PENDING;
            case Command.Approve c -> !changed || rows.run.state() != RunState.AWAITING_APPROVAL
                    || rows.run.attempt() > 1;
            case Command.Reject c -> !changed || rows.run.state() != RunState.AWAITING_APPROVAL
                    || rows.run.attempt() > 1;
            case Command.Vote c -> true;
            // the same person may have voted again in the same commit
            case Command.WithdrawVote c -> true;
            case Command.DecideGate c -> !changed || rows.run.attempt() > 1 || switch (c.gate()) {
                case PLAN -> rows.run.state() != RunState.AWAITING_APPROVAL;
                case RESULT -> rows.run.state().terminal();
                case BUDGET -> c.approve() || rows.run.state() == RunState.FAILED;
            };
            case Command.DecideStep c -> !done || decided(rows.steps.get(c.stepId()), c.approve());
            case Command.Answer c -> !done || answered(rows.waits.get(c.stepId()), c.round());
            case Command.DecideTask c -> !done || switch (c.choice()) {
                case APPROVE -> rows.tasks.get(c.taskId()).state() == TaskState.COMPLETED;
                case REJECT -> rows.tasks.get(c.taskId()).state() == TaskState.FAILED;
                case RETRY -> rows.tasks.get(c.taskId()).attempt() > 1
                        || rows.tasks.get(c.taskId()).state() == TaskState.AWAITING_RETRY
                        || rows.tasks.get(c.taskId()).state().terminal();
            };
            case Command.DecideProposal c -> !done || rows.proposals.get(c.proposalId()).end().state().equals(
                    c.accept() ? "accepted" : "rejected");
            case Command.Resolve c -> !done || !rows.tickets.get(c.ticketId()).open();
            case Command.FailRun c -> !done || rows.run.state() == RunState.FAILED || rows.run.attempt() > 1;
            case Command.Replan c -> !changed || rows.run.replans() > 0 || rows.run.attempt() > 1;
            case Command.CancelTask c -> !done || rows.tasks.get(c.taskId()).state() == TaskState.CANCELLED;
            case Command.RetryTask c -> true;
            case Command.SkipTask c -> !done || rows.tasks.get(c.taskId()).state() == TaskState.SKIPPED;
            case Command.CancelAgent c -> true;
            case Command.Pause c -> true;
            case Command.Resume c -> true;
            case Command.AddChildBudget c -> !done || rows.children.values().stream()
                    .filter(child -> child.runId().equals(c.childId()))
                    .allMatch(child -> child.allotment() == null || child.allotment().compareTo(c.amount()) >= 0);
            case Command.ChildBudgetAdded c -> true;
            case Command.RaiseBudget c -> !done || (c.hardLimit() == null || rows.run.hardLimit() != null)
                    && rows.budgets.keySet().containsAll(c.tasks().keySet());
            case Command.Cancel c -> !done || rows.run.state() == RunState.CANCELLED;
            case Command.SendSignal c -> !done || rows.signals.containsKey(c.id());
            case Command.Undo c -> !done || rows.undo != null;
            case Command.Retry c -> !changed || rows.run.attempt() > 1;
            case Command.Claim c -> !done;
            case Command.Complete c -> reported(rows, c.stepId(), c.epoch(), "completed", reply);
            case Command.CompleteChain c ->
                reply instanceof Reply.Taken taken && c.reports().subList(0, taken.reports())
                        .stream().allMatch(report -> keeps(rows, report));
            case Command.Continue c -> reported(rows, c.stepId(), c.epoch(), "continued", reply);
            case Command.Fail c -> reported(rows, c.stepId(), c.epoch(), "failed", reply)
                    || changed && refused(rows, c.stepId(), c.epoch());
            case Command.AskModel c -> true;
            case Command.CallTool c -> !done || rows.steps.containsKey(c.call());
            case Command.Park c -> !changed || rows.steps.get(c.stepId()).leaseEpoch() > c.epoch()
                    || rows.steps.get(c.stepId()).state() != StepState.RUNNING;
            case Command.EndRequest c -> true;
            case Command.Meter c -> !(reply instanceof Reply.Metered) || metered(rows, c);
            case Command.TrackCall c -> !changed || rows.steps.get(c.stepId()).leaseEpoch() >= c.epoch();
            case Command.Hold c -> !done || rows.steps.get(c.stepId()).leaseEpoch() >= c.epoch();
            case Command.Release c -> !changed || rows.steps.get(c.stepId()).leaseEpoch() >= c.epoch();
            case Command.LeaseExpired c -> true;
            case Command.Settle c -> true;
            case Command.TimerDue c -> true;
            case Command.Evaluated c -> true;
        };
        unless(holds, "I6: %s was answered %s, but the store has %s", command, reply, rows.run);
    }

    /** Who speaks of a lease by its epoch ends that one and no other. */
    static void fenced(Command all, List<Event> events) {
        Command command = all instanceof Command.CompleteChain chain ? chain.reports().getLast() : all;
        int epoch = command instanceof Command.LeaseExpired expired ? expired.epoch()
                : command instanceof Command.Release release ? release.epoch()
                        : command instanceof Command.Hold hold ? hold.epoch()
                                : command instanceof Command.Fail fail ? fail.epoch() : 0;
        for (Event event : events) {
            boolean ends = event.type() == EventType.STEP_LEASE_EXPIRED || event.type() == EventType.STEP_RELEASED
                    || event.type() == EventType.STEP_DEFERRED;
            unless(!ends || Integer.valueOf(epoch).equals(event.members().get("lease_epoch")), "%s led to %s", command,
                    event);
        }
    }

    /** An approved call has left its wait; any other decided step has ended. */
    private static boolean decided(Saved.Step step, boolean approved) {
        return step.spec().kind() == StepKind.CALL ? step.state() != StepState.WAITING_APPROVAL
                : step.state() == (approved ? StepState.COMPLETED
                        : step.spec().name().equals(UndoPlan.QUESTION) ? StepState.CANCELLED : StepState.FAILED);
    }

    /** An answered question waits no more; the call may have got further since. */
    private static boolean answered(Saved.Wait call, int round) {
        return call == null || call.now().rounds() > round || call.now().state() != CallWait.State.ASKED;
    }

    /** A use that was taken counts for its lease, in full; a first use of nothing leaves nothing. */
    private static boolean metered(RunRows rows, Command.Meter command) {
        StepResult result = rows.resultOf(command.stepId(), command.epoch());
        Metered open = rows.steps.get(command.stepId()).metered();
        Metered all = result != null ? new Metered(result.epoch(), result.tokens(), result.cost()) : open;
        BigDecimal cost = command.used().cost() == null ? BigDecimal.ZERO : command.used().cost();
        boolean nothing = cost.signum() == 0 && command.used().tokens().none();
        return all == null ? nothing
                : all.epoch() == command.epoch() && all.cost().compareTo(cost) >= 0
                        && command.used().tokens().beyond(all.tokens()).none() || nothing;
    }

    /** A report of a chain that was taken is recorded, now or before. */
    private static boolean keeps(RunRows rows, Command.Report report) {
        StepResult result = rows.resultOf(report.stepId(), report.epoch());
        return report instanceof Command.Release ? rows.steps.get(report.stepId()).leaseEpoch() >= report.epoch()
                : result != null;
    }

    /** A step whose program was refused a request has gone back, and its use is recorded under the epoch. */
    private static boolean refused(RunRows rows, UUID step, int epoch) {
        Saved.Step now = rows.steps.get(step);
        StepResult result = rows.resultOf(step, epoch);
        return result != null && result.outcome().equals("lost") && now.resultEpoch() != epoch
                && (now.leaseEpoch() > epoch || WorkLaws.isRefused(now) || now.state().terminal());
    }

    /** A report that was taken is recorded under the very epoch that it was made for. */
    private static boolean reported(RunRows rows, UUID step, int epoch, String outcome, Reply reply) {
        StepResult result = rows.resultOf(step, epoch);
        return switch (reply) {
            case Reply.Done d -> d.changed() && result != null && result.outcome().equals(outcome);
            case Reply.Duplicate d -> result != null;
            case Reply.Claimed c -> outcome.equals("completed") && result != null
                    && result.outcome().equals(outcome);
            case Reply.Metered m -> false;
            case Reply.Taken t -> false;
            case Reply.Paid p -> false;
            case Reply.Rejected r -> true;
        };
    }
}
