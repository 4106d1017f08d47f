package io.keelson.core.decide;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideGate.Gate;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Command.Resolution;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Approvals that require several people. Each of them votes for the same answer to the same question; the last one decides. A
 * rejection decides at once, and so does the time of an answer.
 */
final class Votes {
    private Votes() {}

    /**
     * A question that waits for an approval.
     *
     * @param instance tells it from other questions about the same subject
     * @param task that it is about; null for a question about the run
     */
    private record Asked(String kind, UUID subject, String instance, @Nullable TaskRow task, @Nullable StepRow step) {}

    /**
     * Records an approval that needs other people's first, or refuses it; null if the command is to be decided.
     *
     * @param decision the command, or that of the vote
     */
    static @Nullable Reply take(Decision d, Command command, Command decision) {
        if (evades(d.view, decision)) {
            return new Reply.Rejected("APPROVALS_REQUIRED",
                    "a question that waits there requires the approval of several"
                            + " people: answer it in the inbox",
                    d.run.state.wire(), List.of());
        }
        Asked asked = asked(d.view, decision);
        int required = asked == null ? 1 : required(d.view, asked.task);
        if (asked == null || required == 1) {
            return null;
        }
        String voter = d.actor.id();
        if (!(command instanceof Command.Vote vote) || !vote.person() || voter == null
                || d.actor.type() != ActorType.HUMAN) {
            return Reply.rejected("APPROVER_NOT_A_PERSON", "this requires the approval of " + required
                    + " people: " + d.actor.name() + " is a service, or a key that several people may use");
        }
        List<VoteRow> same = d.view.votes.stream().filter(row -> row.isOf(asked.subject, asked.instance)
                && row.digest().equals(vote.digest())).toList();
        VoteRow own = same.stream().filter(row -> row.voter().equals(voter)).findFirst().orElse(null);
        if (own != null) {
            return new Reply.Rejected("ALREADY_VOTED", voter + " has approved this at " + own.votedAt()
                    + ": another person has to approve it, " + same.size() + " of " + required + " have",
                    d.run.state.wire(), List.of());
        }
        if (same.size() + 1 >= required) {
            return null;
        }
        cast(d, asked, new VoteRow(asked.subject, voter, asked.instance, vote.digest(), comment(decision), d.now),
                same.size() + 1, required);
        return Reply.CHANGED;
    }

    private static void cast(Decision d, Asked asked, VoteRow vote, int given, int required) {
        d.view.votes.removeIf(row -> row.subject().equals(vote.subject()) && row.voter().equals(vote.voter()));
        d.view.votes.add(vote);
        d.changes.put(d.run, vote);
        d.note(asked.task, asked.step, new OtherPayload.ApprovalVoted(asked.kind, asked.subject, vote.voter(), given,
                required, vote.digest(), vote.reason()));
    }

    static Reply withdraw(Decision d, Command.WithdrawVote command) {
        VoteRow own = d.view.votes.stream().filter(row -> row.subject().equals(command.subject())
                && row.voter().equals(d.actor.id())).findFirst().orElse(null);
        Asked asked = waiting(d.view, command.subject());
        if (own == null || asked == null || !own.isOf(asked.subject, asked.instance)) {
            return new Reply.Rejected("NO_VOTE", "no approval of " + d.actor.name()
                    + " waits for that of another person", d.run.state.wire(), List.of());
        }
        d.view.votes.remove(own);
        d.changes.remove(d.run, own);
        d.note(asked.task, asked.step, new OtherPayload.VoteWithdrawn(asked.kind, asked.subject, own.voter()));
        return Reply.CHANGED;
    }

    /** Deletes votes whose question does not wait any more, or has changed. */
    static void forget(Decision d) {
        for (VoteRow row : List.copyOf(d.view.votes)) {
            Asked asked = waiting(d.view, row.subject());
            if (asked == null || !row.isOf(asked.subject, asked.instance)) {
                d.view.votes.remove(row);
                d.changes.remove(d.run, row);
            }
        }
    }

    /** People who have to approve a question of the task, or of the run. */
    private static int required(RunView view, @Nullable TaskRow task) {
        int ofRun = view.run.policy().humans().approvals();
        return task == null ? ofRun : Math.max(ofRun, task.spec().policy().approvals());
    }

    /** The approvals of the question about a subject, in words; empty for a question that one person decides. */
    static String progress(RunView view, UUID subject) {
        Asked asked = waiting(view, subject);
        int required = asked == null ? 1 : required(view, asked.task);
        if (asked == null || required == 1) {
            return "";
        }
        List<VoteRow> votes = view.votes.stream().filter(row -> row.isOf(asked.subject, asked.instance)).toList();
        return votes.isEmpty() ? "; " + required + " people have to approve"
                : "; " + String.join(", ", votes.stream().map(row -> row.voter() + " approved at " + row.votedAt())
                        .toList()) + ", and " + required + " people have to approve the same";
    }

    /** Whether the command goes round a question that requires several people. */
    private static boolean evades(RunView view, Command command) {
        Stream<TaskRow> ended = command instanceof Command.SkipTask c ? Stream.ofNullable(view.tasks.get(c.taskId()))
                : command instanceof Command.CancelTask c ? Stream.ofNullable(view.tasks.get(c.taskId()))
                        : command instanceof Command.CancelAgent c
                                ? view.tasks.values().stream().filter(task -> task.agent().number() == c.number())
                                : command instanceof Command.Replan ? view.tasks.values().stream() : Stream.empty();
        return asks(view, ended);
    }

