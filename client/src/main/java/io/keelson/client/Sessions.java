package io.keelson.client;

import io.keelson.api.tenant.Session;
import io.keelson.api.tenant.SessionLink;
import java.util.List;

/** Browsers that are signed in, and links to sign in with. */
public final class Sessions {

    private final Api api;

    Sessions(Api api) {
        this.api = api;
    }

    /** A link with which one browser signs in within a minute, to do all that this connection may do. */
    public SessionLink link() {
        return Json.document(api.send(Call.post(RequestPath.of("/sessions/links"), Json.object())).body(),
                SessionLink.class);
    }

    /** One's own sessions; with the scope {@code admin} all sessions of the workspace. Newest first. */
    public List<Session> list() {
        return Page.all(cursor -> Page.of(api.get("/sessions"), Session.class));
    }

    /** Ends one, on every server within 5 seconds. */
    public void end(String id) {
        api.send(Call.of("DELETE", RequestPath.of("/sessions/", id), null).repeatable());
    }
}
