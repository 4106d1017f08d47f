package io.keelson.core.decide;

import io.keelson.core.run.Command;
import io.keelson.core.run.NewProposal;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.Reply;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Steps' proposals to people. A run does not wait for the answers; they may come after its end. An accepted change of
 * the plan has the planner make a new one.
 */
final class Proposals {
    private enum End { ACCEPTED, REJECTED, WITHDRAWN }

    private Proposals() {}

    static void made(Decision d, StepRow step, List<NewProposal> proposals) {
        for (NewProposal proposal : proposals) {
            Instant expires = proposal.lifetime() == null ? null : d.now.plus(proposal.lifetime());
            d.view.propose(proposal.id(), expires);
            d.changes.add(new ChangeSet.Proposal(proposal, d.run.id(), d.run.workspaceId(), d.run.attempt,
                    step.task().id(), step.id(), d.now, expires));
            d.note(step.task(), step, new OtherPayload.ProposalCreated(proposal.id(), proposal.title()));
        }
    }

    static Reply decide(Decision d, Command.DecideProposal command) {
        UUID id = command.proposalId();
        if (!d.view.proposals.containsKey(id)) {
            return Reply.rejected("PROPOSAL_NOT_PENDING", "the proposal has been decided or withdrawn");
        }
        Instant expires = d.view.proposals.get(id);
        if (expires != null && !expires.isAfter(d.now)) {
            return new Reply.Rejected("PROPOSAL_NOT_PENDING", "the proposal has expired", "expired", List.of());
        }
        if (command.accept() && command.instructions() != null) {
            Reply reply =
                    Replanning.request(d, new Command.Replan(d.run.id(), command.instructions(), command.actor()));
            if (!reply.equals(Reply.CHANGED)) {
                return reply.equals(Reply.UNCHANGED) ? Reply.rejected("REPLAN_UNDER_WAY",
                        "a new plan is being made: accept the proposal when it is in force") : reply;
            }
        }
        close(d, id, command.accept() ? End.ACCEPTED : End.REJECTED, command.comment());
        return Reply.CHANGED;
    }

    /** Withdraws pending proposals: the run is cancelled, or restarts and will propose again. */
    static void withdraw(Decision d) {
        List.copyOf(d.view.proposals.keySet()).forEach(id -> close(d, id, End.WITHDRAWN, null));
    }

    private static void close(Decision d, UUID id, End end, @Nullable String comment) {
        d.view.proposals.remove(id);
        String by = d.by();
        d.changes.add(new ChangeSet.ProposalEnd(id, end.name().toLowerCase(Locale.ROOT), by, comment, d.now));
        d.note(switch (end) {
            case ACCEPTED -> new OtherPayload.ProposalAccepted(id, by, comment);
            case REJECTED -> new OtherPayload.ProposalRejected(id, by, comment);
            case WITHDRAWN -> new OtherPayload.ProposalWithdrawn(id, by);
        });
    }
}
