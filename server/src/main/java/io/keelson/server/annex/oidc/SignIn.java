package io.keelson.server.annex.oidc;

import com.nimbusds.jwt.JWTClaimsSet;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.FederatedIdentities;
import io.keelson.server.tenant.auth.FederatedSessions;
import io.keelson.server.tenant.auth.Principal;
import io.keelson.server.tenant.auth.Role;
import io.keelson.server.tenant.auth.SessionStore;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Sign-in of people: from the address at the provider to a session, its renewal, and the provider's ends of sessions. */
final class SignIn {

    /** Time that a person has to sign in. */
    static final Duration TIME = Duration.ofMinutes(10);

    private static final String LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
    private static final int MAX_PROVIDER_SESSION = 255;
    private static final Duration SHORTEST_REFRESH = Duration.ofSeconds(1);

    private final OidcSettings settings;
    private final Provider provider;
    private final Tokens tokens;
    private final FederatedIdentities identities;
    private final FederatedSessions sessions;
    private final WorkspaceStore workspaces;
    private final Clock clock;

    SignIn(OidcSettings settings, Provider provider, Tokens tokens, FederatedIdentities identities,
            FederatedSessions sessions, WorkspaceStore workspaces, Clock clock) {
        this.settings = settings;
        this.provider = provider;
        this.tokens = tokens;
        this.identities = identities;
        this.sessions = sessions;
        this.workspaces = workspaces;
        this.clock = clock;
    }

    /** The address at the provider for the sign-in of a person. */
    String address(SignInState state, String redirect) {
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("response_type", "code");
        parameters.put("client_id", settings.clientId());
        parameters.put("redirect_uri", redirect);
        parameters.put("scope", String.join(" ", settings.scopes()));
        parameters.put("state", state.state());
        parameters.put("nonce", state.nonce());
        parameters.put("code_challenge", state.challenge());
        parameters.put("code_challenge_method", "S256");
        if (settings.scopes().contains("offline_access")) {
            parameters.put("prompt", "consent");
        }
        return Provider.address(provider.required("authorization_endpoint"), parameters);
    }

    /** The outcome of a sign-in. */
    sealed interface Outcome {

        /** A session has begun. */
        record Begun(SessionStore.Begun session) implements Outcome {}

        /** The person has a role in several workspaces, and has named none. */
        record Choice(List<String> workspaces) implements Outcome {}
    }

    /**
     * A person as the provider describes one.
     *
     * @param mail address that the provider has verified; null if it names none
     * @param providerSession null if the provider names none
     */
    private record Person(FederatedIdentities.Subject subject, List<String> groups, @Nullable String mail,
            JWTClaimsSet claims, @Nullable String providerSession) {}

    /**
     * Completes a sign-in.
     *
     * @param returned parameters with which the provider sent the browser back
     * @throws ApiProblem with the reason of a refusal
     */
    Outcome complete(SignInState state, Map<String, @Nullable String> returned, String redirect, String address) {
        if (!state.isState(returned.get("state"))) {
            throw ApiProblem.of(ErrorCode.SIGN_IN_STATE_INVALID,
                    "this browser has not begun this sign-in, or has begun another one since");
        }
        if (sessions.isUsed(state.state())) {
            throw replayed();
        }
        String error = returned.get("error");
        if (error != null) {
            throw ApiProblem.of(ErrorCode.SIGN_IN_REFUSED, "the identity provider refused the sign-in: "
                    + Excerpt.piece(error + " " + Objects.toString(returned.get("error_description"), "")));
        }
        String issuer = returned.get("iss");
        if (issuer != null && !issuer.equals(settings.issuer())) {
            throw ApiProblem.of(ErrorCode.TOKEN_ISSUER_WRONG, "the sign-in is of another issuer");
        }
        String code = returned.get("code");
        if (code == null) {
            throw ApiProblem.of(ErrorCode.SIGN_IN_STATE_INVALID, "the sign-in has no code");
        }
        JsonNode granted = switch (provider.token(settings, Map.of("grant_type", "authorization_code", "code", code,
                "redirect_uri", redirect, "code_verifier", state.verifier()))) {
            case Provider.TokenAnswer.Granted(JsonNode document) -> document;
            case Provider.TokenAnswer.Refused(String refusal, String why) -> throw ApiProblem.of(
                    ErrorCode.SIGN_IN_REFUSED, "the identity provider refused the code of the sign-in: "
                            + Excerpt.piece(refusal + " " + why));
        };
        Person person = person(granted, state.nonce(), null);
        Map<String, UUID> open = openTo(person);
        if (open.isEmpty() || !state.workspace().isEmpty() && !open.containsKey(state.workspace())) {
            throw roleMissing(person, state.workspace());
        }
        if (state.workspace().isEmpty() && open.size() > 1) {
            return new Outcome.Choice(List.copyOf(open.keySet()));
        }
        String name = state.workspace().isEmpty() ? open.keySet().iterator().next() : state.workspace();
        UUID workspace = Objects.requireNonNull(open.get(name));
        return new Outcome.Begun(admitted(person, workspace, name)
                .flatMap(admitted -> sessions.begin(workspace, admitted.keyId(), grant(person, granted, null),
                        state.state(), TIME, address))
                .orElseThrow(SignIn::replayed));
    }

