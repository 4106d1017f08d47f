package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Browsers sign in by a one-time code or a key; their cookie is good for the server's own pages and ends with the key. */
@Breadth.Spread
class SessionApiTest {

    private static final String RUN = "{\"name\": \"x\", \"plan\": {\"tasks\": []}}";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_PUBLIC_URL", "https://keelson.example"));
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void codeBeginsOneSession() {
        JsonNode link = api.post("/api/v1/sessions/links", "{}").json();
        String code = link.get("code").stringValue();
        assertThat(link.get("url").stringValue()).isEqualTo(api.url() + "/ui/#code=" + code);

        ApiServer.Answer begun = redeem(code);
        ApiServer.Answer again = redeem(code);

        assertThat(begun.status()).as(begun.text()).isEqualTo(201);
        assertThat(begun.header("Set-Cookie")).startsWith("keelson_" + api.url().getPort() + "_"
                + Bootstrap.DEFAULT_WORKSPACE + "=").contains("; HttpOnly", "; SameSite=Strict", "; Path=/")
                .doesNotContain("Secure");
        assertThat(begun.header("Cache-Control")).isEqualTo("no-store");
        assertThat(again.status()).isEqualTo(401);
        assertThat(again.json().get("code").stringValue()).isEqualTo("SESSION_CODE_INVALID");
        JsonNode me = api.get("/api/v1/whoami", "Authorization", "", "Cookie", cookie(begun)).json();
        assertThat(me.at("/session/id")).isEqualTo(begun.json().get("id"));
        assertThat(me.at("/session/current").booleanValue()).isTrue();
        assertThat(me.at("/key/principal").stringValue()).isEqualTo("local");
        assertThat(me.get("scopes")).hasSize(Scope.values().length);
        assertThat(me.get("version").stringValue()).isNotEmpty();
    }

    @Test
    void codeIsOutdatedAfterAMinute() {
        String code = api.post("/api/v1/sessions/links", "{}").json().get("code").stringValue();
        api.sql("update session_links set expires_at = clock_timestamp() - interval '1 ms'");

        assertThat(redeem(code).status()).isEqualTo(401);
        assertThat(redeem("x".repeat(43)).status()).isEqualTo(401);
        assertThat(redeem("short").status()).isEqualTo(401);
    }

