package io.keelson.server.annex.notice;

import io.keelson.api.outlet.Webhook;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.definitions.ReceiverCheck;
import io.keelson.server.api.http.definitions.TestMessages;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ETag;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.outlet.notice.MailAddress;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.FederatedSessions;
import io.keelson.server.tenant.auth.Scope;
import java.net.URI;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Receivers of messages for the caller: mailboxes that the caller has added, to which the identity provider vouches, and receivers of the
 * workspace with the caller as recipient.
 */
final class OwnReceiverActions {

    private final TestMessages tests = new TestMessages();
    private final Endpoints endpoints;
    private final Deliveries deliveries;
    private final ReceiverCheck check;
    private final @Nullable FederatedSessions sessions;
    private final Ids ids;

    /** @param sessions sessions at the identity provider; null for an installation without one */
    OwnReceiverActions(Endpoints endpoints, Deliveries deliveries, ReceiverCheck check,
            @Nullable FederatedSessions sessions, Ids ids) {
        this.endpoints = endpoints;
        this.deliveries = deliveries;
        this.check = check;
        this.sessions = sessions;
        this.ids = ids;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/notifications", this::list);
        table.post(Scope.RUNS_READ, "/notifications", Webhook.OwnChange.class, this::add);
        table.get(Scope.RUNS_READ, "/notifications/{id}", this::show);
        table.patch(Scope.RUNS_READ, "/notifications/{id}", Webhook.OwnChange.class, this::change);
        table.delete(Scope.RUNS_READ, "/notifications/{id}", this::remove);
        table.post(Scope.RUNS_READ, "/notifications/{id}/ping", this::ping);
    }

    private ApiResponse list(ApiRequest request) {
        return new ListPage(request, "notifications").of(endpoints.list(request.workspace()).stream()
                .filter(each -> isOwn(request, each)).map(OwnReceiverActions::withoutPath).map(Json::document)
                .toList());
    }

    private ApiResponse show(ApiRequest request) {
        return answer(own(request));
    }

    private ApiResponse add(ApiRequest request, Webhook.OwnChange body) {
        Webhook.Change wanted = body.toChange("mailto:" + address(request), person(request));
        check.require(request.workspace(), null, wanted);
        Webhook made = endpoints.createOwn(request.workspace(), ids.next(), wanted, request.origin())
                .orElseThrow(() -> ApiProblem.of(ErrorCode.WEBHOOKS_LIMIT_REACHED, "a person adds at most "
                        + Endpoints.MAX_OF_PERSON + " receivers, all people of a workspace " + Endpoints.MAX_OWN));
        return ApiResponse.created("/api/v1/notifications/" + made.id(), Json.document(made));
    }

    /** The mailbox of the caller, by the identity provider. */
    private String address(ApiRequest request) {
        UUID session = request.sessionId();
        Optional<FederatedSessions.Open> open =
                sessions == null || session == null || !request.isPerson() ? Optional.empty() : sessions.find(session);
        return open.map(found -> Json.read(found.tokens()).path("verified_email").asString(""))
                .filter(MailAddress::isOne)
                .orElseThrow(() -> ApiProblem.of(ErrorCode.NO_VERIFIED_ADDRESS,
                        "people who are signed in add the mailbox for"
                                + " which their identity provider vouches; an administrator adds other receivers, with you as the"
                                + " recipient"));
    }

    private ApiResponse change(ApiRequest request, Webhook.OwnChange body) {
        Webhook before = own(request);
        UUID id = UUID.fromString(before.id());
        Webhook.Change wanted = body.toChange(null, null);
        return answer(Reads.found(endpoints.change(request.workspace(), id, wanted, request.origin(), current -> {
            requireOwn(request, current);
            request.requireVersion(ETag.version(current.updatedAt()), Json.document(withoutPath(current)));
            check.require(request.workspace(), current, wanted);
        }), IdKind.WEBHOOK, id));
    }

    private ApiResponse remove(ApiRequest request) {
        Webhook found = own(request);
        UUID id = UUID.fromString(found.id());
        if (!person(request).equals(found.owner())) {
            throw ApiProblem.of(ErrorCode.RECEIVER_OF_WORKSPACE,
                    "an administrator has added this receiver: disable it, or ask an administrator to delete it");
        }
        endpoints.delete(request.workspace(), id, request.origin());
        return ApiResponse.empty(204);
    }

    private ApiResponse ping(ApiRequest request) {
        Webhook found = own(request);
        if (!found.enabled()) {
            throw ApiProblem.of(ErrorCode.WEBHOOK_DISABLED, "enable the receiver first");
        }
        tests.count(request);
        UUID id = ids.next();
        deliveries.ping(request.workspace(), UUID.fromString(found.id()), id);
        return ApiResponse.ok(Json.document(new Webhook.Ping(Deliveries.wire(id))));
    }

    private Webhook own(ApiRequest request) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        return requireOwn(request, Reads.found(endpoints.find(request.workspace(), id), IdKind.WEBHOOK, id));
    }

    private static Webhook requireOwn(ApiRequest request, Webhook found) {
        if (!isOwn(request, found)) {
            throw IdKind.WEBHOOK.notFound(UUID.fromString(found.id()));
        }
        return found;
    }

    /** The name of the caller's principal. */
    private static String person(ApiRequest request) {
        return request.actor().name();
    }

    private static boolean isOwn(ApiRequest request, Webhook each) {
        return !each.format().equals("standard") && person(request).equals(each.recipient());
    }

    private static ApiResponse answer(Webhook found) {
        return ApiResponse.resource(Json.document(withoutPath(found)), ETag.version(found.updatedAt()));
    }

    /** A receiver without the path of its address, which permits to post at Slack and Teams. */
    private static Webhook withoutPath(Webhook each) {
        return MailAddress.ofUrl(each.url()) != null ? each
                : each.withUrl(
                        URI.create(each.url()).getScheme() + "://" + URI.create(each.url()).getAuthority() + "/…");
    }
}
