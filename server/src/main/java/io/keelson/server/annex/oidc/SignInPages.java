package io.keelson.server.annex.oidc;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiResponse;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/** Pages of the sign-in: a refusal with its code, and the choice of a workspace. */
final class SignInPages {

    private static final String FRAME = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>%s – Keelson</title>
            <style>
            :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
            main { max-width: 30rem; margin: 12vh auto; padding: 0 1.25rem }
            a { display: inline-block; padding: .6rem 0 }
            code { overflow-wrap: anywhere }
            </style></head><body><main><h1>%s</h1>%s</main></body></html>
            """;

    private SignInPages() {}

    static ApiResponse refusal(ApiProblem problem) {
        return ApiResponse.page(problem.document().path("status").asInt(), page("Sign-in not completed",
                "<p role=\"alert\">" + escaped(problem.document().path("detail").asString("")) + "</p><p><code>"
                        + escaped(problem.code()) + "</code></p><p><a href=\"/auth/login\">Sign in again</a><br>"
                        + "<a href=\"/ui/\">Other ways to sign in</a></p>"));
    }

    /** Each link signs in again, which the provider completes without a question. */
    static ApiResponse choice(List<String> workspaces, String page) {
        return ApiResponse.page(200, page("Choose a workspace", workspaces.stream()
                .map(name -> "<li><a href=\"/auth/login?workspace=" + encoded(name) + "&amp;page=" + encoded(page)
                        + "\">"
                        + escaped(name) + "</a></li>")
                .collect(Collectors.joining("", "<ul>", "</ul>"))));
    }

    private static String page(String title, String content) {
        return FRAME.formatted(title, title, content);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
