package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

@Breadth.Spread
class MoneyApiTest {

    private static final String CREDITS = "/api/v1/credits";
    private static final String GRANTS = CREDITS + "/grants";
    private static final String LEDGER = "/api/v1/ledger";
    private static final String ADJUSTMENTS = LEDGER + "/adjustments";
    private static final String PRICES = "/api/v1/prices";

    private static ApiServer api;

    private BigDecimal before;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @BeforeEach
    void look() {
        before = available();
    }

    @Test
    void aGrantIsAnEntryOfTheLedgerAndAvailable() {
        ApiServer.Answer answer = api.post(GRANTS, "{\"amount\": \"0.000001\", \"reason\": \"=1+1\"}");

        assertThat(answer.status()).isEqualTo(201);
        JsonNode entry = answer.json();
        assertThat(entry.get("transaction_type").stringValue()).isEqualTo("grant");
        assertThat(entry.get("debit_account").stringValue()).isEqualTo("funding");
        assertThat(entry.get("credit_account").stringValue()).isEqualTo("available");
        assertThat(entry.get("actor_type").stringValue()).isEqualTo("human");
        assertThat(answer.text()).contains("\"amount\":0.000001,");
        assertThat(available()).isEqualByComparingTo(before.add(new BigDecimal("0.000001")));
        assertThat(api.get(LEDGER + "?limit=1").json().get("items").get(0)).isEqualTo(entry);
    }

    @Test
    void amountsAreExactInAllNotations() {
        for (String amount : List.of("0.1", "\"0.1\"", "1e-1", "0.10000000000000000000", "12345.678901")) {
            BigDecimal had = available();
            assertThat(api.post(GRANTS, "{\"amount\": " + amount + "}").status()).as(amount).isEqualTo(201);
            assertThat(available().subtract(had))
                    .isEqualByComparingTo(new BigDecimal(amount.replace("\"", "")));
        }
    }

