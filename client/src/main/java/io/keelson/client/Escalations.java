package io.keelson.client;

import io.keelson.api.inbox.Escalation;
import org.jspecify.annotations.Nullable;

/** Tickets by which runs ask people. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Escalations {

    private final Api api;

    Escalations(Api api) {
        this.api = api;
    }

    /** Lists tickets, newest first. */
    public Page<Escalation> list(EscalationQuery query) {
        RequestPath route = RequestPath.of("/escalations").with("run_id", query.runId()).with("state", query.state())
                .with("cursor", query.cursor()).with("limit", query.limit());
        return Page.of(api.get(route.toString()), Escalation.class);
    }

    /** Reads a ticket. */
    public Escalation get(String id) {
        return Json.document(api.get(RequestPath.of("/escalations/", id).toString()), Escalation.class);
    }

    /** Answers a ticket; its run continues after its last one. Repeating the same answer changes nothing. */
    public Escalation resolve(String id, Resolution resolution, @Nullable String reason) {
        return resolve(id, resolution, reason, false);
    }

    /** Resolves all open tickets of its run about the same failure: of the same tool, system and code. */
    public Escalation resolveAlike(String id, Resolution resolution, @Nullable String reason) {
        return resolve(id, resolution, reason, true);
    }

    private Escalation resolve(String id, Resolution resolution, @Nullable String reason, boolean alike) {
        Call call = Call.post(RequestPath.of("/escalations/", id, "/resolve"),
                Json.object().put("resolution", resolution.wire()).put("reason", reason).put("alike", alike))
                .repeatable();
        return Json.document(api.send(call).body(), Escalation.class);
    }
}
