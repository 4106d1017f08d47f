package io.keelson.server.annex.oidc;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.ApiKeyLookup;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.FederatedSessions;
import io.keelson.server.tenant.auth.SessionStore;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code /auth}: browsers begin and complete a sign-in at the provider here and sign out, and the provider ends
 * sessions. Refusals of browsers' pages are pages.
 */
final class SignInMount implements Mount {

    private static final int MAX_FORM = 32 << 10;
    private static final List<String> RETURNED = List.of("state", "code", "error", "error_description", "iss");

    private final @Nullable SignIn signIn;
    private final FederatedSessions sessions;
    private final SessionStore store;
    private final ApiKeyLookup holders;
    private final SessionCookie cookie;

    /** @param signIn null if no provider is configured */
    SignInMount(@Nullable SignIn signIn, FederatedSessions sessions, SessionStore store, ApiKeyLookup holders,
            SessionCookie cookie) {
        this.signIn = signIn;
        this.sessions = sessions;
        this.store = store;
        this.holders = holders;
        this.cookie = cookie;
    }

    @Override
    public String path() {
        return "/auth";
    }

    @Override
    public ApiResponse answer(MountedRequest request) throws IOException {
        return switch (request.method() + " " + request.path()) {
            case "GET /methods" -> ApiResponse.ok(Json.object().put("oidc", signIn != null))
                    .header("Cache-Control", "no-store");
            case "GET /login" -> login(request);
            case "GET /callback" -> callback(request);
            case "POST /logout" -> logout(request);
            case "POST /backchannel-logout" -> providerLogout(request);
            default -> throw ApiProblem.of(ErrorCode.ROUTE_NOT_FOUND, "there is no " + request.method() + " "
                    + path() + request.path());
        };
    }

    @Override
    public ApiResponse refusal(MountedRequest request, ApiProblem problem) {
        boolean page = request.method().equals("GET")
                && String.valueOf(request.header("Accept")).toLowerCase(Locale.ROOT).contains("text/html");
        return page ? SignInPages.refusal(problem) : problem.answer();
    }

    private SignIn configured() {
        if (signIn == null) {
            throw ApiProblem.of(ErrorCode.SIGN_IN_NOT_CONFIGURED,
                    "this server has no identity provider: KEELSON_OIDC_ISSUER is empty");
        }
        return signIn;
    }

    private ApiResponse login(MountedRequest request) {
        SignInState state = SignInState.begin(request.query("workspace"), request.query("page"));
        return ApiResponse.redirect(configured().address(state, redirect(request)))
                .header("Set-Cookie", cookie.setPassing(request, state.cookie(), SignIn.TIME));
    }

    private ApiResponse callback(MountedRequest request) {
        SignIn in = configured();
        SignInState state = SignInState.ofCookie(cookie.passing(request))
                .orElseThrow(() -> ApiProblem.of(ErrorCode.SIGN_IN_STATE_INVALID,
                        "this browser has not begun this sign-in, or more than ten minutes ago"));
        Map<String, @Nullable String> returned = new HashMap<>();
        RETURNED.forEach(name -> returned.put(name, request.query(name)));
        return switch (in.complete(state, returned, redirect(request), request.peer())) {
            case SignIn.Outcome.Choice(List<String> workspaces) -> SignInPages.choice(workspaces, state.page());
            case SignIn.Outcome.Begun(SessionStore.Begun begun) -> {
                String workspace = begun.session().workspaceId().toString();
                yield ApiResponse.redirect(state.page() + "#session=" + workspace).header("Set-Cookie",
                        cookie.set(request, workspace, begun.token(), SessionStore.LONGEST));
            }
        };
    }

    /** Ends the browser's session, and gives its page the address that ends the session at the provider. */
    private ApiResponse logout(MountedRequest request) throws IOException {
        cookie.requireOwnPage(request);
        String workspace = String.valueOf(request.form(MAX_FORM).get("workspace"));
        String token = cookie.token(request, workspace);
        Caller caller = token == null ? null : holders.findSession(token);
        ObjectNode answer = Json.object().putNull("location");
        UUID session = caller == null ? null : caller.sessionId();
        if (caller != null && session != null) {
            Optional<FederatedSessions.Open> federated = sessions.find(session);
            AuditOrigin origin = caller.from(request.peer());
            store.end(caller.workspaceId(), null, session, origin);
            if (signIn != null && federated.isPresent()) {
                answer.put("location",
                        signIn.logoutAddress(federated.get(), cookie.origin(request) + SignInState.HOME));
            }
        }
        ApiResponse done = ApiResponse.ok(answer).header("Cache-Control", "no-store");
        return token == null ? done : done.header("Set-Cookie", cookie.set(request, workspace, "", Duration.ZERO));
    }

    /** OpenID Connect Back-Channel Logout 1.0. */
    private ApiResponse providerLogout(MountedRequest request) throws IOException {
        String token = request.form(MAX_FORM).get("logout_token");
        if (token == null) {
            throw ApiProblem.of(ErrorCode.MALFORMED_REQUEST, "the form has no logout_token");
        }
        try {
            configured().logout(token);
        } catch (ApiProblem e) {
            // The status that the protocol has for any refusal.
            throw e.code().startsWith("TOKEN_") ? ApiProblem.of(400, ErrorCode.valueOf(e.code()), String.valueOf(
                    e.document().path("detail").asString(""))) : e;
        }
        return ApiResponse.ok(Json.object()).header("Cache-Control", "no-store");
    }

    private String redirect(MountedRequest request) {
        return cookie.origin(request) + path() + "/callback";
    }
}
