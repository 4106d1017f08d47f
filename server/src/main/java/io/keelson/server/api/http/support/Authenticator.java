package io.keelson.server.api.http.support;

import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import io.keelson.api.tenant.LimitName;
import io.keelson.server.tenant.auth.ApiKeyLookup;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.Scope;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requires of every caller an API key, or a session of a key, with the route's scope. A session is valid only for
 * requests of the server's own pages.
 */
public final class Authenticator {

    private static final String SCHEME = "bearer ";
    private static final String WORKSPACE_PREFIX = "ws_";
    private static final String CHALLENGE = "Bearer realm=\"keelson\"";

    private final ApiKeyLookup keys;
    private final RequestRate rate;
    private final SessionCookie cookie;
    private final BearerTokens tokens;

    public Authenticator(ApiKeyLookup keys, RequestRate rate, SessionCookie cookie, BearerTokens tokens) {
        this.tokens = tokens;
        this.keys = keys;
        this.rate = rate;
        this.cookie = cookie;
    }

    /** @param scope that the key must have; null where any will do */
    public Caller enter(Context context, @Nullable Scope scope) {
        Caller caller = caller(context);
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
        var _ = caller(request.context());
    }

    /** The holder of the key that a request to an open route has; null where it has none. */
    public @Nullable Caller bearer(ApiRequest request) {
        String given = only(Collections.list(request.context().req().getHeaders("Authorization")));
        return given == null ? null : holder(given);
    }

    /** Refuses a token of a service, which a session would outlive. */
    public void requireKey(ApiRequest request) {
        String given = request.header("Authorization");
        if (given != null && given.toLowerCase(Locale.ROOT).startsWith(SCHEME)
                && given.substring(SCHEME.length()).strip().startsWith(BearerTokens.BEGIN)) {
            throw ApiProblem.of(ErrorCode.KEY_REQUIRED, "a token begins no session: send an API key");
        }
    }

    /** Refuses a request that a browser sends for another site's page. */
    public void requireSameOrigin(ApiRequest request) {
        if (cookie.fromElsewhere(request.context(), false)) {
            throw SessionCookie.crossSite();
        }
    }

    private Caller caller(Context context) {
        List<String> given = Collections.list(context.req().getHeaders("Authorization"));
        Map<String, String> tokens = cookie.tokens(context);
        if (tokens.isEmpty()) {
            return holder(only(given));
        }
        if (!given.isEmpty()) {
            throw ApiProblem.of(ErrorCode.TWO_CREDENTIALS,
                    "send either the header Authorization or the cookie of a session");
        }
        boolean reads = context.method() == HandlerType.GET || context.method() == HandlerType.HEAD;
        if (cookie.fromElsewhere(context, !reads)) {
            throw SessionCookie.crossSite();
        }
        return holderOfSession(context, tokens);
    }

    private Caller holderOfSession(Context context, Map<String, String> tokens) {
        String header = context.header("X-Workspace-ID");
        String workspace = header == null ? inAddress(context.queryParam("workspace")) : header;
        if (workspace == null && tokens.size() > 1) {
            throw ApiProblem.of(ErrorCode.UNAUTHENTICATED, "this browser has sessions of " + tokens.size()
                    + " workspaces: name one in the header X-Workspace-ID");
        }
        String token = workspace == null ? tokens.values().iterator().next()
                : tokens.get(workspace.toLowerCase(Locale.ROOT));
        Caller caller = token == null ? null : keys.findSession(token);
        if (caller == null) {
            throw ApiProblem.of(ErrorCode.SESSION_ENDED, "the session or its API key has ended: sign in again");
        }
        return requireOpen(caller);
    }

    /** As in addresses elsewhere, the prefix of the kind may be there. */
    private static @Nullable String inAddress(@Nullable String workspace) {
        return workspace == null || !workspace.startsWith(WORKSPACE_PREFIX) ? workspace
                : workspace.substring(WORKSPACE_PREFIX.length());
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

    /** The only key of a request: with two, a proxy may have checked the other one. */
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
        String text = given.substring(SCHEME.length()).strip();
        if (text.startsWith(BearerTokens.BEGIN)) {
            return requireOpen(tokens.caller(text));
        }
        Caller caller = keys.find(text);
        if (caller == null) {
            throw ApiProblem.of(ErrorCode.INVALID_API_KEY, "the API key is malformed, unknown, expired or revoked")
                    .header("WWW-Authenticate", CHALLENGE + ", error=\"invalid_token\"");
        }
        return requireOpen(caller);
    }

    private static Caller requireOpen(Caller caller) {
        if (caller.closed()) {
            throw ApiProblem.of(ErrorCode.WORKSPACE_CLOSED, "the API key's workspace is closed");
        }
        return caller;
    }

    private void count(Context context, Caller caller) {
        MinuteBuckets.State state = rate.count(caller);
        if (state != null) {
            context.header("RateLimit-Policy", state.policy());
            context.header("RateLimit", state.rest());
            if (state.exhausted()) {
                throw ApiProblem.of(ErrorCode.REQUEST_LIMIT_REACHED, "an API key of this workspace may send "
                        + state.perMinute() + " requests a minute; nothing was changed")
                        .with("limit", LimitName.REQUESTS_PER_MINUTE.text())
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
