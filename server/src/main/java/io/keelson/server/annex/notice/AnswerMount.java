package io.keelson.server.annex.notice;

import io.keelson.api.outlet.Webhook;
import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code /answer/LINK}: a page with the question of a link, and one click for the answer. {@code GET} changes nothing; {@code POST}
 * answers by the command of the API, as the recipient of the link.
 */
final class AnswerMount implements Mount {

    static final String PATH = "/answer";

    private static final int MAX_FORM = 32 << 10;
    private static final int MAX_REASON = 2_000;
    private static final List<String> SHOWN =
            List.of("id", "question", "on_accept", "on_reject", "gate", "body", "data");

    private final ApiParts api;
    private final Database database;
    private final Answerers answerers;
    private final AuthServices auth;
    private final SecretStore keys;
    private final Clock clock;

    AnswerMount(ApiParts api, Database database, Answerers answerers, AuthServices auth, SecretStore keys,
            Clock clock) {
        this.api = api;
        this.database = database;
        this.answerers = answerers;
        this.auth = auth;
        this.keys = keys;
        this.clock = clock;
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public ApiResponse answer(MountedRequest request) throws IOException, InterruptedException {
        if (!List.of("GET", "HEAD", "POST").contains(request.method())) {
            throw ApiProblem.of(ErrorCode.METHOD_NOT_ALLOWED, "an answer is sent by POST").header("Allow", "GET, POST");
        }
        AnswerLink link = link(request);
        try {
            return Tenancy.<ApiResponse, Exception>within(link.workspace(), () -> answer(request, link));
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public ApiResponse refusal(MountedRequest request, ApiProblem problem) {
        boolean signIn = List.of(ErrorCode.SIGN_IN_REQUIRED.name(), ErrorCode.ANSWER_LINK_OTHER_PERSON.name())
                .contains(problem.code());
        return AnswerPages.refusal(problem, signIn ? signIn(request) : null);
    }

    private AnswerLink link(MountedRequest request) {
        AnswerLink link = request.path().isEmpty() ? null : AnswerLink.of(request.path().substring(1), keys);
        if (link == null) {
            throw ApiProblem.of(ErrorCode.ANSWER_LINK_INVALID,
                    "this installation did not sign this link, or a part of the link is missing");
        }
        return link;
    }

    private String signIn(MountedRequest request) {
        AnswerLink link = link(request);
        String workspace = auth.workspaces().find(link.workspace()).map(row -> row.name()).orElse("");
        return "/auth/login?workspace=" + URLEncoder.encode(workspace, StandardCharsets.UTF_8) + "&page="
                + URLEncoder.encode(PATH + request.path(), StandardCharsets.UTF_8);
    }

    private ApiResponse answer(MountedRequest request, AnswerLink link) throws IOException, InterruptedException {
        Webhook endpoint = answerers.endpoint(link);
        Optional<ObjectNode> item = api.inbox().items().find(link.workspace(), link.item())
                .filter(found -> link.gate() == null || found.path("gate").asInt(-1) == link.gate());
        if (item.isEmpty()) {
            return closed(link, endpoint.timeZone());
        }
        if (clock.instant().isAfter(link.expires())) {
            throw ApiProblem.of(ErrorCode.ANSWER_LINK_EXPIRED, "this link has expired at "
                    + Moments.text(link.expires(), endpoint.timeZone()) + "; the question still waits in the inbox");
        }
        answerers.requireRecipient(link);
        String seen = digest(item.get());
        String action = PATH + request.path();
        if (!request.method().equals("POST")) {
            return AnswerPages.question(200, link, action, item.get(), seen, null, endpoint.timeZone());
        }
        api.cookie().requireOwnPage(request);
        Caller caller = answerers.of(request, link, endpoint);
        Map<String, String> form = request.form(MAX_FORM);
        AnswerLink.Choice choice = AnswerLink.Choice.parse(form.get("choice"));
        if (choice == null || !link.choices().contains(choice)) {
            throw ApiProblem.of(ErrorCode.MALFORMED_REQUEST, "the form has no choice of this question");
        }
        if (!seen.equals(form.get("seen"))) {
            return AnswerPages.question(409, link, action, item.get(), seen,
                    ErrorCode.QUESTION_CHANGED.name() + ": the question has changed since you opened it",
                    endpoint.timeZone());
        }
        return decide(request, link, caller, choice, form.get("reason"));
    }

    /** A digest of all that a page shows of a question, so that an answer is about just that. */
    private static String digest(ObjectNode item) {
        ObjectNode shown = Json.object();
        SHOWN.forEach(member -> shown.set(member, item.get(member)));
        return Json.digest(shown);
    }

    private ApiResponse closed(AnswerLink link, @Nullable String zone) {
        GivenAnswer answer = GivenAnswer.find(api.reads(), link);
        if (answer == null) {
            throw ApiProblem.of(ErrorCode.QUESTION_CLOSED,
                    "this question does not wait any more: its run has continued or ended");
        }
        return AnswerPages.givenAnswer(answer, ErrorCode.ANSWER_ALREADY_GIVEN.name(), link.run().toString(), zone);
    }

    private ApiResponse decide(MountedRequest request, AnswerLink link, Caller caller, AnswerLink.Choice choice,
            @Nullable String reason) throws InterruptedException {
        ApiRequest as = request.as(caller);
        ObjectNode said = Json.object();
        if (reason != null && !reason.isBlank()) {
            String text = SafeText.clean(reason.strip());
            said.put("reason", text.substring(0, Math.min(MAX_REASON, text.length())));
        }
        if (link.gate() != null) {
            said.put("gate", link.gate());
        }
        if (choice == AnswerLink.Choice.FINISH) {
            said.put("finish_current", true);
        }
        ObjectNode decision = api.inbox().decisions().decide(as, link.item(), choice != AnswerLink.Choice.REJECT, said);
        database.runInTransaction(c -> AuditLog.write(c, as.origin(), "question_answered_by_link", link.workspace(),
                link.item(), Json.object().put("recipient", link.recipient()).put("webhook_id",
                        link.endpoint().toString()).put("choice", choice.name().toLowerCase(java.util.Locale.ROOT))));
        return AnswerPages.confirmation(choice, caller.principal().name(), link.run().toString(), decision);
    }
}
