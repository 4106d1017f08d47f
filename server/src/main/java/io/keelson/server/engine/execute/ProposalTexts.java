package io.keelson.server.engine.execute;

import io.keelson.core.run.NewProposal;
import io.keelson.server.engine.tool.Proposed;
import io.keelson.server.tenant.secret.Redaction;
import java.util.List;

/** Redacts proposals, because people read them. */
public final class ProposalTexts {

    private ProposalTexts() {}

    public static Proposed redacted(Proposed proposal, Redaction redaction) {
        return new Proposed(proposal.id(), redaction.text(proposal.title()),
                proposal.body() == null ? null : redaction.text(proposal.body()),
                proposal.data() == null ? null : redaction.json(proposal.data()), proposal.lifetime());
    }

    public static List<NewProposal> of(List<Proposed> proposals) {
        return proposals.stream().map(each -> new NewProposal(each.id(), each.title(), each.body(),
                each.data() == null ? null : each.data().toString(), each.lifetime())).toList();
    }
}
