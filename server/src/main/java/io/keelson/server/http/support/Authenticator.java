package io.keelson.server.http.support;

import io.javalin.http.Context;
import io.keelson.server.auth.ApiKeyLookup;
import io.keelson.server.auth.Caller;
import io.keelson.server.auth.Scope;
import io.keelson.server.workspace.Limits;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Asks every caller for a key, and the key for what the route needs. */
public final class Authenticator {

    private static final String SCHEME = "bearer ";
    private static final String CHALLENGE = "Bearer realm=\"keelson\"";

    private final ApiKeyLookup keys;
    private final RequestRate rate;

    public Authenticator(ApiKeyLookup keys, RequestRate rate) {
        this.keys = keys;
        this.rate = rate;
    }

    /** @param scope that the key must have; null where any will do */
    public Caller enter(Context context, @Nullable Scope scope) {
        Caller caller = holder(only(Collections.list(context.req().getHeaders("Authorization"))));
        for (String header : List.of("X-Workspace-ID", "X-Workspace")) {
            String workspace = context.header(header);
            if (workspace != null && !workspace.equalsIgnoreCase(caller.workspaceId().toString())) {
                throw ApiProblem.of(ErrorCode.WORKSPACE_MISMATCH,
                        header + " names a workspace that the API key does not belong to");
            }
        }
        count(context, caller);
        if (scope != null) {
            require(caller, scope);
        }
        return caller;
    }

    /** Refuses a call that has been let in when its key is no longer good. */
    void requireStillOpenTo(ApiRequest request) {
        var _ = holder(request.header("Authorization"));
    }

    /** Rejects a request to an open route without a key that has the scope. */
    public void requireHolder(ApiRequest request, Scope scope) {
        require(holder(request.header("Authorization")), scope);
    }

    /** Whether the key of a call that has been let in is still good. */
    public boolean stillOpenTo(ApiRequest request) {
        try {
            requireStillOpenTo(request);
            return true;
        } catch (ApiProblem refused) {
            return false;
        }
    }

    /** Of two keys a proxy may have looked at the other one. */
    private static @Nullable String only(List<String> given) {
        if (given.size() > 1) {
            throw ApiProblem.of(ErrorCode.UNAUTHENTICATED, "send the header Authorization once")
                    .header("WWW-Authenticate", CHALLENGE);
        }
        return given.isEmpty() ? null : given.getFirst();
    }

    private Caller holder(@Nullable String given) {
        if (given == null || !given.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
            throw ApiProblem.of(ErrorCode.UNAUTHENTICATED, "send the header Authorization: Bearer <api key>")
                    .header("WWW-Authenticate", CHALLENGE);
        }
        Caller caller = keys.find(given.substring(SCHEME.length()).strip());
        if (caller == null) {
            throw ApiProblem.of(ErrorCode.INVALID_API_KEY, "the API key is malformed, unknown, expired or revoked")
                    .header("WWW-Authenticate", CHALLENGE + ", error=\"invalid_token\"");
        }
        if (caller.closed()) {
            throw ApiProblem.of(ErrorCode.WORKSPACE_CLOSED, "the API key's workspace is closed");
        }
        return caller;
    }

    private void count(Context context, Caller caller) {
        RequestRate.State state = rate.count(caller);
        if (state != null) {
            context.header("RateLimit-Policy", state.policy());
            context.header("RateLimit", state.rest());
            if (state.exhausted()) {
                throw ApiProblem.of(ErrorCode.REQUEST_LIMIT_REACHED, "an API key of this workspace may send "
                        + state.perMinute() + " requests a minute; nothing was changed")
                        .with("limit", Limits.REQUESTS_PER_MINUTE)
                        .header("Retry-After", Long.toString(state.retryAfter()));
            }
        }
    }

    static void require(Caller caller, Scope scope) {
        if (!caller.scopes().contains(scope)) {
            throw ApiProblem.of(ErrorCode.SCOPE_MISSING, "the API key lacks the scope " + scope.wire())
                    .with("scope", scope.wire());
        }
    }
}
