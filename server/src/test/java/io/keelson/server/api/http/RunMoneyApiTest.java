package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What a run did with its credits, as its documents, its ledger, the usage and the audit tell it. */
@Breadth.Spread
class RunMoneyApiTest {

    private static final String COSTS =
            """
            {"name": "costs", "start": true, "plan": {"total_estimated_cost": 2, "tasks": [
                {"id": "a", "steps": [{"name": "one", "tool": "noop", "input": {"cost": 0.4, "tokens": 100}}]},
                {"id": "b", "depends_on": ["a"], "steps": [{"name": "two", "tool": "noop", "input": {"cost": 0.7}}]}]}}""";

    private ApiServer api;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void reservedChargedAndRefundedAreTheRuns() {
        String id = api.create(COSTS);
        JsonNode run = api.awaitState(id, "completed");

        assertThat(figures(run)).containsExactly("2", "1.1", "0.9");
        JsonNode attempt = api.get("/api/v1/runs/" + id + "/attempts").json().at("/items/0");
        assertThat(figures(attempt)).containsExactly("2", "1.1", "0.9");
        assertThat(attempt.get("credits_uncollected").decimalValue()).isZero();
        assertThat(api.get("/api/v1/runs/" + id + "/ledger").json().get("items").valueStream()
                .map(e -> e.get("transaction_type").stringValue() + " " + e.get("amount").decimalValue().toPlainString()
                        + " " + e.get("tool").asString("")))
                .containsExactly("reserve 2 ", "charge 0.4 noop", "charge 0.7 noop", "refund 0.9 ");
        JsonNode credits = api.get("/api/v1/credits").json();
        assertThat(List.of(amount(credits, "available"), amount(credits, "reserved"), amount(credits, "spent")))
                .containsExactly("998.9", "0", "1.1");
        JsonNode usage = api.get("/api/v1/usage?by=tool").json();
        assertThat(usage.at("/items/0/tool").stringValue()).isEqualTo("noop");
        assertThat(usage.at("/total/credits").decimalValue()).isEqualByComparingTo("1.1");
        assertThat(usage.at("/total/tokens").longValue()).isEqualTo(100);
        assertBooksAreRight();
    }

    @Test
    void anOpenAttemptShowsWhatItHas() {
        String id = api.create("""
                {"name": "waits", "start": true, "plan": {"tasks": [{"id": "ask", "steps": [
                  {"name": "work", "tool": "noop", "input": {"cost": 0.25}},
                  {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""");
        api.awaitStep(id, "waiting_approval");

        assertThat(figures(api.run(id))).containsExactly("1", "0.25", "0");
        assertThat(figures(api.get("/api/v1/runs/" + id + "/attempts").json().at("/items/0")))
                .containsExactly("1", "0.25", "0");
        assertThat(amount(api.get("/api/v1/credits").json(), "reserved")).isEqualTo("1");
        assertBooksAreRight();

        api.post("/api/v1/runs/" + id + "/cancel", "{}");
        assertThat(figures(api.awaitState(id, "cancelled"))).containsExactly("1", "0.25", "0.75");
        assertBooksAreRight();
    }

    /** Its row is not written for every step; what it shows is right all the same. */
    @Test
    void aTaskShowsWhatItsStepsHaveUsedSoFar() {
        String id = api.create("""
                {"name": "waits", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "noop", "input": {"cost": 0.25, "tokens": 7}},
                  {"tool": "noop", "input": {"cost": 0.5, "tokens": 5}},
                  {"tool": "wait", "input": {"seconds": 3600}}]}]}}""");
        api.awaitStep(id, "waiting");
        JsonNode open = api.get("/api/v1/runs/" + id + "/tasks").json().at("/items/0");
        assertThat(List.of(amount(open, "cost"), amount(open, "tokens_used"))).containsExactly("0.75", "12");
        assertThat(api.get("/api/v1/tasks/" + open.get("id").stringValue()).json().get("cost")).isEqualTo(
                open.get("cost"));

        api.post("/api/v1/runs/" + id + "/cancel", "{}");
        api.awaitState(id, "cancelled");
        JsonNode ended = api.get("/api/v1/runs/" + id + "/tasks").json().at("/items/0");
        assertThat(List.of(amount(ended, "cost"), amount(ended, "tokens_used"))).containsExactly("0.75", "12");
    }

