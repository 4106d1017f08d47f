package io.keelson.client;

import io.keelson.api.inbox.Proposal;
import org.jspecify.annotations.Nullable;

/** Proposals of steps. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Proposals {

    private final Api api;

    Proposals(Api api) {
        this.api = api;
    }

    /** Lists proposals, newest first. */
    public Page<Proposal> list(ProposalQuery query) {
        RequestPath route = RequestPath.of("/proposals").with("state", query.state()).with("run_id", query.runId())
                .with("cursor", query.cursor()).with("limit", query.limit());
        return Page.of(api.get(route.toString()), Proposal.class);
    }

    /** Reads a proposal. */
    public Proposal get(String id) {
        return Json.document(api.get(RequestPath.of("/proposals/", id).toString()), Proposal.class);
    }

    /** Accepts a proposal. A repeated answer changes nothing. */
    public Proposal accept(String id, @Nullable String reason) {
        return decide(id, "/accept", reason);
    }

    /** Rejects a proposal. A repeated answer changes nothing. */
    public Proposal reject(String id, @Nullable String reason) {
        return decide(id, "/reject", reason);
    }

    private Proposal decide(String id, String answer, @Nullable String reason) {
        Call call =
                Call.post(RequestPath.of("/proposals/", id, answer), Json.object().put("reason", reason)).repeatable();
        return Json.document(api.send(call).body(), Proposal.class);
    }
}
