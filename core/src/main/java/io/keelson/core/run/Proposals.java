package io.keelson.core.run;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What steps propose to people. A run neither waits for the answers nor goes by them, and they may come after its end
 * (run-lifecycle §3).
 */
final class Proposals {

    private Proposals() {}

    static void made(Decision d, StepRow step, List<NewProposal> proposals) {
        for (NewProposal proposal : proposals) {
            Instant expires = proposal.lifetime() == null ? null : d.now.plus(proposal.lifetime());
            d.view.propose(proposal.id(), expires);
            d.changes.add(new Changes.Proposal(proposal, d.run.id(), d.run.workspaceId(), d.run.attempt,
                    step.task().id(), step.id(), d.now, expires));
            d.note(step.task(), step, "proposal_created",
                    Map.of("proposal_id", proposal.id().toString(), "title", proposal.title()));
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
        close(d, id, command.accept() ? "accepted" : "rejected", command.comment());
        return Reply.CHANGED;
    }

    /** Nobody wants the run any more, or it begins all over and will propose again. */
    static void withdraw(Decision d) {
        List.copyOf(d.view.proposals.keySet()).forEach(id -> close(d, id, "withdrawn", null));
    }

    private static void close(Decision d, UUID id, String state, @Nullable String comment) {
        d.view.proposals.remove(id);
        String by = d.actor.id() == null ? d.actor.type() : d.actor.id();
        d.changes.add(new Changes.ProposalEnd(id, state, by, comment, d.now));
        Map<String, Object> detail = new LinkedHashMap<>(Map.of("proposal_id", id.toString(), state + "_by", by));
        if (comment != null) {
            detail.put("comment", comment);
        }
        d.note(null, null, "proposal_" + state, detail);
    }
}