    /** A retry is a further attempt with an account of its own; the run's figures are the sums. */
    @Test
    void everyAttemptHasItsFigures() {
        String id = api.create("""
                {"name": "fails", "start": true, "plan": {"tasks": [{"id": "bad", "steps": [
                  {"name": "work", "tool": "noop", "input": {"cost": 0.5}},
                  {"tool": "fail", "input": {"code": "NO_LUCK", "class": "permanent", "message": "none"}}]}]}}""");
        api.awaitState(id, "failed");
        api.post("/api/v1/runs/" + id + "/retry", "{\"from\": \"start\"}");
        JsonNode run = api.awaitState(id, "failed");

        assertThat(run.get("attempt_number").intValue()).isEqualTo(2);
        assertThat(figures(run)).containsExactly("2", "1", "1");
        assertThat(api.get("/api/v1/runs/" + id + "/attempts").json().get("items").valueStream()
                .map(RunMoneyApiTest::figures)).containsExactly(List.of("1", "0.5", "0.5"), List.of("1", "0.5", "0.5"));
        assertBooksAreRight();
    }

    /** A refused or truncated answer is billed by its provider, and so is the next one. */
    @Test
    void failedTryIsChargedOnceByItsUsage() {
        api.send("PUT", "/api/v1/prices", """
                {"items": [{"kind": "model", "name": "m", "usd_per_million_tokens":
                  {"input": 3, "cache_read": 0.3, "cache_write": 3.75, "output": 15}}]}""".getBytes(
                StandardCharsets.UTF_8), "Content-Type", "application/json");
        String id = api.create("""
                {"name": "refused", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "fail", "input":
                  {"code": "MODEL_REFUSED", "class": "quality", "times": 1, "model": "m",
                   "usage": {"input": 1000, "cache_read": 10000, "cache_write": 100, "output": 50}}}]}]}}""");
        JsonNode run = api.awaitState(id, "completed");

        assertThat(amount(run, "total_cost")).isEqualTo("0.01425");
        assertThat(run.at("/usage/cache_read").longValue()).isEqualTo(20_000);
        assertThat(api.get("/api/v1/runs/" + id + "/ledger").json().get("items").valueStream()
                .filter(row -> row.get("transaction_type").stringValue().equals("charge"))
                .map(row -> amount(row, "amount") + " " + row.get("model").stringValue() + " "
                        + row.get("price_version")
                        + " " + row.at("/usage/input") + " " + row.at("/usage/cache_read") + " "
                        + row.at("/usage/cache_write") + " " + row.at("/usage/output")))
                .containsExactly("0.007125 m 1 1000 10000 100 50", "0.007125 m 1 1000 10000 100 50");
        assertThat(api.get("/api/v1/usage?by=model").json().at("/items/0/usage").toString())
                .isEqualTo("{\"input\":2000,\"cache_read\":20000,\"cache_write\":200,\"output\":100,\"reasoning\":0}");
        JsonNode events = api.get("/api/v1/runs/" + id + "/events").json().get("items");
        assertThat(events.valueStream().filter(e -> e.get("event_type").stringValue().equals("cost_snapshot"))
                .map(e -> e.at("/payload/usage/output").longValue())).containsExactly(100L);
        assertBooksAreRight();
    }

    /** A tool that reports nothing costs its price, and the row says by which list. */
    @Test
    void aPriceIsChargedWithItsVersion() {
        ApiServer.Answer set = api.send("PUT", "/api/v1/prices", """
                {"items": [{"kind": "tool", "name": "echo", "usd_per_call": 0.000001}]}""".getBytes(
                StandardCharsets.UTF_8), "Content-Type", "application/json");
        assertThat(set.status()).isEqualTo(200);
        String id = api.create("""
                {"name": "priced", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "echo", "input": {"value": 1}}]}]}}""");
        api.awaitState(id, "completed");

        JsonNode charge = api.get("/api/v1/runs/" + id + "/ledger").json().get("items").valueStream()
                .filter(e -> e.get("transaction_type").stringValue().equals("charge")).findFirst().orElseThrow();
        assertThat(charge.get("amount").decimalValue()).isEqualByComparingTo("0.000001");
        assertThat(charge.get("price_version").intValue()).isEqualTo(set.json().get("version").intValue());
    }

