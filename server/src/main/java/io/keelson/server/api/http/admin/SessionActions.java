package io.keelson.server.api.http.admin;

import io.keelson.api.tenant.NewSession;
import io.keelson.api.tenant.Session;
import io.keelson.api.tenant.SessionLink;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.auth.SessionRow;
import io.keelson.server.tenant.auth.SessionStore;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sessions of browsers: their sign-in by a one-time code or a key, and their end. */
public final class SessionActions {

    private final SessionStore sessions;
    private final Authenticator authenticator;
    private final SessionCookie cookie;

    public SessionActions(SessionStore sessions, Authenticator authenticator, SessionCookie cookie) {
        this.sessions = sessions;
        this.authenticator = authenticator;
        this.cookie = cookie;
    }

    public void addTo(Route.Table table) {
        table.postByAnyKey("/sessions/links", SessionLink.New.class, this::link);
        table.postOpen("/sessions", NewSession.class, this::begin);
        table.getByAnyKey("/sessions", this::list);
        table.deleteByAnyKey("/sessions/{id}", this::end);
    }

    /** A session would outlive its end by a link that it made. */
    private ApiResponse link(ApiRequest request, SessionLink.New body) {
        if (request.sessionId() != null) {
            throw ApiProblem.of(ErrorCode.KEY_REQUIRED, "a session makes no links: send an API key");
        }
        authenticator.requireKey(request);
        SessionStore.Link link = sessions.link(request.workspace(), request.keyId(),
                wanted(body.scopes(), request.scopes()));
        return secret(
                new SessionLink(link.code(), cookie.origin(request) + "/ui/#code=" + link.code(), link.expiresAt()));
    }

    private ApiResponse begin(ApiRequest request, NewSession body) {
        authenticator.requireSameOrigin(request);
        authenticator.requireKey(request);
        SessionStore.Begun begun = body.code() == null ? byKey(request, body)
                : sessions.begin(body.code(), request.peer())
                        .orElseThrow(() -> ApiProblem.of(ErrorCode.SESSION_CODE_INVALID,
                                "the code is unknown, was used or is older than a minute; `keelson open` makes another one"));
        SessionRow session = begun.session();
        return secret(sessionOf(session, session.id())).header("Set-Cookie",
                cookie.set(request, session.workspaceId().toString(), begun.token(), SessionStore.LONGEST));
    }

    private SessionStore.Begun byKey(ApiRequest request, NewSession body) {
        Caller caller = authenticator.bearer(request);
        if (caller == null) {
            throw ApiProblem.of(ErrorCode.UNAUTHENTICATED,
                    "send a one-time code, or the header Authorization: Bearer <api key>");
        }
        return sessions.begin(caller.workspaceId(), caller.keyId(), wanted(body.scopes(), caller.scopes()),
                request.peer());
    }

    private static Set<Scope> wanted(@Nullable List<String> words, Set<Scope> own) {
        if (words == null) {
            return own;
        }
        Set<Scope> wanted = words.stream().map(word -> Scope.of(word).orElseThrow())
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Scope.class)));
        wanted.stream().filter(scope -> !own.contains(scope)).findFirst().ifPresent(scope -> {
            throw ApiProblem.of(ErrorCode.SCOPE_MISSING, "the API key lacks the scope " + scope.wire())
                    .with("scope", scope.wire());
        });
        return wanted;
    }

    private ApiResponse list(ApiRequest request) {
        return Lists.wholeOf(sessions.list(request.workspace(), whose(request)).stream()
                .map(session -> sessionOf(session, request.sessionId())).toList());
    }

    private ApiResponse end(ApiRequest request) {
        UUID id = request.id("id", IdKind.SESSION);
        if (!sessions.end(request.workspace(), whose(request), id, request.origin())) {
            throw IdKind.SESSION.notFound(id);
        }
        ApiResponse answer = ApiResponse.empty(204);
        return id.equals(request.sessionId())
                ? answer.header("Set-Cookie", cookie.forget(request, request.workspace().toString()))
                : answer;
    }

    /** The owner of the visible sessions: users see their own, administrators all (null). */
    private static @Nullable String whose(ApiRequest request) {
        return request.has(Scope.ADMIN) ? null : request.origin().name();
    }

    private static ApiResponse secret(Record answer) {
        return ApiResponse.json(201, Json.document(answer)).header("Cache-Control", "no-store");
    }

    /** @param current the session of the request; null if absent */
    static Session sessionOf(SessionRow session, @Nullable UUID current) {
        return new Session(session.id().toString(), session.workspaceId().toString(), session.keyId().toString(),
                session.principal().name(), session.principal().kind().wire(), Scope.words(session.scopes()),
                session.fromAddress(), session.createdAt(), session.lastUsedAt(), session.endsAt(),
                session.id().equals(current));
    }
}
