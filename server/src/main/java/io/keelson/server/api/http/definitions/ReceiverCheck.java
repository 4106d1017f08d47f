package io.keelson.server.api.http.definitions;

import io.keelson.api.outlet.Webhook;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.outlet.webhook.EndpointFormat;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.KeyStore;
import io.keelson.server.tenant.auth.Principal;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Relations between the members of a webhook: format and address, and settings that only messages for people have. */
public record ReceiverCheck(Endpoints endpoints, KeyStore keys, Database database) {

    /**
     * Checks a webhook as it will be.
     *
     * @param current null for a new one
     */
    public void require(UUID workspace, @Nullable Webhook current, Webhook.Change given) {
        String url = given.url() == null ? current == null ? "" : current.url() : given.url();
        if (current != null && given.format() != null && !given.format().equals(current.format())) {
            throw ApiProblem.of("INVALID_VALUE", "/format", "a webhook keeps its format: create another one");
        }
        EndpointFormat format = EndpointFormat.of(current == null ? given.format() : current.format(), url);
        if (format == null) {
            throw ApiProblem.of("INVALID_VALUE", "/url",
                    "the format mail takes mailto: and a mail address, and the others an http or https URL");
        }
        if (format == EndpointFormat.MAIL && !endpoints.hasMail()) {
            throw ApiProblem.of(ErrorCode.MAIL_NOT_CONFIGURED,
                    "this installation has no mail server: KEELSON_SMTP_HOST is empty");
        }
        String recipient = present(given.recipient(), current == null ? null : current.recipient());
        String from = present(given.quietFrom(), current == null ? null : current.quietFrom());
        String until = present(given.quietUntil(), current == null ? null : current.quietUntil());
        String zone = present(given.timeZone(), current == null ? null : current.timeZone());
        int digest =
                given.digestMinutes() != null ? given.digestMinutes() : current == null ? 0 : current.digestMinutes();
        if (format == EndpointFormat.STANDARD
                && (recipient != null || from != null || until != null || zone != null || digest > 0)) {
            throw ApiProblem.of("INVALID_VALUE", "/format",
                    "recipient, quiet hours and digest_minutes are for the formats slack, teams and mail");
        }
        if ((from == null) != (until == null) || (from == null) != (zone == null)
                || Objects.equals(from, until) && from != null) {
            throw ApiProblem.of("REQUIRED", "/quiet_from",
                    "quiet hours take quiet_from, another quiet_until and time_zone, or none of them");
        }
        if (recipient != null && given.recipient() != null) {
            requirePerson(workspace, recipient);
        }
    }

    private void requirePerson(UUID workspace, String recipient) {
        TxFunction<Optional<Principal.Kind>> work = c -> keys.kind(c, workspace, recipient);
        Principal.Kind kind = database.withConnection(work).orElseThrow(() -> ApiProblem.of("UNKNOWN_PRINCIPAL",
                "/recipient", "the workspace has no principal '" + Excerpt.piece(recipient) + "'"));
        if (kind != Principal.Kind.PERSON) {
            throw ApiProblem.of("NOT_A_PERSON", "/recipient", "'" + Excerpt.piece(recipient)
                    + "' is a service: name a person, whose key is created with --person");
        }
    }

    private static @Nullable String present(@Nullable Optional<String> given, @Nullable String current) {
        return given == null ? current : given.orElse(null);
    }
}
