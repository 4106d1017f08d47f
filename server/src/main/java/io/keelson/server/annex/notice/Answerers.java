package io.keelson.server.annex.notice;

import io.keelson.api.outlet.Webhook;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.base.json.Json;
import io.keelson.server.outlet.notice.MailAddress;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.FederatedSessions;
import io.keelson.server.tenant.auth.Scope;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The person who may answer by a link. */
final class Answerers {

    private final Endpoints endpoints;
    private final AuthServices auth;
    private final @Nullable FederatedSessions sessions;
    private final SessionCookie cookie;

    /** @param sessions sessions at the identity provider; null for an installation without one */
    Answerers(Endpoints endpoints, AuthServices auth, @Nullable FederatedSessions sessions, SessionCookie cookie) {
        this.endpoints = endpoints;
        this.auth = auth;
        this.sessions = sessions;
        this.cookie = cookie;
    }

    /**
     * The endpoint of a link.
     *
     * @throws ApiProblem ANSWER_LINK_REVOKED if the endpoint has ended, or has another recipient now
     */
    Webhook endpoint(AnswerLink link) {
        return endpoints.find(link.workspace(), link.endpoint())
                .filter(found -> link.recipient().equals(found.recipient()))
                .orElseThrow(() -> ApiProblem.of(ErrorCode.ANSWER_LINK_REVOKED,
                        "the receiver of notifications to which this link was sent was removed or has another recipient"));
    }

    /**
     * The caller as whom the answer is given: with an identity provider, the person of the browser's session, else the recipient.
     *
     * @throws ApiProblem if the browser has no session or another person's, or the person may not answer any more
     */
    Caller of(MountedRequest request, AnswerLink link, Webhook endpoint) {
        return entitled(link, sessions == null ? recipient(link) : signedIn(request, link, endpoint, sessions));
    }

    /**
     * Refuses links of recipients that may not answer any more. With an identity provider, the session decides when the answer comes.
     *
     * @throws ApiProblem ANSWER_LINK_REVOKED
     */
    void requireRecipient(AnswerLink link) {
        if (sessions == null) {
            entitled(link, recipient(link));
        }
    }

    private @Nullable Caller recipient(AnswerLink link) {
        return auth.holders().ofPrincipal(link.workspace(), link.recipient(), Scope.APPROVE);
    }

    private static Caller entitled(AnswerLink link, @Nullable Caller caller) {
        if (caller == null || caller.closed() || !caller.scopes().contains(Scope.APPROVE)) {
            throw ApiProblem.of(ErrorCode.ANSWER_LINK_REVOKED,
                    link.recipient() + " has no active key or role with the scope approve in this workspace any more");
        }
        return caller;
    }

    private Caller signedIn(MountedRequest request, AnswerLink link, Webhook endpoint, FederatedSessions federated) {
        String token = cookie.token(request, link.workspace().toString());
        Caller caller = token == null ? null : auth.holders().findSession(token);
        if (caller == null || !caller.workspaceId().equals(link.workspace())) {
            throw ApiProblem.of(ErrorCode.SIGN_IN_REQUIRED, "sign in to answer: this link is for " + link.recipient());
        }
        if (!caller.principal().name().equals(link.recipient()) && !hasMail(caller, endpoint, federated)) {
            throw ApiProblem.of(ErrorCode.ANSWER_LINK_OTHER_PERSON, "this link is for " + link.recipient()
                    + ", and this browser is signed in as " + caller.principal().name());
        }
        return caller;
    }

    /** Whether the provider vouches that the person has the mailbox to which the link was sent. */
    private static boolean hasMail(Caller caller, Webhook endpoint, FederatedSessions federated) {
        String address = MailAddress.ofUrl(endpoint.url());
        UUID session = caller.sessionId();
        Optional<FederatedSessions.Open> open =
                address == null || session == null ? Optional.empty() : federated.find(session);
        JsonNode tokens = open.map(found -> Json.read(found.tokens())).orElseGet(Json::object);
        return tokens.path("verified_email").asString("").equalsIgnoreCase(String.valueOf(address));
    }
}
