package io.keelson.core.decide;

import io.keelson.core.run.NewProposal;
import io.keelson.core.run.OtherPayload;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Steps' proposals to people. A run does not wait for the answers; they may come after its end. */
final class Proposals {
    enum End { ACCEPTED, REJECTED, WITHDRAWN }

    private Proposals() {}

    static void addAll(Decision d, StepRow step, List<NewProposal> proposals) {
        for (NewProposal proposal : proposals) {
            Instant expires = proposal.lifetime() == null ? null : d.now.plus(proposal.lifetime());
            d.view.propose(proposal.id(), expires);
            d.changes.add(new ChangeSet.Proposal(proposal, d.run.id(), d.run.workspaceId(), d.run.attempt,
                    step.task().id(), step.id(), d.now, expires));
            d.note(step.task(), step, new OtherPayload.ProposalCreated(proposal.id(), proposal.title()));
        }
    }

    /** Withdraws pending proposals: the run is cancelled, or restarts and will propose again. */
    static void withdraw(Decision d) {
        List.copyOf(d.view.proposals.keySet()).forEach(id -> close(d, id, End.WITHDRAWN, null));
    }

    static void close(Decision d, UUID id, End end, @Nullable String comment) {
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
