package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.ServerLog;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** Secrets over HTTP: who may name them where, and that they are written down nowhere. */
@Breadth.Spread
@ResourceLock("log")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecretApiTest {

    private static final String API = "/api/v1";
    private static final String CANARY = "canary-7c1f-\"quoted\"-é";

    private Path folder;

    private ApiServer api;
    private ServerLog log;

    @BeforeAll
    void start(@TempDir Path own) throws Exception {
        folder = own;
        log = ServerLog.into(own.resolve("server.log"));
        api = new ApiServer(own.resolve("data"), TestDatabase.createUrl(), Map.of("KEELSON_ALLOWED_PROGRAMS", "git,cat",
                "KEELSON_ALLOWED_FOLDERS", Files.createDirectory(own.resolve("work")).toString()));
        assertThat(set("token", CANARY).status()).isEqualTo(200);
    }

    @AfterAll
    void stop() {
        api.close();
        log.close();
    }

    private Answer set(String name, String value, String... headers) {
        List<String> all = new ArrayList<>(List.of("Content-Type", "application/json"));
        all.addAll(List.of(headers));
        return api.send("PUT", API + "/secrets/" + name, Json.write(Json.object().put("value", value)),
                all.toArray(String[]::new));
    }

    private String run(String steps) {
        Answer made = api.post(API + "/runs", """
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "t", "title": "T", "steps": [%s]}]}}"""
                .formatted(steps));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json().get("id").stringValue();
    }

    @Test
    void theRecordedInputShowsNoSecret() throws Exception {
        String run = run("{\"tool\": \"echo\", \"input\": {\"header\": \"Bearer ${ secret(\\\"token\\\") }\"}}");
        api.awaitState(run, "completed");
        JsonNode attempts = api.get(API + "/steps/" + step(run).get("id").stringValue() + "/attempts").json();
        assertThat(attempts.get("items").get(0).get("input").toString())
                .isEqualTo("{\"header\":\"Bearer [secret]\"}");
    }

    private JsonNode step(String run) {
        return api.get(API + "/runs/" + run + "/steps").json().get("items").get(0);
    }

    @Test
    void aSecretIsListedWithoutItsValue() {
        assertThat(set("other", "first").json().get("version").intValue()).isEqualTo(1);
        Answer again = set("other", "second");
        assertThat(again.json().get("version").intValue()).isEqualTo(2);

        Answer list = api.get(API + "/secrets");
        assertThat(list.json().get("items").valueStream().map(each -> each.get("name").stringValue()))
                .contains("other", "token");
        assertThat(list.text() + again.text()).doesNotContain("second").doesNotContain("canary");
        assertThat(api.send("DELETE", API + "/secrets/other", null).status()).isEqualTo(204);
        assertThat(api.send("DELETE", API + "/secrets/other", null).json().get("code").stringValue())
                .isEqualTo("SECRET_NOT_FOUND");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "a%20b   | {\"value\": \"long enough\"}            | INVALID_ID",
            "name    | {}                                      | REQUIRED",
            "name    | {\"value\": \"abc\"}                    | TOO_SHORT",
            "name    | {\"value\": 12345}                      | WRONG_TYPE",
            "name    | {\"value\": \"a\\u0000bc\"}             | INVALID_TEXT",
            "name    | {\"value\": \"long enough\", \"x\": 1}  | UNKNOWN_KEY"})
    void invalidSecretIsRefused(String name, String body, String code) {
        Answer answer = api.send("PUT", API + "/secrets/" + name, body.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");

        assertThat(answer.status()).as(answer.text()).isBetween(400, 422);
        assertThat(answer.json().get("code").stringValue()).isEqualTo(code);
    }

    @Test
    void toolGetsTheValueAndNoReaderDoes() {
        String run = run("""
                {"name": "len", "tool": "json.transform", "input": {"expression": "{n: (.v | length), v: .v}",
                  "input": {"v": "${ secret(\\"token\\") }"}}}""");
        api.awaitState(run, "completed");

        assertThat(step(run).get("output").toString()).contains("\"n\":" + CANARY.length()).contains("[secret]")
                .doesNotContain("canary");
    }

    @Test
    void unknownSecretFailsTheStepWithItsName() {
        String run = run("{\"name\": \"e\", \"tool\": \"echo\", \"input\": {\"v\": \"${ secret(\\\"ghost\\\") }\"}}");
        api.awaitState(run, "failed");

        assertThat(step(run).get("error_code").stringValue()).isEqualTo("SECRET_NOT_FOUND");
        assertThat(step(run).get("error_message").stringValue()).contains("keelson secrets set ghost");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            "/plan/tasks/0/when            | \"when\": \"${ secret(\\\"token\\\") == 1 }\"",
            "/plan/tasks/0/for_each        | \"for_each\": \"${ [secret(\\\"token\\\")] }\"",
            "/plan/tasks/0/verify/0/expres | \"verify\": [{\"kind\": \"jq\", \"expression\": \"secret(\\\"token\\\")\"}]",
            "/plan/tasks/0/output          | \"output\": {\"x\": \"${ [secret(\\\"token\\\")] }\"}"})
    void onlyAToolMayNameOne(String pointer, String member) {
        Answer answer = api.post(API + "/runs",
                """
                {"name": "n", "plan": {"tasks": [{"id": "t", "title": "T", %s, "steps": [{"name": "s", "tool": "noop"}]}]}}"""
                        .formatted(member));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("SECRET_NOT_ALLOWED");
        assertThat(answer.json().get("pointer").stringValue()).startsWith(pointer);
    }

    /** The engine quotes what an expression failed over and cuts it: its head is no less a part of the secret. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            "echo           | {\"v\": \"${ secret(\\\"token\\\") + 1 }\"}",
            "echo           | {\"v\": \"${ error({a: secret(\\\"token\\\")}) }\"}",
            "json.transform | {\"expression\": \".v + 1\", \"input\": {\"v\": \"${ secret(\\\"token\\\") }\"}}"})
    void aFailureDoesNotShowAHead(String tool, String input) {
        String run = run("{\"name\": \"e\", \"tool\": \"" + tool + "\", \"input\": " + input + "}");
        api.awaitState(run, "failed");

        assertThat(step(run).get("error_code").stringValue()).isEqualTo("EXPRESSION_FAILED");
        assertThat(step(run).get("error_message").stringValue()).doesNotContain("cana").contains("secret");
    }

    @Test
    void programOutputIsRedactedBeforeItIsCut() {
        String run = run("""
                {"name": "p", "tool": "process.run", "input": {"argv": ["cat"], "max_output_bytes": 20,
                  "stdin": "0123456789 ${ secret(\\"token\\") } and more"}}""".replace("\\\\", "\\"));
        api.awaitState(run, "completed");

        assertThat(step(run).at("/output/stdout").stringValue()).isEqualTo("0123456789 [secret] ");
        assertThat(step(run).at("/output/stdout_truncated").booleanValue()).isTrue();
        String failed = run("""
                {"name": "p", "tool": "process.run", "input": {"argv": ["cat"], "max_output_bytes": 20, "parse": "json",
                  "allow_exit_codes": [9], "stdin": "0123456789 ${ secret(\\"token\\") }"},
                  "retry": {"max_attempts": 1}}""".replace("\\\\", "\\"));
        api.awaitState(failed, "failed");
        assertThat(step(failed).get("error_message").stringValue()).isEqualTo("cat ended with exit code 0: ");
    }

    /** Messages of workers are cut at 4,000 characters; what was in the way of the cut is redaction whole. */
    @Test
    void workerTextIsRedactedBeforeItIsCut() {
        String claim = "{\"worker_id\": \"w\", \"tools\": [\"long.work\"], \"max\": 1, \"wait_ms\": 10000}";
        assertThat(api.post(API + "/dispatch/claim", claim.replace("10000", "0")).status()).isEqualTo(200);
        run("{\"name\": \"l\", \"tool\": \"long.work\", \"input\": {\"v\": \"${ secret(\\\"token\\\") }\"}}");
        JsonNode item = claimed(claim);
        String lease = "\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": " + item.get("lease_epoch");
        String said = Json.object().put("x", "z".repeat(3_990) + CANARY).get("x").toString();
        ok("heartbeat", lease + ", \"progress\": {\"message\": " + said + "}, \"logs\": [" + said + "]");
        ok("fail", lease + ", \"error_code\": \"X\", \"message\": " + said + ", \"error_class\": \"permanent\"");

        assertThat(api.rowCounts().keySet()).noneMatch(table -> contains(table, "zzzzca"))
                .anyMatch(table -> contains(table, "zzzz[secret]"));
    }

    @Test
    void dataNeverChoosesWhatIsOpened() {
        Answer answer = api.post(API + "/runs",
                """
                {"name": "n", "inputs": {"which": {"type": "string", "default": "token"}}, "plan": {"tasks": [{"id": "t",
                  "title": "T", "steps": [{"name": "s", "tool": "echo", "input": {"v": "${ secret(.inputs.which) }"}}]}]}}""");

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("EXPRESSION_SYNTAX");
    }

    @Test
    void anotherWorkspaceHasItsOwn() {
        UUID elsewhere = UUID.randomUUID();
        api.sql("insert into workspaces (id, name) values ('" + elsewhere + "', 'elsewhere')");
        String stranger = api.bearer(elsewhere, EnumSet.of(Scope.ADMIN));

        assertThat(api.get(API + "/secrets", "Authorization", stranger).json().get("items").isEmpty()).isTrue();
        assertThat(api.send("DELETE", API + "/secrets/token", null, "Authorization", stranger).status())
                .isEqualTo(404);
        assertThat(set("token", "their own", "Authorization", stranger).json().get("version").intValue()).isEqualTo(1);
    }

    /** Tools and workers try to reveal the secret in outputs, errors, logs, artifacts and messages. */
    @Test
    void secretIsStoredNowhere() throws IOException {
        String secret = "${ secret(\\\"token\\\") }";
        List<String> runs = List.of(
                run("{\"name\": \"a\", \"tool\": \"echo\", \"input\": {\"v\": \"Bearer " + secret
                        + "\", \"b\": \"${ secret("
                        + "\\\"token\\\") | @base64 }\", \"u\": \"${ secret(\\\"token\\\") | @uri }\"}}"),
                run("{\"name\": \"b\", \"tool\": \"fail\", \"input\": {\"code\": \"X\", \"message\": \"" + secret
                        + "\", \"class\": \"permanent\"}}"),
                run("{\"name\": \"c\", \"tool\": \"artifact.write\", \"input\": {\"name\": \"a.txt\", \"content\": \"x "
                        + secret + " y\"}}"),
                run("{\"name\": \"d\", \"tool\": \"echo\", \"input\": {\"v\": \"${ secret(\\\"token\\\") | tonumber }\"}}"),
                run("{\"name\": \"e\", \"tool\": \"process.run\", \"input\": {\"argv\": [\"git\", \"--" + secret
                        + "\"]}}"));
        api.awaitState(runs.get(0), "completed");
        api.awaitState(runs.get(1), "failed");
        api.awaitState(runs.get(2), "completed");
        api.awaitState(runs.get(3), "failed");
        Awaitility.await().until(() -> api.run(runs.get(4)).get("state_type").stringValue().equals("terminal"));
        worker(secret);

        LoggerFactory.getLogger("io.keelson.server").debug("the log is read, too");
        assertThat(folder.resolve("server.log")).content().contains("the log is read, too");
        assertThat(leaks()).isEmpty();
    }

    private void worker(String secret) {
        String tool = "canary.work";
        String claim = "{\"worker_id\": \"w\", \"tools\": [\"" + tool + "\"], \"max\": 1, \"wait_ms\": 10000}";
        assertThat(api.post(API + "/dispatch/claim", claim.replace("10000", "0")).status()).isEqualTo(200);
        String retried = ", \"retry\": {\"max_attempts\": 3, \"base_delay_seconds\": 0.01}";
        run("{\"name\": \"w\", \"tool\": \"" + tool + "\", \"input\": {\"v\": \"" + secret + "\"}" + retried + "}");
        JsonNode item = claimed(claim);
        assertThat(item.at("/input/v").stringValue()).isEqualTo(CANARY);
        String leaked = Json.object().put("x", CANARY).get("x").toString();
        String lease = "\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": " + item.get("lease_epoch");
        ok("heartbeat",
                lease + ", \"progress\": {\"message\": " + leaked + "}, \"details\": {\"d\": " + leaked
                        + "}, \"logs\": [" + leaked
                        + "]");
        ok("fail", lease + ", \"error_code\": \"X\", \"message\": " + leaked + ", \"error_class\": \"infrastructure\"");
        item = claimed(claim);
        lease = "\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": " + item.get("lease_epoch");
        String content = Base64.getEncoder().encodeToString(("a " + CANARY + " b").getBytes(StandardCharsets.UTF_8));
        ok("complete", lease + ", \"output\": {\"o\": " + leaked + "}, \"artifacts\": [{\"name\": \"b.txt\","
                + " \"content_type\": \"text/plain\", \"content_base64\": \"" + content + "\"}]");
    }

    /** A worker's report is redacted of the values it received, even after the secret was changed or deleted. */
    @Test
    void deletedSecretIsRedactedForItsWorker() {
        String claim = "{\"worker_id\": \"w\", \"tools\": [\"held.work\"], \"max\": 1, \"wait_ms\": 10000}";
        assertThat(api.post(API + "/dispatch/claim", claim.replace("10000", "0")).status()).isEqualTo(200);
        for (boolean removed : new boolean[] {true, false}) {
            set("held", "what-was-given");
            String run = run(
                    "{\"name\": \"h\", \"tool\": \"held.work\", \"input\": {\"v\": \"${ secret(\\\"held\\\") }\"}}");
            JsonNode item = claimed(claim);
            if (removed) {
                api.send("DELETE", API + "/secrets/held", null);
            } else {
                set("held", "the-second");
                set("held", "the-third");
            }
            ok("complete", "\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": " + item.get("lease_epoch")
                    + ", \"output\": {\"o\": " + item.at("/input/v") + "}");
            assertThat(step(run).at("/output/o").stringValue()).isEqualTo("[secret]");
        }
    }

    private JsonNode claimed(String claim) {
        Answer answer = api.post(API + "/dispatch/claim", claim);
        assertThat(answer.json().get("items").isEmpty()).as(answer.text()).isFalse();
        return answer.json().get("items").get(0);
    }

    private void ok(String route, String item) {
        Answer answer = api.post(API + "/dispatch/" + route, "{\"worker_id\": \"w\", \"items\": [{" + item + "}]}");
        assertThat(answer.json().at("/items/0/status").asString("")).as(answer.text()).isEqualTo("ok");
    }

    /** Finds all tables and all files below the data folder that contain the canary, in clear or encoded. */
    private List<String> leaks() throws IOException {
        byte[] bytes = CANARY.getBytes(StandardCharsets.UTF_8);
        List<String> forms =
                List.of("canary-7c1f", HexFormat.of().formatHex("canary-7c1f".getBytes(StandardCharsets.UTF_8)),
                        Base64.getEncoder().encodeToString(bytes));
        List<String> found = new ArrayList<>();
        api.rowCounts().keySet().forEach(table -> forms.forEach(form -> {
            if (contains(table, form)) {
                found.add(table + ": " + form);
            }
        }));
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(Files::isRegularFile).filter(file -> text(file).contains("canary-7c1f"))
                    .forEach(file -> found.add(file.toString()));
        }
        return found;
    }

    private boolean contains(String table, String form) {
        return api.database().withConnection(c -> {
            try (Statement statement = c.createStatement();
                    ResultSet row = statement.executeQuery(
                            "select exists (select from " + table + " t where t::text like '%" + form + "%')")) {
                return row.next() && row.getBoolean(1);
            }
        });
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