    @Test
    void theSameKeyTwiceIsOneGrant() {
        String body = "{\"amount\": 5, \"reason\": \"monthly\"}";
        ApiServer.Answer first = api.post(GRANTS, body, "Idempotency-Key", "month-1");
        ApiServer.Answer again = api.post(GRANTS, "{\"reason\": \"monthly\", \"amount\": 5.00}", "Idempotency-Key",
                "month-1");
        ApiServer.Answer other = api.post(GRANTS, "{\"amount\": 6}", "Idempotency-Key", "month-1");

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.header("Idempotent-Replayed")).isEmpty();
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
        assertThat(again.json()).isEqualTo(first.json());
        assertThat(other.status()).isEqualTo(422);
        assertThat(other.json().get("code").stringValue()).isEqualTo("IDEMPOTENCY_KEY_CONFLICT");
        assertThat(available()).isEqualByComparingTo(before.add(new BigDecimal("5")));
    }

    /** Requests are remembered for a day; the ledger remembers for good. */
    @Test
    void aKeyIsUsedForGood() {
        String body = "{\"amount\": 5}";
        JsonNode first = api.post(GRANTS, body, "Idempotency-Key", "once").json();
        execute(api, "delete from idempotency_cache");

        ApiServer.Answer again = api.post(GRANTS, body, "Idempotency-Key", "once");
        ApiServer.Answer other = api.post(GRANTS, "{\"amount\": 7}", "Idempotency-Key", "once");

        assertThat(again.status()).isEqualTo(200);
        assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
        assertThat(again.json()).isEqualTo(first);
        assertThat(other.json().get("code").stringValue()).isEqualTo("IDEMPOTENCY_KEY_CONFLICT");
        assertThat(available()).isEqualByComparingTo(before.add(new BigDecimal("5")));
    }

    @Test
    void aCorrectionHasAReasonAndNeverTakesMoreThanThereIs() {
        ApiServer.Answer done = api.post(ADJUSTMENTS, """
                {"amount": 1, "debit_account": "funding", "credit_account": "available", "reason": "as agreed"}""");
        ApiServer.Answer refused = api.post(ADJUSTMENTS, """
                {"amount": 1000000000, "debit_account": "available", "credit_account": "funding", "reason": "all"}""");
        ApiServer.Answer unspent = api.post(ADJUSTMENTS, """
                {"amount": 1, "debit_account": "spent", "credit_account": "available", "reason": "never spent"}""");

        assertThat(done.status()).isEqualTo(201);
        assertThat(done.json().get("reason").stringValue()).isEqualTo("as agreed");
        assertThat(refused.status()).isEqualTo(402);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("INSUFFICIENT_CREDITS");
        assertThat(unspent.status()).isEqualTo(409);
        assertThat(unspent.json().get("account").stringValue()).isEqualTo("spent");
    }

    @Test
    void theLedgerIsReadInPages() {
        for (int i = 0; i < 5; i++) {
            api.post(GRANTS, "{\"amount\": 1, \"reason\": \"page " + i + "\"}");
        }
        List<JsonNode> all = new ArrayList<>();
        String cursor = "";
        do {
            JsonNode page = api.get(LEDGER + "?type=grant&limit=2" + cursor).json();
            page.get("items").forEach(all::add);
            cursor = page.get("next_cursor").isNull() ? "" : "&cursor=" + page.get("next_cursor").stringValue();
        } while (!cursor.isEmpty());

        assertThat(all).extracting(entry -> entry.get("id").longValue()).doesNotHaveDuplicates()
                .isSortedAccordingTo((a, b) -> Long.compare(b, a)).hasSizeGreaterThanOrEqualTo(5);
        assertThat(all).filteredOn(entry -> entry.path("reason").asString("").startsWith("page ")).hasSize(5);
        assertThat(api.get(LEDGER + "?to=2020-01-01").json().get("items").size()).isZero();
        assertThat(api.get(LEDGER + "?from=2020-01-01&limit=500").json().get("items").size())
                .isEqualTo(api.get(LEDGER + "?limit=500").json().get("items").size());
    }

    @Test
    void asCsvItIsWholeAndHarmless() {
        api.post(GRANTS, "{\"amount\": 1.50, \"reason\": \"=cmd|' /C calc'!A0\"}");
        api.post(GRANTS, "{\"amount\": 2, \"reason\": \"said \\\"yes\\\", twice\\nand left\"}");

        ApiServer.Answer byHeader = api.get(LEDGER, "Accept", "text/csv");
        ApiServer.Answer byQuery = api.get(LEDGER + "?format=csv&type=grant");

        assertThat(byHeader.header("Content-Type")).isEqualTo("text/csv; charset=utf-8");
        assertThat(byHeader.header("Content-Disposition")).isEqualTo("attachment; filename=\"ledger.csv\"");
        assertThat(byHeader.text()).startsWith("id,created_at,transaction_type,amount,")
                .contains(",grant,1.5,,funding,available,", ",'=cmd|' /C calc'!A0,",
                        ",\"said \"\"yes\"\", twice\nand left\",");
        assertThat(byQuery.text()).startsWith("id,").endsWith("\r\n");
        assertThat(api.get(LEDGER + "?format=csv&limit=5").status()).isEqualTo(400);
        assertThat(api.get(LEDGER + "?format=json", "Accept", "text/csv").header("Content-Type"))
                .isEqualTo("application/json");
    }

    /** More than one stretch: nothing is left out and nothing comes twice. */
    @Test
    void aLongCsvIsWhole() {
        execute(api, """
                        insert into billing_ledger (workspace_id, transaction_type, amount, debit_account,
                            credit_account, idempotency_key, actor_type, created_at)
                        select '00000000-0000-7000-8000-000000000001', 'grant', 1, 'funding', 'available',
                            'long ' || i, 'system', '2001-01-01' from generate_series(1, 2500) i""");

        List<String> lines = api.get(LEDGER + "?format=csv&to=2002-01-01").text().lines().toList();

        assertThat(lines).hasSize(2501).doesNotHaveDuplicates();
        assertThat(lines.getLast()).endsWith(",long 2500");
    }

    /** Half a ledger that looks like a whole one would be worse than none. */
    @Test
    void aCsvThatBreaksOffIsAnErrorToItsReader(@TempDir Path folder) throws Exception {
        try (ApiServer own = new ApiServer(folder)) {
            execute(own, """
                    insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                        idempotency_key, actor_type, detail, created_at)
                    select '00000000-0000-7000-8000-000000000001', 'grant', 1, 'funding', 'available', 'k' || i, 'system',
                        jsonb_build_object('reason', repeat('x', 1000)), now() from generate_series(1, 30000) i""");
            HttpRequest request = HttpRequest.newBuilder(URI.create(own.url() + LEDGER + "?format=csv"))
                    .header("Authorization", "Bearer " + own.key()).build();
            try (HttpClient http = HttpClient.newHttpClient();
                    InputStream csv = http.send(request, BodyHandlers.ofInputStream()).body()) {
                assertThat(csv.readNBytes(1_000)).hasSize(1_000);
                execute(own, "alter table billing_ledger rename to gone");

                assertThatThrownBy(csv::readAllBytes).isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void aCsvHasAnEndAlsoOnAConnectionThatCloses() throws Exception {
        try (Socket socket = new Socket(api.url().getHost(), api.url().getPort())) {
            socket.getOutputStream().write(("GET " + LEDGER + "?format=csv HTTP/1.1\r\nHost: "
                    + api.url().getAuthority() + "\r\nConnection: close\r\nAuthorization: Bearer " + api.key()
                    + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("id,created_at,").endsWith("\r\n0\r\n\r\n");
        }
    }

    private static void execute(ApiServer server, String sql) {
        server.database().runInTransaction(c -> {
            try (var statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }

    @Test
    void aRunHasALedgerOfItsOwn() {
        String run = api.create(ApiServer.WAITS);
        execute(api, """
                        insert into billing_ledger (workspace_id, transaction_type, amount, debit_account,
                            credit_account, run_id, attempt_number, idempotency_key, actor_type, created_at)
                        select w, 'reserve', 1, 'available', 'reserved', '%s', 1, 'test ' || i, 'system', now()
                          from unnest(array['00000000-0000-7000-8000-000000000001',
                                            '00000000-0000-7000-8000-000000000002']::uuid[]) w,
                               generate_series(1, 3) i""".formatted(run));
        String path = "/api/v1/runs/" + run + "/ledger";

        JsonNode first = api.get(path + "?limit=2").json();
        JsonNode rest = api.get(path + "?limit=2&cursor=" + first.get("next_cursor").stringValue()).json();

        assertThat(first.get("items").size()).isEqualTo(2);
        assertThat(rest.get("items").valueStream().map(e -> e.get("idempotency_key").stringValue()))
                .containsExactly("test 3");
        assertThat(api.get("/runs/" + run + "/ledger?format=csv").text().lines()).hasSize(4);
        assertThat(api.get("/api/v1/runs/" + UUID.randomUUID() + "/ledger").json().get("code").stringValue())
                .isEqualTo("RUN_NOT_FOUND");
    }

    @Test
    void ledgerIsVerified(@TempDir Path folder) throws Exception {
        try (ApiServer own = new ApiServer(folder)) {
            own.stranger();
            JsonNode right = own.get(LEDGER + "/verify").json();
            assertThat(own.get(LEDGER + "/verify?all=true").json().get("workspaces").intValue()).isEqualTo(2);
            execute(own, "update credit_slots set available = available - 0.000001 where slot = 0");
            JsonNode wrong = own.get(LEDGER + "/verify?all=true").json();

            assertThat(right.get("ok").booleanValue()).isTrue();
            assertThat(right.get("entries").longValue()).isOne();
            assertThat(right.get("discrepancy").isNull()).isTrue();
            assertThat(wrong.get("ok").booleanValue()).isFalse();
            assertThat(wrong.at("/discrepancy/kind").stringValue()).isEqualTo("balance_differs");
            assertThat(wrong.at("/discrepancy/figure").stringValue()).isEqualTo("available");
            assertThat(wrong.at("/discrepancy/expected").decimalValue()).isEqualByComparingTo("1000");
            assertThat(wrong.at("/discrepancy/actual").decimalValue()).isEqualByComparingTo("999.999999");
            execute(own, "update credit_slots set available = available + 0.000001 where slot = 0");
            execute(own, "update credit_slots set available = available - 1 where slot = 0 and workspace_id <> '"
                    + Bootstrap.DEFAULT_WORKSPACE + "'");
            assertThat(own.get(LEDGER + "/verify").json().get("ok").booleanValue()).isTrue();
            assertThat(own.get(LEDGER + "/verify?all=true").json().get("ok").booleanValue()).isFalse();
        }
    }

    /** A key of another workspace sees its own books only. */
    @Test
    void foreignLedgersNeedAnOperatorKey() {
        String other = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.CREDITS_READ));

        assertThat(api.get(LEDGER + "/verify", "Authorization", other).status()).isEqualTo(200);
        assertThat(api.get(LEDGER + "/verify?all=true", "Authorization", other).json().get("code").stringValue())
                .isEqualTo("SCOPE_MISSING");
    }

    @Test
    void usageSaysWhatItCovers() {
        JsonNode report = api.get("/api/v1/usage?by=tool&from=2026-01-01&to=2026-02-01T00:00:00Z").json();

        assertThat(report.get("by").stringValue()).isEqualTo("tool");
        assertThat(report.get("from").stringValue()).isEqualTo("2026-01-01T00:00:00.000Z");
        assertThat(report.get("to").stringValue()).isEqualTo("2026-02-01T00:00:00.000Z");
        assertThat(report.get("total").get("charges").intValue()).isZero();
        assertThat(api.get("/api/v1/usage").json().get("by").stringValue()).isEqualTo("day");
    }

    @Test
    void pricesAreSetAndWithdrawn() {
        JsonNode set = put("""
                {"items": [{"kind": "tool", "name": "search", "usd_per_call": "0.02"},
                           {"kind": "model", "name": "large", "usd_per_million_tokens": {"input": 3, "output": 3}}]}""")
                .json();
        int version = set.get("version").intValue();
        JsonNode less = put("{\"items\": [{\"kind\": \"tool\", \"name\": \"search\", \"withdrawn\": true}]}").json();

        assertThat(set.get("items").get(0).get("usd_per_call").decimalValue()).isEqualByComparingTo("0.02");
        assertThat(less.get("version").intValue()).isEqualTo(version + 1);
        assertThat(less.get("items").valueStream().map(p -> p.get("name").stringValue())).contains("large")
                .doesNotContain("search");
        assertThat(api.get(PRICES).json()).isEqualTo(less);
        assertThat(api.get(PRICES + "?version=" + version).json()).isEqualTo(set);
        ApiServer.Answer later = api.get(PRICES + "?version=" + (version + 2));
        assertThat(later.status()).isEqualTo(400);
        assertThat(later.json().get("detail").stringValue())
                .contains("'version' is above the current version of the price list, ", " " + (version + 1));
    }

    /** A new price counts for the very next plan. */
    @Test
    void aPlanMayNameAModelOnceItHasAPrice() {
        String mission = """
                {"name": "n", "plan": {"tasks": [{"id": "a", "suggested_model": "fresh", "steps": [
                    {"tool": "noop"}]}]}}""";

        ApiServer.Answer refused = api.post("/api/v1/runs", mission);
        put("{\"items\": [{\"kind\": \"model\", \"name\": \"fresh\", \"usd_per_million_tokens\": {\"input\": 0, \"output\": 0}}]}");

        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("NO_PRICE");
        assertThat(refused.json().get("pointer").stringValue()).isEqualTo("/plan/tasks/0/suggested_model");
        assertThat(api.post("/api/v1/runs", mission).status()).isEqualTo(201);
    }

    @Test
    void unpricedTokensAreReportedEverywhere() throws Exception {
        String claim = """
                {"worker_id": "free", "tools": ["test.free"], "max": 1, "wait_ms": %d}""";
        api.post("/api/v1/dispatch/claim", claim.formatted(0));
        String run = api.create("""
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "test.free"}]}]}}""");
        JsonNode item = api.post("/api/v1/dispatch/claim", claim.formatted(20_000)).json().get("items").get(0);
        api.post("/api/v1/dispatch/complete", """
                {"worker_id": "free", "items": [{"step_id": "%s", "lease_epoch": 1, "output": 1, "tokens": 700,
                 "model": "nameless"}]}""".formatted(item.get("step_id").stringValue()));
        api.awaitState(run, "completed");

        JsonNode event = api.get("/api/v1/runs/" + run + "/events").json().get("items").valueStream()
                .filter(each -> each.get("event_type").stringValue().equals("step_unpriced")).findFirst().orElseThrow();
        assertThat(event.at("/payload/model").stringValue()).isEqualTo("nameless");
        assertThat(event.at("/payload/tokens").intValue()).isEqualTo(700);
        JsonNode line = api.get("/api/v1/usage?by=model").json().get("items").valueStream()
                .filter(each -> each.get("model").asString("").equals("nameless")).findFirst().orElseThrow();
        assertThat(line.get("tokens").intValue()).isEqualTo(700);
        assertThat(line.get("charges").intValue()).isZero();
        assertThat(api.get("/metrics").text()).containsPattern("keelson_unpriced_tokens_total 700");
    }

    private static ApiServer.Answer put(String body) {
        ApiServer.Answer answer = api.send("PUT", PRICES, body.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer;
    }

    private static BigDecimal available() {
        return api.get(CREDITS).json().get("available").decimalValue();
    }
}