    /**
     * Ten calls of 0.0000003 cost 0.000003, and the run is charged that: no call is charged nothing because it is small. The
     * costs of steps and tasks add up to that of the run.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', value = {
            "{'kind': 'tool', 'name': 'noop', 'usd_per_call': 0.0000003} | {}",
            "{'kind': 'model', 'name': 'm', 'usd_per_million_tokens': {'input': 0.3, 'output': 0.9}}"
                    + " | {'model': 'm', 'usage': {'input': 1, 'output': 0}}",
            "{'kind': 'tool', 'name': 'echo', 'usd_per_call': 1} | {'cost': 0.0000003}"})
    void callsBelowWhatCanBeChargedAddUp(String price, String input) {
        assertThat(api.send("PUT", "/api/v1/prices", ("{\"items\": [" + price.replace('\'', '"') + "]}").getBytes(
                StandardCharsets.UTF_8), "Content-Type", "application/json").status()).isEqualTo(200);
        String step = "{\"tool\": \"noop\", \"input\": " + input.replace('\'', '"') + "}";
        String steps = String.join(", ", Collections.nCopies(5, step));
        String id = api
                .create("""
                {"name": "small", "start": true, "config": {"budget": {"hard_limit_usd": 0.000003}}, "plan": {"tasks": [
                  {"id": "a", "steps": [%s]}, {"id": "b", "depends_on": ["a"], "budget_usd": 0.000002, "steps": [%s]}]}}"""
                        .formatted(steps, steps));
        JsonNode run = api.awaitState(id, "completed");

        assertThat(amount(run, "total_cost")).isEqualTo("0.000003");
        assertThat(figures(run)).containsExactly("0.000003", "0.000003", "0");
        assertThat(run.at("/task_budgets/0/used").decimalValue()).isEqualByComparingTo("0.0000015");
        assertThat(api.get("/api/v1/runs/" + id + "/tasks").json().get("items").valueStream()
                .map(task -> amount(task, "cost"))).containsExactly("0.0000015", "0.0000015");
        assertThat(api.get("/api/v1/runs/" + id + "/steps").json().get("items").valueStream()
                .map(each -> amount(each, "cost"))).hasSize(10).containsOnly("0.0000003");
        assertThat(api.get("/api/v1/runs/" + id + "/ledger").json().get("items").valueStream()
                .filter(row -> row.get("transaction_type").stringValue().equals("charge"))
                .map(row -> amount(row, "amount") + " of " + amount(row, "cost"))
                .collect(Collectors.groupingBy(row -> row, Collectors.counting())))
                .isEqualTo(Map.of("0 of 0.0000003", 7L, "0.000001 of 0.0000003", 3L));
        assertThat(amount(api.get("/api/v1/usage").json().get("total"), "credits")).isEqualTo("0.000003");
        assertThat(amount(api.get("/api/v1/credits").json(), "spent")).isEqualTo("0.000003");
        Invariants.hold(api.database());
        assertBooksAreRight();
    }

    /** Runs of all kinds at once, with concurrent grants, corrections and verifications. */
    @Test
    void ledgerIsConsistentAtAnyMoment() {
        Random random = new Random(7);
        List<String> runs = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            String cost = new BigDecimal(random.nextInt(3_000_000)).movePointLeft(6).toPlainString();
            String finer = cost + (i % 2 == 0 ? "" : "4" + random.nextInt(100_000));
            runs.add(api.create("""
                    {"name": "r", "start": true, "config": {"budget": {"hard_limit_usd": 2}}, "plan": {"tasks": [
                      {"id": "a", "steps": [{"tool": "noop", "input": {"cost": %s}}, {"tool": "noop",
                        "input": {"cost": %s}}]}]}}""".formatted(finer, finer)));
            api.post("/api/v1/credits/grants", "{\"amount\": " + cost + "1}");
            if (i % 4 == 0) {
                api.post("/api/v1/runs/" + runs.get(random.nextInt(runs.size())) + "/cancel", "{}");
            }
            assertBooksAreRight();
        }
    }

    private void assertBooksAreRight() {
        JsonNode report = api.get("/api/v1/ledger/verify?all=true").json();
        assertThat(report.get("ok").booleanValue()).as(report.toString()).isTrue();
    }

    private static List<String> figures(JsonNode document) {
        return List.of(amount(document, "credits_reserved"), amount(document, "credits_charged"),
                amount(document, "credits_refunded"));
    }

    private static String amount(JsonNode document, String name) {
        return document.get(name).decimalValue().toPlainString();
    }
}
