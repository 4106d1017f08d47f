package io.keelson.server.annex.notice;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.upkeep.RunArchiver;
import io.keelson.server.outlet.webhook.Receiver;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Messages to Slack and Teams at receivers of the test, and answers by their links as a browser gives them. */
@Breadth.Spread
class NoticeApiTest {

    private static final String KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    private static final String HOSTILE = "<!channel> <@U1> *b* [x](http://evil.example) & <http://evil.example|y>";
    private static final Pattern SEEN = Pattern.compile("name=\"seen\" value=\"([^\"]+)\"");

    @TempDir
    private static Path folder;

    private static DatabaseUrl database;
    private static ApiServer api;
    private final HttpClient browser = HttpClient.newHttpClient();
    private Receiver receiver;

    @BeforeAll
    static void start() throws Exception {
        database = TestDatabase.createUrl();
        api = new ApiServer(folder, database, Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true", "KEELSON_SECRET_KEY",
                KEY, "KEELSON_FOUR_EYES", "default"));
        key("alex", "[\"runs:read\", \"approve\"]");
    }

    private static JsonNode key(String principal, String scopes) {
        ApiServer.Answer made = api.post("/api/v1/api-keys", "{\"name\": \"" + principal + "\", \"principal\": \""
                + principal + "\", \"principal_kind\": \"person\", \"scopes\": " + scopes + "}");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json();
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @BeforeEach
    void listen() throws Exception {
        receiver = new Receiver();
    }

    @AfterEach
    void forget() {
        api.get("/api/v1/webhooks").json().get("items").forEach(
                each -> api.send("DELETE", "/api/v1/webhooks/" + each.get("id").stringValue(), null));
        receiver.close();
        browser.close();
    }

    private JsonNode create(String more) {
        ApiServer.Answer answer = api.post("/api/v1/webhooks", "{\"url\": \"" + receiver.url() + "\"" + more + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private static String asks(String question) {
        return api.create("""
                {"name": "release", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"name": "sign-off", "kind": "approval", "input": {"question": "QUESTION"}}]}]}}"""
                .replace("QUESTION", question));
    }

    private JsonNode awaitMessage(int number) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> receiver.got().size() >= number);
        return Json.read(receiver.got().get(number - 1).body());
    }

    /** The link for the answer in a message to Slack, as its path. */
    private String awaitLink(int message) {
        String text = awaitMessage(message).toString();
        Matcher link = Pattern.compile("(/answer/[A-Za-z0-9_.-]+)").matcher(text);
        assertThat(link.find()).as(text).isTrue();
        return link.group(1);
    }

    private HttpResponse<String> open(String link) throws Exception {
        return browser.send(HttpRequest.newBuilder(api.url().resolve(link)).GET().build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> click(String link, String choice, String seen) throws Exception {
        URI address = api.url().resolve(link);
        return browser.send(HttpRequest.newBuilder(address).header("Sec-Fetch-Site", "same-origin")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("choice=" + choice + "&reason=fine&seen="
                        + URLEncoder.encode(seen, StandardCharsets.UTF_8)))
                .build(), BodyHandlers.ofString());
    }

    private static String digest(HttpResponse<String> page) {
        Matcher seen = SEEN.matcher(page.body());
        assertThat(seen.find()).as(page.body()).isTrue();
        return seen.group(1);
    }

    @Test
    void slackGetsPlainBlocksThatMentionAndLinkNothing() {
        create(", \"format\": \"slack\"");
        String run = asks(HOSTILE);

        JsonNode message = awaitMessage(1);
        assertThat(message.toString()).doesNotContain("<!channel>", "<@U1>", "<http://evil");
        assertThat(message.at("/link_names").booleanValue()).isFalse();
        assertThat(message.at("/blocks/0/text/text").stringValue()).isEqualTo("release waits for your decision");
        assertThat(message.at("/blocks/1/text/type").stringValue()).isEqualTo("plain_text");
        assertThat(message.at("/blocks/1/text/text").stringValue())
                .startsWith("&lt;!channel&gt; &lt;@U1&gt; *b* [x](http://evil.example) &amp; ");
        assertThat(message.toString()).contains("Cost: 0", "/ui/runs/" + run + "|Open the run")
                .as("no recipient, no link for an answer").contains("Open the question").doesNotContain("/answer/");
        assertThat(receiver.got().getFirst().signature()).isEmpty();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(
                () -> api.get("/api/v1/webhooks").json().at("/items/0/pending").longValue() == 0);
    }

    @Test
    void teamsGetsACardWithoutMarkdown() {
        create(", \"format\": \"teams\", \"recipient\": \"alex\"");
        asks(HOSTILE);

        JsonNode card = awaitMessage(1).at("/attachments/0/content");
        assertThat(card.get("type").stringValue()).isEqualTo("AdaptiveCard");
        assertThat(card.findValues("type")).extracting(JsonNode::stringValue).doesNotContain("TextBlock", "FactSet");
        assertThat(card.findValues("text")).extracting(JsonNode::stringValue).contains(HOSTILE);
        assertThat(card.findValues("url")).extracting(JsonNode::stringValue).first().asString().contains("/answer/");
    }

    @Test
    void busyServiceIsSentTheMessageAgainAndAGoneOneIsDisabledWithANotice() {
        receiver.then(429, 429, 200, 404);
        JsonNode webhook = create(", \"format\": \"slack\", \"events\": [\"run.completed\"]");
        String good =
                "{\"name\": \"good\", \"start\": true, \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [{\"tool\": \"noop\"}]}]}}";
        api.create(good);
        awaitMessage(3);
        String deliveries = "/api/v1/webhooks/" + webhook.get("id").stringValue() + "/deliveries";
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> api.get(deliveries).json().at("/items/0/state")
                .asString("").equals("delivered"));
        assertThat(api.get(deliveries).json().at("/items/0/attempts").intValue()).as("pauses do not count").isOne();

        api.create(good);
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> api.get("/api/v1/webhooks").json()
                .at("/items/0/disabled_reason").asString("").equals("gone"));
        assertThat(api.get("/api/v1/audit?limit=20").json().get("items")).anySatisfy(entry -> {
            assertThat(entry.get("action").stringValue()).isEqualTo("webhook_disabled");
            assertThat(entry.at("/detail/reason").stringValue()).isEqualTo("gone");
        });
    }

    @Test
    void linkAnswersOnceByAClickAndThenNamesTheAnswer() throws Exception {
        create(", \"format\": \"slack\", \"recipient\": \"alex\"");
        String run = asks("Publish?");
        String link = awaitLink(1);

        HttpResponse<String> page = open(link);
        open(link);
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("Publish?", "alex");
        assertThat(page.headers().firstValue("Content-Security-Policy").orElse("")).contains("frame-ancestors 'none'");
        assertThat(api.run(run).get("waits_for_humans").intValue()).as("no GET answers").isOne();
        assertThat(click(link, "ACCEPT", "another page").statusCode()).isEqualTo(409);
        HttpResponse<String> foreign = browser.send(HttpRequest.newBuilder(api.url().resolve(link))
                .header("Sec-Fetch-Site", "cross-site").POST(BodyPublishers.ofString("choice=ACCEPT")).build(),
                BodyHandlers.ofString());
        assertThat(foreign.body()).contains("CROSS_SITE_REQUEST");
        assertThat(api.run(run).get("waits_for_humans").intValue()).isOne();

        HttpResponse<String> done = click(link, "ACCEPT", digest(page));
        assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
        api.awaitState(run, "completed");
        for (HttpResponse<String> again : List.of(open(link), click(link, "REJECT", digest(page)))) {
            assertThat(again.statusCode()).isEqualTo(409);
            assertThat(again.body()).contains("alex accepted at 20", "ANSWER_ALREADY_GIVEN");
        }
        JsonNode approved = api.get("/api/v1/runs/" + run + "/events?limit=200").json().get("items").valueStream()
                .filter(each -> each.get("event_type").stringValue().equals("step_approved")).findFirst().orElseThrow();
        assertThat(approved.get("actor_id").stringValue()).isEqualTo("alex");
        assertThat(api.get("/api/v1/audit?limit=20").json().get("items")).anySatisfy(entry -> {
            assertThat(entry.get("action").stringValue()).isEqualTo("question_answered_by_link");
            assertThat(entry.at("/detail/recipient").stringValue()).isEqualTo("alex");
        });
    }

    @Test
    void lateForgedAndRevokedLinksAreRefusedByCode() throws Exception {
        JsonNode webhook = create(", \"format\": \"slack\", \"recipient\": \"alex\"");
        String run = asks("Late?");
        String link = awaitLink(1);
        AnswerLink bound = Objects.requireNonNull(AnswerLink.of(link.substring("/answer/".length()), keys()));
        AnswerLink expired = new AnswerLink(bound.workspace(), bound.endpoint(), bound.recipient(), bound.run(),
                bound.item(), bound.gate(), bound.choices(), Instant.now().minusSeconds(90),
                Instant.now().minusSeconds(30));
        String late = "/answer/" + expired.text(keys());

        assertThat(open(late).statusCode()).isEqualTo(410);
        assertThat(click(late, "ACCEPT", digest(open(link))).body()).contains("ANSWER_LINK_EXPIRED");
        assertThat(open(link.substring(0, link.length() - 2) + "AA").body()).contains("ANSWER_LINK_INVALID");
        String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        char spare = alphabet.charAt(alphabet.indexOf(link.charAt(link.length() - 1)) + 1);
        assertThat(open(link.substring(0, link.length() - 1) + spare).body())
                .as("the same bytes in another text").contains("ANSWER_LINK_INVALID");
        assertThat(open("/answer/").statusCode()).isEqualTo(404);
        assertThat(click(link, "FINISH", digest(open(link))).body()).contains("MALFORMED_REQUEST");
        assertThat(api.run(run).get("waits_for_humans").intValue()).isOne();

        String item = api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0/id").stringValue();
        assertThat(api.post("/api/v1/inbox/" + item + "/reject", "{}").status()).isEqualTo(200);
        assertThat(open(link).body()).as("an answer from the inbox").contains("rejected at 20");
        api.send("DELETE", "/api/v1/webhooks/" + webhook.get("id").stringValue(), null);
        assertThat(open(link).body()).contains("ANSWER_LINK_REVOKED");
    }

    @Test
    void linkToAnArchivedRunSaysThatItsQuestionIsClosed() throws Exception {
        create(", \"format\": \"slack\", \"recipient\": \"alex\"");
        String run = asks("Archive?");
        String link = awaitLink(1);
        assertThat(click(link, "ACCEPT", digest(open(link))).statusCode()).isEqualTo(200);
        api.awaitState(run, "completed");
        api.sql("""
                update orchestration_runs set created_at = created_at - interval '9 days',
                    started_at = started_at - interval '9 days', completed_at = completed_at - interval '9 days'
                 where id = '%s'""".formatted(run));
        RunArchiver archiver = new RunArchiver(api.database(), new RunArchive(DbClock.DATABASE),
                new LocalArtifactStore(folder.resolve("artifacts")),
                new RunArchiver.Ages(Duration.ofDays(7), null), UUID::randomUUID, RunArchiver.Observer.NONE);
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(archiver::archive, archived -> archived == 1);

        HttpResponse<String> late = open(link);
        assertThat(late.statusCode()).isEqualTo(409);
        assertThat(late.body()).contains("QUESTION_CLOSED");
    }

    private static SecretStore keys() {
        Database unused = new Database(database, DatabaseOptions.DEFAULTS.withPoolSize(1));
        try (unused) {
            return new SecretStore(unused, Objects.requireNonNull(SealingKey.parse(KEY)), List.of());
        }
    }

    @Test
    void recipientWithoutTheRightOrWhoSubmittedTheRunCannotAnswer() throws Exception {
        JsonNode key = key("kim", "[\"runs:read\", \"runs:write\", \"approve\"]");
        create(", \"format\": \"slack\", \"recipient\": \"kim\"");
        String mission =
                """
                {"name": "own", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"kind": "approval", "input": {}}]}]}}""";
        ApiServer.Answer own =
                api.post("/api/v1/runs", mission, "Authorization", "Bearer " + key.get("key").stringValue());
        assertThat(own.status()).as(own.text()).isEqualTo(201);
        String link = awaitLink(1);

        HttpResponse<String> page = open(link);
        assertThat(page.headers().firstValue("Referrer-Policy")).as("a form without an origin is refused")
                .hasValue("same-origin");
        assertThat(click(link, "ACCEPT", digest(page)).body()).contains("APPROVER_IS_SUBMITTER");
        api.post("/api/v1/api-keys/" + key.get("id").stringValue() + "/revoke", "{}");
        assertThat(open(link).body()).contains("ANSWER_LINK_REVOKED").doesNotContain("<form");
        assertThat(click(link, "REJECT", digest(page)).body()).contains("ANSWER_LINK_REVOKED");
        assertThat(api.get("/api/v1/inbox?run_id=" + own.json().get("id").stringValue()).json().get("items"))
                .hasSize(1);
    }

    @Test
    void linkGivesOneOfSeveralApprovals() throws Exception {
        String webhook = create(", \"format\": \"slack\", \"recipient\": \"alex\"").get("id").stringValue();
        String run = api.create("""
                {"name": "two", "start": true, "config": {"approvals": 2}, "plan": {"tasks": [{"id": "a", "steps": [
                  {"kind": "approval", "input": {}}]}]}}""");
        String link = awaitLink(1);

        assertThat(click(link, "ACCEPT", digest(open(link))).body())
                .contains("waits for other people: 1 of 2, by alex");
        HttpResponse<String> again = open(link);
        assertThat(again.body()).contains("alex has approved.", "REJECT").doesNotContain("value=\"ACCEPT\"");
        assertThat(click(link, "ACCEPT", digest(again)).body()).contains("ALREADY_VOTED");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                () -> api.get("/api/v1/webhooks/" + webhook + "/deliveries").json().get("items").valueStream()
                        .filter(each -> each.get("state").stringValue().equals("delivered")).count() == 2);
        assertThat(receiver.got()).as("no message asks the person again").hasSize(1);
        assertThat(api.run(run).get("waits_for_humans").intValue()).isOne();
    }

    @Test
    void settingsThatDoNotFitAreRefused() {
        api.post("/api/v1/api-keys", "{\"name\": \"robot\", \"principal\": \"robot\", \"scopes\": [\"approve\"]}");
        Map<String, String> refused = Map.of(
                "{\"url\": \"mailto:alex@example.org\"}", "MAIL_NOT_CONFIGURED",
                "{\"url\": \"mailto:a@b.example?bcc=c@d.example\"}", "INVALID_VALUE",
                "{\"url\": \"mailto:a@b.example\\r\\nBcc: c@d.example\"}", "INVALID_VALUE",
                "{\"url\": \"http://x.example\", \"format\": \"mail\"}", "INVALID_VALUE",
                "{\"url\": \"http://x.example\", \"digest_minutes\": 5}", "INVALID_VALUE",
                "{\"url\": \"http://x.example\", \"format\": \"slack\", \"recipient\": \"unknown\"}",
                "UNKNOWN_PRINCIPAL",
                "{\"url\": \"http://x.example\", \"format\": \"slack\", \"recipient\": \"robot\"}",
                "NOT_A_PERSON",
                "{\"url\": \"http://x.example\", \"format\": \"slack\", \"quiet_from\": \"22:00\"}", "REQUIRED",
                "{\"url\": \"http://x.example\", \"format\": \"slack\", \"quiet_from\": \"24:00\"}", "INVALID_VALUE",
                "{\"url\": \"http://x.example\", \"format\": \"teams\", \"digest_minutes\": 1441}", "OUT_OF_RANGE");
        refused.forEach((body, code) -> {
            ApiServer.Answer answer = api.post("/api/v1/webhooks", body);
            assertThat(answer.text()).as(body).contains("\"" + code + "\"");
            assertThat(answer.status()).as(body).isIn(409, 422);
        });
    }

    @Test
    void recipientSetsHoursAndEventsOfTheirReceiver() {
        String pat = "Bearer " + key("pat", "[\"runs:read\"]").get("key").stringValue();
        String id = create(", \"format\": \"slack\", \"recipient\": \"pat\"").get("id").stringValue();
        create(", \"format\": \"slack\", \"recipient\": \"alex\"");
        JsonNode listed = api.send("GET", "/api/v1/notifications", null, "Authorization", pat).json().get("items");
        assertThat(listed).hasSize(1);
        assertThat(listed.get(0).get("url").stringValue()).as("the path permits to post").endsWith("/…");
        String own = "/api/v1/notifications/" + id;
        ApiServer.Answer changed = change(own, pat, "{\"quiet_from\": \"22:00\", \"quiet_until\": \"07:00\","
                + " \"time_zone\": \"Europe/Berlin\", \"events\": [\"approval.needed\"], \"digest_minutes\": 5}");
        assertThat(changed.json().get("quiet_from").stringValue()).as(changed.text()).isEqualTo("22:00");
        assertThat(api.send("GET", own, null, "Authorization", pat).json().get("digest_minutes").intValue())
                .isEqualTo(5);
        assertThat(change(own, pat, "{\"quiet_until\": null}").text()).contains("REQUIRED");
        assertThat(change(own, pat, "{\"url\": \"http://x.example\"}").text()).contains("UNKNOWN_KEY");
        assertThat(api.get(own).status()).as("of another person").isEqualTo(404);
        assertThat(api.send("DELETE", own, null, "Authorization", pat).text()).contains("RECEIVER_OF_WORKSPACE");
        assertThat(api.post("/api/v1/notifications", "{}", "Authorization", pat).text())
                .contains("NO_VERIFIED_ADDRESS");
        assertThat(api.post(own + "/ping", "{}", "Authorization", pat).status()).isEqualTo(200);
        change(own, pat, "{\"enabled\": false}");
        assertThat(api.post(own + "/ping", "{}", "Authorization", pat).text()).contains("WEBHOOK_DISABLED");
    }

    @Test
    void personSendsFewTestsAMinute() {
        String busy = "Bearer " + key("busy", "[\"runs:read\"]").get("key").stringValue();
        String calm = "Bearer " + key("calm", "[\"runs:read\"]").get("key").stringValue();
        List<String> two = List.of(pathOfReceiver("busy"), pathOfReceiver("busy"));
        List<ApiServer.Answer> answers = IntStream.range(0, 8)
                .mapToObj(i -> api.post(two.get(i % 2) + "/ping", "{}", "Authorization", busy)).toList();
        assertThat(answers.subList(0, 5)).allMatch(answer -> answer.status() == 200);
        ApiServer.Answer refused = answers.stream().filter(each -> each.status() == 429).findFirst().orElseThrow();
        assertThat(refused.json().get("code").stringValue()).isEqualTo("REQUEST_LIMIT_REACHED");
        assertThat(Integer.parseInt(refused.header("Retry-After"))).isBetween(1, 12);
        assertThat(api.post(pathOfReceiver("calm") + "/ping", "{}", "Authorization", calm).status()).isEqualTo(200);
    }

    private String pathOfReceiver(String person) {
        return "/api/v1/notifications/"
                + create(", \"format\": \"slack\", \"recipient\": \"" + person + "\"").get("id").stringValue();
    }

    private static ApiServer.Answer change(String path, String holder, String body) {
        return api.send("PATCH", path, body.getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json",
                "Authorization", holder);
    }

    @Test
    void ruleAboutApprovalsIsReadAndSet() {
        ApiServer.Answer before = api.get("/api/v1/approval-rule");
        assertThat(before.json().get("required_four_eyes").booleanValue()).as("by the setting").isTrue();
        ApiServer.Answer set = changeRule("{\"approvals\": 2, \"four_eyes\": true}", "If-Match", before.header("ETag"));
        assertThat(set.json().get("required_approvals").intValue()).isEqualTo(2);
        assertThat(changeRule("{\"approvals\": 3}", "If-Match", before.header("ETag")).status()).isEqualTo(412);
        JsonNode one = changeRule("{\"approvals\": 1}").json();
        assertThat(one.get("approvals").intValue()).isOne();
        assertThat(one.get("four_eyes").booleanValue()).as("an absent member stays").isTrue();
        changeRule("{\"approvals\": 2}");
        JsonNode free = changeRule("{\"four_eyes\": false}").json();
        assertThat(free.get("four_eyes").booleanValue()).isFalse();
        assertThat(free.get("approvals").intValue()).as("an absent member stays").isEqualTo(2);
        changeRule("{\"approvals\": 1}");
    }

    private static ApiServer.Answer changeRule(String body, String... headers) {
        return api.send("PATCH", "/api/v1/approval-rule", body.getBytes(StandardCharsets.UTF_8),
                Stream.concat(Stream.of("Content-Type", "application/json"), Stream.of(headers))
                        .toArray(String[]::new));
    }

    @Test
    void digestGathersMessagesInOne() {
        JsonNode webhook = create(", \"format\": \"slack\", \"digest_minutes\": 60, \"events\": [\"run.completed\"]");
        String path = "/api/v1/webhooks/" + webhook.get("id").stringValue();
        String good =
                "{\"name\": \"good\", \"start\": true, \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [{\"tool\": \"noop\"}]}]}}";
        for (int i = 0; i < 3; i++) {
            api.awaitState(api.create(good), "completed");
        }
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.get(path).json().get("pending").longValue() == 3);
        assertThat(receiver.got()).isEmpty();
        api.sql("update webhook_deliveries set created_at = created_at - interval '61 minutes'");
        api.send("PATCH", path, "{\"digest_minutes\": 60}".getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");

        JsonNode message = awaitMessage(1);
        assertThat(message.get("text").stringValue()).isEqualTo("3 notifications of Keelson");
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.get(path).json().get("pending").longValue() == 0);
        assertThat(receiver.got()).hasSize(1);
    }
}
