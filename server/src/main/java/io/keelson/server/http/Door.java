package io.keelson.server.http;

import io.javalin.http.Context;
import io.keelson.server.auth.ApiKeys;
import io.keelson.server.auth.Caller;
import java.util.Locale;

/** Asks every caller for a key. */
final class Door {

    private static final String SCHEME = "bearer ";
    private static final String CHALLENGE = "Bearer realm=\"keelson\"";

    private final ApiKeys keys;

    Door(ApiKeys keys) {
        this.keys = keys;
    }

    Caller enter(Context context) {
        String given = context.header("Authorization");
        if (given == null || !given.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
            throw Refusal.of(ErrorCode.UNAUTHENTICATED, "send the header Authorization: Bearer <api key>")
                    .header("WWW-Authenticate", CHALLENGE);
        }
        Caller caller = keys.find(given.substring(SCHEME.length()).strip());
        if (caller == null) {
            throw Refusal.of(ErrorCode.INVALID_API_KEY, "the API key is malformed, unknown or revoked")
                    .header("WWW-Authenticate", CHALLENGE + ", error=\"invalid_token\"");
        }
        String workspace = context.header("X-Workspace-ID");
        if (workspace != null && !workspace.equalsIgnoreCase(caller.workspaceId().toString())) {
            throw Refusal.of(ErrorCode.WORKSPACE_MISMATCH,
                    "X-Workspace-ID names a workspace that the API key does not open");
        }
        return caller;
    }
}
