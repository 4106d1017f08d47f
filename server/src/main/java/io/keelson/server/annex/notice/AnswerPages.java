package io.keelson.server.annex.notice;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiResponse;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Pages of a link for an answer. They load nothing, and fit a phone. */
final class AnswerPages {

    private static final int MAX_DATA = 20_000;

    private static final String FRAME = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>%s – Keelson</title>
            <style>
            :root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif }
            body { background: light-dark(#fff, #161616); color: light-dark(#1c1c1c, #ededed) }
            a { color: light-dark(#0b57d0, #a8c7fa) }
            main { max-width: 40rem; margin: 6vh auto; padding: 0 1.25rem }
            h1 { font-size: 1.3rem; overflow-wrap: anywhere }
            pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid; border-radius: .4rem; padding: .6rem;
              max-height: 50vh; overflow-y: auto; font-size: .85rem }
            dt { font-weight: 600 } dd { margin: 0 0 .5rem; overflow-wrap: anywhere }
            button, textarea { font: inherit; padding: .7rem 1rem; width: 100%%; box-sizing: border-box; margin: .3rem 0 }
            button { border: 2px solid; border-radius: .4rem; font-weight: 600 }
            .accept { background: #1a7f37; border-color: #1a7f37; color: #fff }
            .reject { background: transparent; color: light-dark(#b42318, #ff9d94); margin-top: .8rem }
            a { display: inline-block; padding: .6rem 0 }
            code { overflow-wrap: anywhere }
            </style></head><body><main><h1>%s</h1>%s</main></body></html>
            """;

    private AnswerPages() {}

    /**
     * The question, with a button for each choice.
     *
     * @param seen digest of the shown question
     * @param change why the page is shown again; null at first
     * @param zone time zone of the receiver; null for UTC
     */
    static ApiResponse question(int status, AnswerLink link, String action, ObjectNode item, String seen,
            @Nullable String change, @Nullable String zone) {
        StringBuilder content = new StringBuilder();
        if (change != null) {
            content.append("<p role=\"alert\">").append(escaped(change)).append("</p>");
        }
        JsonNode body = item.path("body");
        if (body.isString()) {
            content.append("<pre tabindex=\"0\">").append(escaped(cut(body.stringValue()))).append("</pre>");
        }
        String data = DataText.of(item.path("data"), MAX_DATA);
        if (!data.isEmpty()) {
            content.append("<pre tabindex=\"0\">").append(escaped(data)).append("</pre>");
        }
        content.append("<dl>");
        fact(content, "Run", item.path("run_name").asString(""));
        if (item.path("approvals").isObject()) {
            fact(content, "Approvals", approvals(item.path("approvals")));
        }
        fact(content, "If accepted", item.path("on_accept").asString(""));
        fact(content, "If rejected", item.path("on_reject").asString(""));
        fact(content, "You answer as", link.recipient());
        fact(content, "This link works until", Moments.text(link.expires(), zone));
        content.append("</dl>");
        boolean approved = hasApproved(item, link.recipient());
        if (approved) {
            content.append("<p><strong>").append(escaped(link.recipient()))
                    .append(" has approved.</strong> The question waits for other people. A rejection still decides.</p>");
        }
        content.append("<form method=\"post\" action=\"").append(escaped(action))
                .append("\"><input type=\"hidden\" name=\"seen\" value=\"").append(escaped(seen))
                .append("\"><label>Reason (optional)<textarea name=\"reason\" rows=\"2\" maxlength=\"2000\"></textarea></label>")
                .append(link.choices().stream().filter(choice -> !approved || choice == AnswerLink.Choice.REJECT)
                        .map(AnswerPages::button).collect(Collectors.joining()))
                .append("</form>");
        return page(status, item.path("question").asString(""), content.toString());
    }

    private static String button(AnswerLink.Choice choice) {
        return "<button class=\"" + (choice == AnswerLink.Choice.REJECT ? "reject" : "accept")
                + "\" name=\"choice\" value=\"" + choice.name() + "\">" + choice.title() + "</button>";
    }

    /** Whether the principal has approved the question already, which waits for other people. */
    static boolean hasApproved(JsonNode item, @Nullable String principal) {
        return principal != null && item.path("approvals").path("votes").valueStream()
                .anyMatch(vote -> vote.path("by").asString("").equals(principal));
    }

    /** @param decision the answer to the request of the API */
    static ApiResponse confirmation(AnswerLink.Choice choice, String by, String run, ObjectNode decision) {
        String others = decision.path("approvals").isObject()
                ? "<p>The question waits for other people: " + escaped(approvals(decision.path("approvals"))) + ".</p>"
                : "";
        return page(200, "Your answer is recorded",
                "<p>" + escaped(choice.title()) + ", by " + escaped(by) + ".</p>" + others + open(run));
    }

    /** The approvals of a question that several people have to approve, in words. */
    static String approvals(JsonNode approvals) {
        String by = approvals.path("votes").valueStream().map(vote -> vote.path("by").asString(""))
                .collect(Collectors.joining(", "));
        return approvals.path("votes").size() + " of " + approvals.path("required").asInt()
                + (by.isEmpty() ? "" : ", by " + by);
    }

    /** A question that has an answer, by this link or otherwise. */
    static ApiResponse givenAnswer(GivenAnswer answer, String code, String run, @Nullable String zone) {
        return page(409, "This question is answered", "<p role=\"alert\">" + escaped(answer.by()) + " "
                + escaped(answer.did()) + " at " + Moments.text(answer.at(), zone) + ".</p>" + code(code) + open(run));
    }

    /** @param signIn address of the sign-in; null if that would not help */
    static ApiResponse refusal(ApiProblem problem, @Nullable String signIn) {
        String link = signIn == null ? "<p><a href=\"/ui/inbox\">Open the inbox</a></p>"
                : "<p><a href=\"" + escaped(signIn) + "\">Sign in</a></p>";
        return page(problem.document().path("status").asInt(), "This answer is not recorded",
                "<p role=\"alert\">" + escaped(problem.document().path("detail").asString("")) + "</p>"
                        + code(problem.code()) + link);
    }

    private static String code(String code) {
        return "<p><code>" + escaped(code) + "</code></p>";
    }

    private static String open(String run) {
        return "<p><a href=\"/ui/runs/" + escaped(run) + "\">Open the run</a></p>";
    }

    private static void fact(StringBuilder content, String name, String value) {
        if (!value.isEmpty()) {
            content.append("<dt>").append(name).append("</dt><dd>").append(escaped(value)).append("</dd>");
        }
    }

    private static ApiResponse page(int status, String title, String content) {
        return ApiResponse.page(status, FRAME.formatted(escaped(title), escaped(title), content));
    }

    private static String cut(String text) {
        return text.length() <= MAX_DATA ? text : text.substring(0, MAX_DATA) + "…";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