    private static ApiProblem replayed() {
        return ApiProblem.of(ErrorCode.SIGN_IN_STATE_REPLAYED, "this sign-in was completed already: begin another one");
    }

    private ApiProblem roleMissing(Person person, String workspace) {
        return ApiProblem.of(ErrorCode.SIGN_IN_ROLE_MISSING, "no group of " + person.subject.name()
                + " has a role in " + (workspace.isEmpty() ? "any workspace" : "the workspace " + workspace)
                + "; the provider named "
                + (person.groups.isEmpty() ? "no groups in the claim " + settings.groupsClaim()
                        : "the groups " + Excerpt.piece(String.join(", ", person.groups))));
    }

    /** Open workspaces in which a person has a role, by name. */
    private Map<String, UUID> openTo(Person person) {
        Set<String> names = settings.roles().workspaces(person.groups);
        return names.isEmpty() ? Map.of()
                : new TreeMap<>(workspaces.open(names.contains(RoleGrants.EVERY_WORKSPACE) ? null : names));
    }

    private Optional<FederatedIdentities.Admitted> admitted(Person person, UUID workspace, String name) {
        Set<Role> roles = settings.roles().roles(person.groups, name);
        Optional<FederatedIdentities.Admitted> admitted = identities.admit(workspace, person.subject,
                Role.scopes(roles), person.claims.getIssueTime().toInstant());
        if (admitted.isEmpty()) {
            throw ApiProblem.of(ErrorCode.TOKEN_REVOKED,
                    "an administrator of the workspace ended this sign-in: sign in again");
        }
        return admitted;
    }

    /**
     * Reads the person of a granted token, with the claims of the endpoint of user information if the token has no groups.
     *
     * @param nonce that the token must have; null for a renewed token
     * @param before whose renewal it is; null for a new sign-in
     */
    private Person person(JsonNode granted, @Nullable String nonce, FederatedSessions.@Nullable Open before) {
        JWTClaimsSet claims = tokens.verify(granted.path("id_token").asString(""), settings.clientId());
        String subject = claims.getSubject();
        if (subject == null || before != null && !subject.equals(before.subject())) {
            throw ApiProblem.of(ErrorCode.TOKEN_INVALID, "the token is refused: it is not of the expected subject");
        }
        if (nonce != null && !nonce.equals(claims.getClaim("nonce"))) {
            throw ApiProblem.of(ErrorCode.TOKEN_INVALID, "the token is refused: it belongs to another sign-in");
        }
        Object party = claims.getClaim("azp");
        if (party != null && !party.equals(settings.clientId())) {
            throw ApiProblem.of(ErrorCode.TOKEN_AUDIENCE_WRONG, "the token was given to another client");
        }
        List<String> groups = Tokens.texts(claims.getClaim(settings.groupsClaim()));
        String name = Tokens.text(claims, settings.nameClaim());
        String mail = Boolean.TRUE.equals(claims.getClaim("email_verified")) ? Tokens.text(claims, "email") : null;
        String access = granted.path("access_token").asString("");
        if ((groups.isEmpty() || name == null || mail == null) && !access.isEmpty()) {
            JsonNode info = provider.userInfo(access);
            if (info != null && info.path("sub").asString("").equals(subject)) {
                groups = groups.isEmpty() ? texts(info.path(settings.groupsClaim())) : groups;
                name = name == null ? info.path(settings.nameClaim()).asString(null) : name;
                mail = mail == null && info.path("email_verified").asBoolean(false)
                        ? info.path("email").asString(null)
                        : mail;
            }
        }
        String session = Tokens.text(claims, "sid");
        return new Person(new FederatedIdentities.Subject(settings.issuer(), subject, Principal.Kind.PERSON,
                name == null ? subject : name), groups, mail, claims,
                session == null || session.length() > MAX_PROVIDER_SESSION ? null : session);
    }

    private static List<String> texts(JsonNode claim) {
        return claim.isString() ? List.of(claim.stringValue())
                : claim.valueStream().filter(JsonNode::isString).map(JsonNode::stringValue).toList();
    }