    @Test
    void keyBeginsASessionWithAtMostItsScopes() {
        String reader = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ, Scope.APPROVE));
        ApiServer.Answer less =
                api.post("/api/v1/sessions", "{\"scopes\": [\"runs:read\"]}", "Authorization", reader);
        ApiServer.Answer more =
                api.post("/api/v1/sessions", "{\"scopes\": [\"runs:write\"]}", "Authorization", reader);
        ApiServer.Answer moreByLink =
                api.post("/api/v1/sessions/links", "{\"scopes\": [\"runs:write\"]}", "Authorization", reader);

        assertThat(less.json().get("scopes").toString()).isEqualTo("[\"runs:read\"]");
        assertThat(more.json().get("code").stringValue()).isEqualTo("SCOPE_MISSING");
        assertThat(moreByLink.json().get("code").stringValue()).isEqualTo("SCOPE_MISSING");
        assertThat(send("GET", "/api/v1/runs", less, "Sec-Fetch-Site", "same-origin").status()).isEqualTo(200);
        assertThat(send("POST", "/api/v1/runs", less, "Sec-Fetch-Site", "same-origin").json().get("code").stringValue())
                .isEqualTo("SCOPE_MISSING");
    }

    @Test
    void sessionCreatesNoLinkBeyondItsEnd() {
        ApiServer.Answer session = signIn();

        ApiServer.Answer link = api.post("/api/v1/sessions/links", "{}", "Authorization", "", "Cookie",
                cookie(session), "Sec-Fetch-Site", "same-origin");

        assertThat(link.status()).isEqualTo(403);
        assertThat(link.json().get("code").stringValue()).isEqualTo("KEY_REQUIRED");
    }

    @Test
    void pagesOfOtherOriginsChangeNothing() {
        ApiServer.Answer session = signIn();
        String own = api.url().toString();

        assertThat(send("POST", "/api/v1/runs", session, "Sec-Fetch-Site", "same-origin").status()).isEqualTo(201);
        assertThat(send("POST", "/api/v1/runs", session, "Origin", own).status()).isEqualTo(201);
        for (String[] header : new String[][] {{"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "cross-site"},
                {"Sec-Fetch-Site", "none"}, {"Origin", "http://127.0.0.1:1"}, {"Origin", "null"}, {"X-Other", "1"}}) {
            ApiServer.Answer refused = send("POST", "/api/v1/runs", session, header);
            assertThat(refused.status()).as(String.join("=", header)).isEqualTo(403);
            assertThat(refused.json().get("code").stringValue()).isEqualTo("CROSS_SITE_REQUEST");
        }
        assertThat(send("GET", "/api/v1/runs", session, "X-Other", "1").status()).isEqualTo(200);
        assertThat(send("GET", "/api/v1/runs", session, "Sec-Fetch-Site", "none").status()).isEqualTo(200);
        assertThat(send("GET", "/api/v1/runs", session, "Sec-Fetch-Site", "cross-site").status()).isEqualTo(403);
        ApiServer.Answer foreign = api.post("/api/v1/sessions", "{\"code\": \"x\"}", "Authorization", "",
                "Sec-Fetch-Site", "cross-site");
        assertThat(foreign.json().get("code").stringValue()).isEqualTo("CROSS_SITE_REQUEST");
    }

    @Test
    void keyAndCookieInOneRequestAreRefused() {
        ApiServer.Answer session = signIn();

        ApiServer.Answer both = api.get("/api/v1/runs", "Cookie", cookie(session));

        assertThat(both.status()).isEqualTo(400);
        assertThat(both.json().get("code").stringValue()).isEqualTo("TWO_CREDENTIALS");
    }

    @Test
    void workspaceOfSeveralSessionsIsNamed() {
        ApiServer.Answer ours = signIn();
        ApiServer.Answer theirs = api.post("/api/v1/sessions", "{}", "Authorization", api.stranger());
        String both = cookie(ours) + "; " + cookie(theirs);
        String workspace = theirs.json().get("workspace_id").stringValue();

        ApiServer.Answer unnamed = api.get("/api/v1/whoami", "Authorization", "", "Cookie", both);
        ApiServer.Answer named =
                api.get("/api/v1/whoami", "Authorization", "", "Cookie", both, "X-Workspace-ID", workspace);

        assertThat(unnamed.status()).isEqualTo(401);
        assertThat(named.json().at("/workspace/id").stringValue()).isEqualTo(workspace);
        String report = "/api/v1/reports/00000000-0000-7000-8000-00000000dead";
        assertThat(api.get(report, "Authorization", "", "Cookie", both).status()).isEqualTo(401);
        assertThat(api.get(report + "?workspace=ws_" + workspace, "Authorization", "", "Cookie", both).status())
                .isEqualTo(404);
    }

    @Test
    void revokedKeyEndsSessionAndStream() throws Exception {
        String bearer = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ, Scope.ADMIN));
        ApiServer.Answer session = api.post("/api/v1/sessions", "{}", "Authorization", bearer);
        HttpRequest stream = HttpRequest.newBuilder(api.url().resolve("/api/v1/events/stream"))
                .header("Cookie", cookie(session)).build();
        try (HttpClient browser = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            HttpResponse<Stream<String>> open = browser.send(stream, HttpResponse.BodyHandlers.ofLines());
            assertThat(open.statusCode()).isEqualTo(200);
            api.post("/api/v1/api-keys/" + session.json().get("key_id").stringValue() + "/revoke", "{}");
            open.body().forEach(line -> assertThat(line).isNotNull());
            Awaitility.await().until(() -> send("GET", "/api/v1/runs", session).status() == 401);
            assertThat(send("GET", "/api/v1/runs", session).json().get("code").stringValue())
                    .isEqualTo("SESSION_ENDED");
        }
    }

    @Test
    void sessionsAreListedAndEnded() {
        ApiServer.Answer session = signIn();
        String id = session.json().get("id").stringValue();
        assertThat(api.get("/api/v1/sessions").json().get("items").valueStream()
                .map(each -> each.get("id").stringValue())).contains(id);
        String other = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ));
        assertThat(api.get("/api/v1/sessions", "Authorization", other).json().get("items").valueStream()
                .map(each -> each.get("id").stringValue())).doesNotContain(id);
        assertThat(api.send("DELETE", "/api/v1/sessions/" + id, null, "Authorization", other).status())
                .isEqualTo(404);

        ApiServer.Answer ended = send("DELETE", "/api/v1/sessions/" + id, session, "Sec-Fetch-Site", "same-origin");

        assertThat(ended.status()).as(ended.text()).isEqualTo(204);
        assertThat(ended.header("Set-Cookie")).contains("Max-Age=0");
        Awaitility.await().until(() -> send("GET", "/api/v1/runs", session).status() == 401);
    }

    @Test
    void idleAndOldSessionsEnd() {
        for (String change : new String[] {"last_used_at = clock_timestamp() - interval '12 hours'",
                "ends_at = clock_timestamp()"}) {
            ApiServer.Answer session = signIn();
            api.sql("update sessions set " + change + " where id = '" + session.json().get("id").stringValue() + "'");

            assertThat(send("GET", "/api/v1/runs", session).status()).as(change).isEqualTo(401);
        }
    }

    @Test
    void otherNamesOfThisMachineAreRefused() throws Exception {
        assertThat(raw("evil.example", "/healthz", "")).startsWith("HTTP/1.1 421").contains("HOST_UNKNOWN");
        assertThat(raw("localhost:1", "/healthz", "")).startsWith("HTTP/1.1 200");
        assertThat(raw("keelson.example", "/healthz", "")).startsWith("HTTP/1.1 200");
        assertThat(raw("evil.example", "/api/v1/whoami", "Authorization: Bearer " + api.key() + "\r\n"))
                .startsWith("HTTP/1.1 200");
    }

    @Test
    void cookieOfThePublicAddressIsSecure() throws Exception {
        String code = api.post("/api/v1/sessions/links", "{}").json().get("code").stringValue();
        String body = "{\"code\": \"" + code + "\"}";

        String answer = exchange("POST /api/v1/sessions HTTP/1.1\r\nHost: keelson.example\r\nConnection: close\r\n"
                + "Origin: https://keelson.example\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length()
                + "\r\n\r\n" + body);

        assertThat(answer).startsWith("HTTP/1.1 201").contains("Set-Cookie: __Host-keelson_"
                + Bootstrap.DEFAULT_WORKSPACE + "=", "; Secure");
    }

    @Test
    void peopleAndServicesAreListed() {
        String reader = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ));

        JsonNode items = api.get("/api/v1/principals", "Authorization", reader).json().get("items");

        assertThat(items.valueStream().map(each -> each.get("name").stringValue() + " " + each.get("kind").stringValue()
                + " " + each.get("active"))).contains("local person true", "tester service true");
    }

    private static ApiServer.Answer signIn() {
        return redeem(api.post("/api/v1/sessions/links", "{}").json().get("code").stringValue());
    }

    private static ApiServer.Answer redeem(String code) {
        return api.post("/api/v1/sessions", "{\"code\": \"" + code + "\"}", "Authorization", "", "Sec-Fetch-Site",
                "same-origin");
    }

    private static ApiServer.Answer send(String method, String path, ApiServer.Answer session, String... headers) {
        String[] all = new String[headers.length + 6];
        System.arraycopy(headers, 0, all, 6, headers.length);
        System.arraycopy(new String[] {"Authorization", "", "Cookie", cookie(session), "Content-Type",
                method.equals("POST") ? "application/json" : ""}, 0, all, 0, 6);
        return api.send(method, path, method.equals("POST") ? RUN.getBytes(StandardCharsets.UTF_8) : null, all);
    }

    private static String cookie(ApiServer.Answer session) {
        String header = session.header("Set-Cookie");
        return header.substring(0, header.indexOf(';'));
    }

    private static String raw(String host, String path, String headers) throws Exception {
        return exchange("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + headers + "\r\n");
    }

    private static String exchange(String request) throws Exception {
        try (Socket socket = new Socket("127.0.0.1", api.url().getPort())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