    private static boolean asks(RunView view, Stream<TaskRow> tasks) {
        return tasks.filter(task -> !task.terminal() && required(view, task) > 1)
                .anyMatch(task -> task.state == TaskState.AWAITING_HUMAN || task.steps.stream()
                        .anyMatch(step -> step.state == StepState.WAITING_APPROVAL && !step.question()));
    }

    /** The question that the command approves; null if it approves none that waits. */
    private static @Nullable Asked asked(RunView view, Command command) {
        if (command instanceof Command.DecideTask c && c.choice() == Choice.APPROVE) {
            Asked task = waiting(view, c.taskId());
            return task == null || task.task == null || c.gate() != null && c.gate() != task.task.attempt ? null : task;
        }
        UUID subject = command instanceof Command.DecideStep c && c.approve() ? c.stepId()
                : command instanceof Command.DecideProposal c && c.accept() ? c.proposalId()
                        : command instanceof Command.Resolve c && c.resolution() == Resolution.RESUME ? c.ticketId()
                                : null;
        return subject != null ? waiting(view, subject)
                : command instanceof Command.Approve ? sole(view)
                        : command instanceof Command.DecideGate c && c.approve() ? ofGate(view, c)
                                : command instanceof Command.RaiseBudget
                                        && view.run.state == RunState.BUDGET_EXCEEDED ? waiting(view, view.run.id())
                                                : null;
    }

    private static @Nullable Asked ofGate(RunView view, Command.DecideGate command) {
        Asked gate = waiting(view, view.run.id());
        boolean same = gate != null && view.run.state != RunState.PAUSED && gate.kind.equals(kind(command.gate()))
                && (command.asked() == null || command.asked().equals(Questions.asked(view, command.gate())));
        return same ? gate : null;
    }

    /** The plan, the result, or the only output or step that waits. */
    private static @Nullable Asked sole(RunView view) {
        Asked gate = view.run.state == RunState.BUDGET_EXCEEDED || view.run.state == RunState.PAUSED ? null
                : waiting(view, view.run.id());
        if (gate != null) {
            return gate;
        }
        List<UUID> open = Stream.concat(
                view.tasks.values().stream().filter(task -> task.state == TaskState.AWAITING_HUMAN).map(TaskRow::id),
                view.steps.values().stream().filter(step -> step.state == StepState.WAITING_APPROVAL)
                        .map(StepRow::id))
                .toList();
        return open.size() == 1 ? waiting(view, open.getFirst()) : null;
    }

    private static String kind(Gate gate) {
        return switch (gate) {
            case PLAN -> "plan_approval";
            case RESULT -> "result_acceptance";
            case BUDGET -> "budget";
        };
    }

    /** The question about a subject that people approve; null if none waits. */
    private static @Nullable Asked waiting(RunView view, UUID subject) {
        RunRow run = view.run;
        TaskRow task = view.tasks.get(subject);
        StepRow step = view.steps.get(subject);
        TicketRow ticket = view.tickets.get(subject);
        if (subject.equals(run.id())) {
            return switch (run.state) {
                case AWAITING_APPROVAL -> ofRun(view, Gate.PLAN, "/" + run.planVersion);
                case BUDGET_EXCEEDED -> ofRun(view, Gate.BUDGET, "/" + amount(run.hardLimit));
                case RUNNING, PAUSED -> run.gate == RunRow.Gate.ACCEPTANCE ? ofRun(view, Gate.RESULT, "") : null;
                case CREATED, PENDING, PLANNING, READY, RESUMING, ESCALATED, RETRYING, COMPLETED, FAILED, CANCELLED,
                        SKIPPED ->
                    null;
            };
        }
        if (task != null) {
            return task.state != TaskState.AWAITING_HUMAN ? null
                    : new Asked("task_review", subject, instant(task.askedAt) + "/" + task.attempt, task, null);
        }
        if (step != null) {
            return step.state != StepState.WAITING_APPROVAL || step.question() ? null
                    : new Asked(step.spec().kind() == StepKind.CALL ? "call_approval"
                            : "approval_step", subject, instant(step.startedAt), step.task(), step);
        }
        if (ticket != null) {
            return ticket.kind() != TicketRow.Kind.REPLAN_APPROVAL ? null
                    : new Asked("escalation", subject, instant(ticket.openedAt()) + "/" + run.planVersion, null, null);
        }
        return view.proposals.containsKey(subject) ? new Asked("proposal", subject, "", null, null) : null;
    }

    private static Asked ofRun(RunView view, Gate gate, String content) {
        return new Asked(kind(gate), view.run.id(), instant(Questions.asked(view, gate)) + content, null, null);
    }

    private static String instant(@Nullable Instant asked) {
        return Objects.requireNonNull(asked).toString();
    }

    private static String amount(@Nullable BigDecimal limit) {
        return limit == null ? "" : limit.stripTrailingZeros().toPlainString();
    }

    private static @Nullable String comment(Command decision) {
        return decision instanceof Command.Approve c ? c.comment()
                : decision instanceof Command.DecideGate c ? c.comment()
                        : decision instanceof Command.DecideTask c ? c.comment()
                                : decision instanceof Command.DecideStep c ? c.comment()
                                        : decision instanceof Command.DecideProposal c ? c.comment()
                                                : decision instanceof Command.Resolve c ? c.comment() : null;
    }
}
