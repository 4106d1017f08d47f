package io.keelson.core.decide;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** People's answers to proposals. An accepted change of the plan has the planner make a new one. */
final class ProposalAnswers {
    private ProposalAnswers() {}

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
        Proposals.close(d, id, command.accept() ? Proposals.End.ACCEPTED : Proposals.End.REJECTED, command.comment());
        return Reply.CHANGED;
    }
}