    private FederatedSessions.Grant grant(Person person, JsonNode granted, @Nullable ObjectNode before) {
        Duration left = Duration.between(clock.instant(), person.claims.getExpirationTime().toInstant());
        ObjectNode kept = before == null ? Json.object() : before.deepCopy();
        kept.put("verified_email", person.mail);
        for (String name : List.of("refresh_token", "id_token")) {
            if (granted.path(name).isString()) {
                kept.put(name, granted.path(name).stringValue());
            }
        }
        if (!kept.has("refresh_token")) {
            return new FederatedSessions.Grant(settings.issuer(), person.subject.subject(), person.providerSession,
                    kept.toString(), atLeast(left), null);
        }
        long seconds = granted.path("expires_in").asLong(left.toSeconds());
        Duration lifetime = atLeast(Duration.ofSeconds(Math.min(seconds, SessionStore.LONGEST.toSeconds())));
        return new FederatedSessions.Grant(settings.issuer(), person.subject.subject(), person.providerSession,
                kept.toString(), lifetime, atLeast(lifetime.multipliedBy(2).dividedBy(3)));
    }

    private static Duration atLeast(Duration time) {
        return time.compareTo(SHORTEST_REFRESH) < 0 ? SHORTEST_REFRESH : time;
    }

    /**
     * Renews the tokens of a session, and the roles of its person. Ends the session if the provider refuses, or the person has no
     * role any more.
     *
     * @throws ApiProblem if the provider does not answer: the session lasts as long as its tokens
     */
    void renew(FederatedSessions.Open session) {
        ObjectNode kept = (ObjectNode) Json.read(session.tokens());
        String refresh = kept.path("refresh_token").asString("");
        switch (provider.token(settings, Map.of("grant_type", "refresh_token", "refresh_token", refresh))) {
            case Provider.TokenAnswer.Refused r -> sessions.end(session.sessionId());
            case Provider.TokenAnswer.Granted(JsonNode document) -> renewed(session, kept, document);
        }
    }

    private void renewed(FederatedSessions.Open session, ObjectNode kept, JsonNode granted) {
        ObjectNode all = (ObjectNode) granted.deepCopy();
        if (!all.path("id_token").isString()) {
            // Without a new ID token, the roles stay as they are.
            long seconds = Math.min(all.path("expires_in").asLong(0), SessionStore.LONGEST.toSeconds());
            Duration lifetime = atLeast(Duration.ofSeconds(seconds));
            if (all.path("refresh_token").isString()) {
                kept.put("refresh_token", all.path("refresh_token").stringValue());
            }
            sessions.renew(session.sessionId(), new FederatedSessions.Grant(session.issuer(), session.subject(),
                    session.providerSession(), kept.toString(), lifetime,
                    atLeast(lifetime.multipliedBy(2).dividedBy(3))));
            return;
        }
        Person person = person(all, null, session);
        String name = workspaces.find(session.workspaceId()).map(row -> row.name()).orElse("");
        Set<Role> roles = settings.roles().roles(person.groups, name);
        if (roles.isEmpty()) {
            sessions.end(session.sessionId());
            return;
        }
        admitted(person, session.workspaceId(), name);
        sessions.renew(session.sessionId(), grant(person, granted, kept));
    }

    /**
     * Ends the sessions that a logout token of the provider names.
     *
     * @throws ApiProblem if the token is refused
     */
    int logout(String token) {
        JWTClaimsSet claims = tokens.verify(token, settings.clientId());
        String subject = claims.getSubject();
        String session = Tokens.text(claims, "sid");
        boolean event = claims.getClaim("events") instanceof Map<?, ?> events && events.containsKey(LOGOUT_EVENT);
        if (!event || claims.getClaim("nonce") != null || subject == null && session == null) {
            throw ApiProblem.of(ErrorCode.TOKEN_INVALID, "the token is refused: it is no logout token");
        }
        return sessions.end(settings.issuer(), subject, session);
    }

    /** Where the browser ends the session at the provider; null if the provider has no such place. */
    @Nullable String logoutAddress(FederatedSessions.Open session, String home) {
        String endpoint = provider.endpoint("end_session_endpoint");
        if (endpoint == null) {
            return null;
        }
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("client_id", settings.clientId());
        parameters.put("post_logout_redirect_uri", home);
        String hint = Json.read(session.tokens()).path("id_token").asString("");
        if (!hint.isEmpty()) {
            parameters.put("id_token_hint", hint);
        }
        return Provider.address(endpoint, parameters);
    }
}
