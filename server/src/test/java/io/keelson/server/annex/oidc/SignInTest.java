package io.keelson.server.annex.oidc;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.keelson.client.Keelson;
import io.keelson.client.WebhookRequest;
import io.keelson.core.Breadth;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.outlet.webhook.Receiver;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Sign-in of people at the certified provider of npm, as browsers do it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.InPart(3)
class SignInTest {

    private static final String CLIENT = "keelson";
    private static final String CLUSTER = "https://kubernetes.default.svc.cluster.local";

    private final RSAKey cluster = key();
    private OpenIdProvider provider;
    private Server server;
    private Keelson keelson;
    private DatabaseUrl database;
    private URI url;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        provider = new OpenIdProvider();
        database = TestDatabase.createUrl();
        Files.writeString(folder.resolve("jwks.json"), new JWKSet(cluster.toPublicJWK()).toString());
        server = Server.start(Settings.load(settings(folder), folder, folder));
        url = server.baseUrl();
        keelson = Keelson.builder().url(url.toString()).apiKey(server.apiKey()).build();
        provider.client(CLIENT, url, List.of("authorization_code", "refresh_token"));
        keelson.api().post("/workspaces", Json.tree(Map.of("name", "acme")));
    }

    private Map<String, String> settings(Path folder) {
        Map<String, String> settings = new HashMap<>();
        settings.put("KEELSON_DATA_DIR", folder.toString());
        settings.put("KEELSON_HTTP_PORT", "0");
        settings.put("KEELSON_DATABASE_URL", TestDatabase.text(database));
        settings.put("KEELSON_OIDC_ISSUER", provider.issuer());
        settings.put("KEELSON_OIDC_CLIENT_ID", CLIENT);
        settings.put("KEELSON_OIDC_CLIENT_SECRET", "a secret of keelson");
        settings.put("KEELSON_OIDC_SCOPES", "openid profile email groups");
        settings.put("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true");
        settings.put("KEELSON_SMTP_HOST", "127.0.0.1");
        settings.put("KEELSON_SMTP_PORT", "9");
        settings.put("KEELSON_SMTP_FROM", "keelson@example.org");
        settings.put("KEELSON_TOKEN_AUDIENCE", "keelson-api");
        settings.put("KEELSON_OIDC_SERVICES", "robot=acme:worker, robot=acme:operator");
        settings.put("KEELSON_KUBERNETES_ISSUER", CLUSTER);
        settings.put("KEELSON_KUBERNETES_KEYS", folder.resolve("jwks.json").toString());
        settings.put("KEELSON_KUBERNETES_ACCOUNTS", "agents/runner=default:worker");
        settings.put("KEELSON_OIDC_ROLES", "ops=default:operator, /team/deciders=default:approver, staff=acme:viewer, "
                + "platform=*:admin");
        return settings;
    }

    @AfterAll
    void end() {
        server.close();
        provider.close();
    }

    /** Up to the address of this server to which the provider sends the browser back. */
    private Browser.Page atProvider(Browser browser, String person, String query) {
        Browser.Page login = browser.follow(url.resolve("/auth/login" + query), url + "/auth/callback");
        if (login.address().toString().startsWith(url + "/auth/callback")) {
            return login;
        }
        Browser.Page consent = browser.submit(login, Map.of("login", person, "password", "x"), url + "/auth/callback");
        return consent.address().toString().startsWith(url + "/auth/callback") ? consent
                : browser.submit(consent, Map.of(), url + "/auth/callback");
    }

    private Browser.Page signIn(Browser browser, String person, String query) {
        return browser.get(atProvider(browser, person, query).address());
    }

    private static String location(Browser.Page page) {
        return page.answer().headers().firstValue("Location").orElse(page.status() + " " + page.text());
    }

    private Browser.Page whoAmI(Browser browser) {
        return browser.get(url.resolve("/api/v1/whoami"), "Sec-Fetch-Site", "same-origin");
    }

    /** The number of connections that wait for locks. */
    private static int waiting(Statement work) throws SQLException {
        try (ResultSet row = work.executeQuery("select count(distinct pid) from pg_locks where not granted"
                + " and database = (select oid from pg_database where datname = current_database())")) {
            row.next();
            return row.getInt(1);
        }
    }

    private void sql(String statement) throws Exception {
        try (Connection connection = database.connect();
                Statement work = connection.createStatement()) {
            work.execute(statement);
        }
    }

    @Test
    void personSignsInWithTheScopesOfTheRoles() {
        provider.person("ann", Map.of("groups", List.of("ops", "/team/deciders", "unknown")));
        try (Browser browser = new Browser()) {
            Browser.Page back = signIn(browser, "ann", "?page=/ui/runs");

            assertThat(location(back)).startsWith("/ui/runs#session=");
            assertThat(back.answer().headers().firstValue("Set-Cookie")).hasValueSatisfying(
                    cookie -> assertThat(cookie).contains("HttpOnly; SameSite=Strict").doesNotContain("Secure"));
            JsonNode me = Json.read(whoAmI(browser).text());
            assertThat(me.at("/key/principal").stringValue()).isEqualTo("ann");
            assertThat(me.at("/key/principal_kind").stringValue()).isEqualTo("person");
            assertThat(me.at("/scopes")).extracting(JsonNode::stringValue).containsExactly("runs:read", "runs:write",
                    "approve", "credits:read");
            assertThat(keelson.api().get("/audit?limit=50").path("items").valueStream()
                    .filter(each -> each.path("action").stringValue().equals("session_begun")
                            && each.path("actor_id").stringValue().equals("ann")))
                    .isNotEmpty();
        }
    }

    @Test
    void stateIsUsedOnceAndByItsBrowserAlone() {
        provider.person("bob", Map.of("groups", List.of("ops")));
        try (Browser browser = new Browser(); Browser other = new Browser()) {
            URI callback = atProvider(browser, "bob", "").address();

            assertThat(other.get(callback).text()).contains("SIGN_IN_STATE_INVALID");
            assertThat(browser.get(URI.create(callback.toString().replaceAll("state=[^&]+", "state=x"))).text())
                    .contains("SIGN_IN_STATE_INVALID");
            assertThat(location(browser.get(callback))).startsWith("/ui/#session=");
            assertThat(browser.get(callback).text()).contains("SIGN_IN_STATE_REPLAYED");
            assertThat(browser.get(callback).status()).isEqualTo(400);
        }
    }

    @Test
    void refusalsArePagesWithACode() {
        provider.person("eve", Map.of("groups", List.of("nothing")));
        try (Browser browser = new Browser()) {
            Browser.Page refused = signIn(browser, "eve", "");

            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.text()).contains("SIGN_IN_ROLE_MISSING", "<h1>", "the groups nothing");
            assertThat(refused.answer().headers().firstValue("Content-Security-Policy")).isPresent();
            Browser.Page denied = browser.follow(url.resolve("/auth/login"), "never");
            assertThat(denied.status()).as(denied.text()).isNotEqualTo(500);
        }
        try (Browser browser = new Browser()) {
            browser.get(url.resolve("/auth/login"));
            String state = SignInState.ofCookie(browser.cookies(url).values().iterator().next()).orElseThrow().state();
            assertThat(browser.get(url.resolve("/auth/callback?error=access_denied&state=" + state)).text())
                    .contains("SIGN_IN_REFUSED", "access_denied");
            assertThat(browser.get(url.resolve("/auth/callback?code=wrong&state=" + state)).text())
                    .contains("SIGN_IN_REFUSED", "invalid_grant");
            assertThat(
                    browser.get(url.resolve("/auth/callback?code=a&iss=https://other.example&state=" + state)).text())
                    .contains("TOKEN_ISSUER_WRONG");
        }
    }

    @Test
    void personWithSeveralWorkspacesChooses() {
        provider.person("kim", Map.of("groups", List.of("staff", "ops")));
        try (Browser browser = new Browser()) {
            Browser.Page choice = signIn(browser, "kim", "");

            assertThat(choice.text()).contains("workspace=acme", "workspace=default");
            assertThat(location(signIn(browser, "kim", "?workspace=acme"))).startsWith("/ui/#session=");
            JsonNode me = Json.read(whoAmI(browser).text());
            assertThat(me.at("/workspace/name").stringValue()).isEqualTo("acme");
            assertThat(me.at("/scopes").size()).isEqualTo(2);
            assertThat(signIn(browser, "kim", "?workspace=other").text()).contains("SIGN_IN_ROLE_MISSING");
        }
    }

    @Test
    void nameOfAnotherPrincipalIsNotTakenOver() {
        keelson.api().post("/api-keys", Json.tree(Map.of("name", "a key", "principal", "taken", "scopes",
                List.of("runs:read"))));
        provider.person("m1", Map.of("groups", List.of("ops"), "preferred_username", "taken"));
        provider.person("m2", Map.of("groups", List.of("ops"), "preferred_username", "local"));
        for (String subject : List.of("m1", "m2")) {
            try (Browser browser = new Browser()) {
                assertThat(location(signIn(browser, subject, ""))).startsWith("/ui/#session=");
                assertThat(Json.read(whoAmI(browser).text()).at("/key/principal").stringValue())
                        .matches("(taken|local)-[0-9a-f]{8}");
            }
        }
    }

    @Test
    void renewalChangesRolesAndItsRefusalEndsTheSession() throws Exception {
        provider.person("ron", Map.of("groups", List.of("ops")));
        try (Browser browser = new Browser()) {
            signIn(browser, "ron", "");
            provider.person("ron", Map.of("groups", List.of("/team/deciders")));
            renewNow("ron");
            Json.read(whoAmI(browser).text());
            assertThat(Json.read(whoAmI(browser).text()).at("/scopes")).extracting(JsonNode::stringValue)
                    .containsExactly("runs:read", "approve", "credits:read");
            provider.set("down", true);
            renewNow("ron");
            assertThat(whoAmI(browser).status()).isEqualTo(200);
            provider.set("down", false);
            provider.control("revoke", Json.object());
            renewNow("ron");
            assertThat(whoAmI(browser).text()).contains("SESSION_ENDED");
        } finally {
            provider.set("down", false);
        }
    }

    private void renewNow(String subject) throws Exception {
        sql("update federated_sessions set refresh_at = clock_timestamp() where subject = '" + subject + "'");
        server.clockMoved();
    }

    @Test
    void sessionEndsWithItsTokens() throws Exception {
        provider.person("tim", Map.of("groups", List.of("ops")));
        try (Browser browser = new Browser()) {
            signIn(browser, "tim", "");
            JsonNode session = Json.read(whoAmI(browser).text()).path("session");
            assertThat(Duration.between(Instant.parse(session.path("created_at").stringValue()),
                    Instant.parse(session.path("ends_at").stringValue())).toSeconds()).isBetween(3500L, 3601L);
            sql("update sessions set ends_at = clock_timestamp() where id = '" + session.path("id").stringValue()
                    + "'");
            server.clockMoved();
            assertThat(whoAmI(browser).text()).contains("SESSION_ENDED");
        }
    }

    @Test
    void signOutEndsBothSessionsAndTheProviderEndsOthers() {
        provider.person("sue", Map.of("groups", List.of("ops")));
        try (Browser browser = new Browser(); Browser phone = new Browser()) {
            signIn(browser, "sue", "");
            signIn(phone, "sue", "");
            String workspace = Json.read(whoAmI(browser).text()).at("/workspace/id").stringValue();
            assertThat(browser.post(url.resolve("/auth/logout"), Map.of("workspace", workspace), "Sec-Fetch-Site",
                    "cross-site").text()).contains("CROSS_SITE_REQUEST");

            Browser.Page left = browser.post(url.resolve("/auth/logout"), Map.of("workspace", workspace),
                    "Sec-Fetch-Site", "same-origin");
            URI atProvider = URI.create(Json.read(left.text()).path("location").stringValue());

            assertThat(whoAmI(browser).status()).isEqualTo(401);
            Browser.Page confirm = browser.follow(atProvider, url.toString());
            Browser.Page home = browser.submit(confirm, Map.of("logout", "yes"), url.toString());
            assertThat(home.address()).isEqualTo(url.resolve("/ui/"));
            assertThat(whoAmI(phone).status()).isEqualTo(200);
            signIn(browser, "sue", "");
            browser.submit(browser.follow(URI.create(provider.issuer() + "/session/end"), url.toString()),
                    Map.of("logout", "yes"), url.toString());
            clock();
            assertThat(whoAmI(browser).text()).contains("SESSION_ENDED");
            assertThat(whoAmI(phone).status()).isEqualTo(200);
        }
    }

    private void clock() {
        try {
            server.clockMoved();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void revokedKeyEndsSessionsUntilTheNextSignIn() {
        provider.person("vic", Map.of("groups", List.of("ops")));
        try (Browser browser = new Browser()) {
            signIn(browser, "vic", "");
            String key = Json.read(whoAmI(browser).text()).at("/key/id").stringValue();
            assertThat(keelson.api().post("/api-keys/" + key + "/revoke", Json.object()).path("state").stringValue())
                    .isEqualTo("revoked");
            clock();

            assertThat(whoAmI(browser).text()).contains("SESSION_ENDED");
        }
    }

    @Test
    void providerThatIsDownOrHasNewKeys() {
        provider.person("dan", Map.of("groups", List.of("ops")));
        try (Browser browser = new Browser()) {
            provider.set("down", true);
            URI callback = url.resolve("/auth/callback");
            browser.get(url.resolve("/auth/login"));
            String state = SignInState.ofCookie(browser.cookies(url).values().iterator().next()).map(SignInState::state)
                    .orElse("");
            Browser.Page failed = browser.get(URI.create(callback + "?code=a&state=" + state));
            assertThat(failed.status()).isIn(503, 400);
            assertThat(failed.text()).containsAnyOf("SIGN_IN_PROVIDER_UNAVAILABLE", "SIGN_IN_STATE_INVALID");
            provider.set("down", false);
            provider.control("keys", Json.object());

            assertThat(location(signIn(browser, "dan", ""))).startsWith("/ui/#session=");
        } finally {
            provider.set("down", false);
        }
    }

    private static RSAKey key() {
        try {
            return new RSAKeyGenerator(2048).keyID("cluster").generate();
        } catch (JOSEException e) {
            throw new AssertionError(e);
        }
    }

    private Browser.Page asService(String token, String path) {
        try (Browser program = new Browser()) {
            return program.get(url.resolve("/api/v1" + path), "Authorization", "Bearer " + token);
        }
    }

    @Test
    void serviceCallsWithATokenOfItsClientCredentials() {
        provider.service("robot");
        provider.service("robot-unknown");
        String token = provider.token("robot");

        JsonNode me = Json.read(asService(token, "/whoami").text());

        assertThat(me.at("/key/principal").stringValue()).isEqualTo("robot");
        assertThat(me.at("/key/principal_kind").stringValue()).isEqualTo("service");
        assertThat(me.at("/workspace/name").stringValue()).isEqualTo("acme");
        assertThat(me.at("/scopes")).extracting(JsonNode::stringValue).containsExactly("runs:read", "runs:write",
                "work",
                "credits:read");
        assertThat(asService(provider.token("robot-unknown"), "/whoami").text()).contains("SIGN_IN_ROLE_MISSING");
        assertThat(asService(token.substring(0, token.length() - 5) + "AAAAA", "/whoami").text())
                .contains("TOKEN_INVALID");
        assertThat(asService("eyJ" + "a".repeat(9_000), "/whoami").text()).contains("TOKEN_INVALID");
        assertThat(asService(token, "/secrets").text()).contains("SCOPE_MISSING");
        try (Browser program = new Browser()) {
            for (String path : List.of("/api/v1/sessions", "/api/v1/sessions/links")) {
                assertThat(program.post(url.resolve(path), Map.of(), "Authorization", "Bearer " + token).text())
                        .containsAnyOf("KEY_REQUIRED", "UNSUPPORTED_MEDIA_TYPE");
            }
        }
        String key = me.at("/key/id").stringValue();
        assertThat(keelson.api()
                .post("/workspaces/" + me.at("/workspace/id").stringValue() + "/api-keys/" + key + "/revoke",
                        Json.object())
                .path("state").stringValue()).isEqualTo("revoked");
        clock();
        assertThat(asService(token, "/whoami").text()).contains("TOKEN_REVOKED");
    }

    @Test
    void workerCallsWithAProjectedTokenOfItsServiceAccount() throws JOSEException {
        assertThat(Json.read(asService(projected(CLUSTER, "keelson-api", "agents:runner", 600), "/whoami").text())
                .at("/key/principal").stringValue()).isEqualTo("system-serviceaccount-agents-runner");
        assertThat(
                asService(projected(CLUSTER, "https://kubernetes.default.svc", "agents:runner", 600), "/whoami").text())
                .contains("TOKEN_AUDIENCE_WRONG");
        assertThat(asService(projected(CLUSTER, "keelson-api", "other:runner", 600), "/whoami").text())
                .contains("SIGN_IN_ROLE_MISSING");
        assertThat(asService(projected(CLUSTER, "keelson-api", "agents:runner", -61), "/whoami").text())
                .contains("TOKEN_EXPIRED");
        // The cluster's key does not sign for the provider.
        assertThat(asService(projected(provider.issuer(), "keelson-api", "agents:runner", 600), "/whoami").text())
                .contains("TOKEN_INVALID");
        assertThat(asService(projected("https://other.example", "keelson-api", "agents:runner", 600), "/whoami").text())
                .contains("TOKEN_ISSUER_WRONG");
    }

    private String projected(String issuer, String audience, String account, long seconds) throws JOSEException {
        Instant now = Instant.now();
        SignedJWT token = new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("cluster").build(),
                new JWTClaimsSet.Builder().issuer(issuer).audience(audience).subject("system:serviceaccount:" + account)
                        .issueTime(Date.from(now.minusSeconds(600))).expirationTime(Date.from(now.plusSeconds(seconds)))
                        .build());
        token.sign(new RSASSASigner(cluster));
        return token.serialize();
    }

    /** The path of the link for the answer in the newest message. */
    private static String link(Receiver receiver, int message) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> receiver.got().size() >= message);
        Matcher link = Pattern.compile("/answer/[A-Za-z0-9_.-]+").matcher(receiver.got().get(message - 1).body());
        assertThat(link.find()).isTrue();
        return link.group();
    }

    private Browser.Page accept(Browser browser, String link) {
        Matcher seen =
                Pattern.compile("name=\"seen\" value=\"([^\"]+)\"").matcher(browser.get(url.resolve(link)).text());
        assertThat(seen.find()).isTrue();
        return browser.post(url.resolve(link), Map.of("choice", "ACCEPT", "seen", seen.group(1)), "Sec-Fetch-Site",
                "same-origin");
    }

    private String asks() {
        return keelson.api().post("/runs", Json.read("""
                {"name": "asks", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"kind": "approval", "input": {}}]}]}}""".getBytes(StandardCharsets.UTF_8))).path("id").stringValue();
    }

    private List<String> approvers(String run) {
        return keelson.api().get("/runs/" + run + "/events?limit=100").path("items").valueStream()
                .filter(each -> each.path("event_type").stringValue().equals("step_approved"))
                .map(each -> each.path("actor_id").stringValue()).toList();
    }

    @Test
    void personAddsTheMailboxOfTheProviderAndLosesItWithTheKey() throws Exception {
        provider.person("gus", Map.of("groups", List.of("/team/deciders"), "email", "gus@example.org",
                "email_verified", true));
        provider.person("hal", Map.of("groups", List.of("/team/deciders"), "email", "ceo@example.org"));
        URI own = url.resolve("/api/v1/notifications");
        try (Browser gus = new Browser(); Browser hal = new Browser()) {
            signIn(hal, "hal", "?workspace=default");
            assertThat(hal.api("POST", own, "{}").text()).as("nothing vouches for it").contains("NO_VERIFIED_ADDRESS");
            signIn(gus, "gus", "?workspace=default");
            assertThat(gus.api("POST", own, "{\"url\": \"mailto:ceo@example.org\"}").text()).contains("UNKNOWN_KEY");
            Browser.Page added = gus.api("POST", own, "{\"digest_minutes\": 5}");
            assertThat(added.status()).as(added.text()).isEqualTo(201);
            JsonNode made = Json.read(added.text());
            assertThat(made.path("url").stringValue()).isEqualTo("mailto:gus@example.org");
            assertThat(made.path("recipient")).isEqualTo(made.path("owner"));
            assertThat(made.path("owner").stringValue()).isEqualTo("gus");
            assertThat(made.has("secret")).isFalse();
            List<CompletableFuture<Browser.Page>> atOnce = new ArrayList<>();
            try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
                    Connection held = database.connect();
                    Statement work = held.createStatement()) {
                held.setAutoCommit(false);
                work.execute("lock table webhook_endpoints in share row exclusive mode");
                for (int i = 0; i < 20; i++) {
                    atOnce.add(CompletableFuture.supplyAsync(() -> gus.api("POST", own, "{}"), callers));
                }
                Awaitility.await().until(() -> waiting(work) >= 6);
                held.commit();
            }
            assertThat(atOnce.stream().map(CompletableFuture::join).filter(page -> page.status() == 201)).hasSize(4);
            assertThat(atOnce.stream().map(page -> page.join().text())
                    .filter(text -> text.contains("WEBHOOKS_LIMIT_REACHED"))).hasSize(16);
            URI one = url.resolve("/api/v1/notifications/" + made.path("id").stringValue());
            assertThat(hal.api("PATCH", one, "{\"enabled\": false}").status()).isEqualTo(404);
            assertThat(gus.api("PATCH", one, "{\"quiet_from\": \"22:00\"}").text()).contains("REQUIRED");
            assertThat(gus.api("DELETE", one, "").status()).isEqualTo(204);

            keelson.apiKeys().list(null).stream().filter(key -> key.principal().equals("gus"))
                    .forEach(key -> keelson.apiKeys().revoke(key.id()));
            String left = keelson.webhooks().list().stream().filter(each -> "gus".equals(each.owner())).findFirst()
                    .orElseThrow().id();
            keelson.webhooks().ping(left);
            Awaitility.await().atMost(Duration.ofSeconds(60))
                    .until(() -> "gone".equals(keelson.webhooks().get(left).disabledReason()));
            assertThat(keelson.webhooks().deliveries(left, null, 1).getFirst().lastError())
                    .contains("its owner gus may not read");
        }
    }

    @Test
    void linkForAnAnswerTakesTheSignInOfItsRecipient() throws Exception {
        provider.person("eve", Map.of("groups", List.of("/team/deciders")));
        provider.person("fay", Map.of("groups", List.of("/team/deciders"), "email", "Fay@example.org",
                "email_verified", true));
        try (Receiver receiver = new Receiver();
                Browser eve = new Browser();
                Browser fay = new Browser();
                Browser stranger = new Browser()) {
            signIn(eve, "eve", "?workspace=default");
            String webhook = keelson.webhooks().create(WebhookRequest.to(receiver.url()).format("slack")
                    .recipient("eve").events(List.of("approval.needed"))).id();
            String run = asks();
            String link = link(receiver, 1);

            Browser.Page unsigned = accept(stranger, link);
            assertThat(unsigned.status()).isEqualTo(401);
            assertThat(unsigned.text()).contains("SIGN_IN_REQUIRED", "/auth/login?workspace=default&amp;page=");
            signIn(fay, "fay", "?workspace=default");
            Browser.Page other = accept(fay, link);
            assertThat(other.status()).isEqualTo(403);
            assertThat(other.text()).contains("ANSWER_LINK_OTHER_PERSON", "signed in as fay");
            assertThat(location(signIn(eve, "eve", "?workspace=default&page=" + link))).startsWith(link + "#session=");
            assertThat(accept(eve, link).status()).isEqualTo(200);
            assertThat(approvers(run)).containsExactly("eve");

            String second = asks();
            String toFay = link(receiver, 2);
            sql("update webhook_endpoints set url = 'mailto:fay@example.org', format = 'mail' where id = '" + webhook
                    + "'");
            assertThat(accept(fay, toFay).status()).as("the mailbox of the link").isEqualTo(200);
            assertThat(approvers(second)).containsExactly("fay");
            keelson.webhooks().delete(webhook);
        }
    }
}
