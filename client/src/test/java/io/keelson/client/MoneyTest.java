package io.keelson.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.PriceList;
import io.keelson.api.money.TokenPrices;
import io.keelson.client.http.ScriptedServer;
import io.keelson.client.http.ScriptedServer.Answer;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MoneyTest {

    private static final String ENTRY = """
            {"id":7,"transaction_type":"grant","amount":12345678901234.123456,"debit_account":"funding",
             "credit_account":"available","run_id":null,"attempt_number":null,"idempotency_key":"k",
             "actor_type":"human","actor_id":"a","created_at":"2026-01-02T03:04:05.678Z"}""";

    private final ScriptedServer server = new ScriptedServer();
    private final Keelson keelson = server.client();

    @AfterEach
    void close() {
        server.close();
    }

    /** Twenty digits: a floating point number in between would lose some. */
    @Test
    void amountsAreExactBothWays() {
        server.on("POST /api/v1/credits/grants", Answer.json(ENTRY));
        BigDecimal amount = new BigDecimal("12345678901234.123456");

        LedgerEntry entry = keelson.credits().grant(amount, "because", "k");

        assertThat(entry.amount()).isEqualTo(amount);
        ScriptedServer.Request request = server.requests("POST /api/v1/credits/grants").get(0);
        assertThat(request.header("Idempotency-key")).isEqualTo("k");
        assertThat(request.body().get("amount").decimalValue()).isEqualTo(amount);
        assertThat(request.body().get("reason").asString()).isEqualTo("because");
    }

    @Test
    void everyGrantHasAKeyOfItsOwn() {
        server.on("POST /api/v1/credits/grants", Answer.json(ENTRY), Answer.json(ENTRY));

        keelson.credits().grant(BigDecimal.ONE, null);
        keelson.credits().grant(BigDecimal.ONE, null);

        assertThat(server.requests("POST /api/v1/credits/grants")).extracting(r -> r.header("Idempotency-key"))
                .doesNotHaveDuplicates().doesNotContainNull();
    }

    @Test
    void theLedgerIsReadInPagesAndAsCsv() throws Exception {
        server.on("GET /api/v1/ledger", Answer.json("{\"items\":[" + ENTRY + "],\"next_cursor\":\"c\"}"),
                Answer.json("id\r\n7\r\n"));
        LedgerQuery query = LedgerQuery.all().type("grant").between(Instant.parse("2026-01-01T00:00:00Z"), null);

        Page<LedgerEntry> page = keelson.ledger().list(query.limit(1));

        assertThat(page.nextCursor()).isEqualTo("c");
        assertThat(page.items().get(0).createdAt()).isEqualTo(Instant.parse("2026-01-02T03:04:05.678Z"));
        try (InputStream csv = keelson.ledger().csv(query)) {
            assertThat(new String(csv.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("id\r\n7\r\n");
        }
        assertThat(server.requests("GET /api/v1/ledger")).extracting(ScriptedServer.Request::query).containsExactly(
                "type=grant&from=2026-01-01T00%3A00%3A00Z&limit=1",
                "type=grant&from=2026-01-01T00%3A00%3A00Z&format=csv");
    }

    @Test
    void aCorrectionNamesItsAccounts() {
        server.on("POST /api/v1/ledger/adjustments", Answer.json(ENTRY));

        keelson.credits().adjust(Account.SPENT, Account.AVAILABLE, BigDecimal.ONE, "goodwill", "k");

        assertThat(server.requests("POST /api/v1/ledger/adjustments").get(0).body()).isEqualTo(Json.of(Map.of("amount",
                1, "debit_account", "spent", "credit_account", "available", "reason", "goodwill")));
    }

    @Test
    void usageNamesWhatItIsDividedBy() {
        server.on("GET /api/v1/usage", Answer.json("""
                {"by":"model","from":"2026-01-01T00:00:00.000Z","to":"2026-01-31T00:00:00.000Z","complete":true,
                 "items":[{"model":"large","credits":0.1,"tokens":5,"charges":1,"runs":1},
                          {"model":null,"credits":0.2,"tokens":0,"charges":1,"runs":1}],
                 "total":{"credits":0.3,"tokens":5,"charges":2,"runs":1}}"""));

        Usage usage = keelson.credits().usage(Usage.By.MODEL, null, null);

        assertThat(usage.items()).extracting(Usage.Line::name).isEqualTo(Arrays.asList("large", null));
        assertThat(usage.total().credits()).isEqualTo(new BigDecimal("0.3"));
    }

    private static final TokenPrices LARGE = new TokenPrices(new BigDecimal("2.5"), new BigDecimal("0.25"), null,
            BigDecimal.TEN);

    @Test
    void pricesAreSetAndRemoved() {
        String list = "{\"items\":[{\"kind\":\"model\",\"name\":\"large\",\"usd_per_million_tokens\":"
                + "{\"input\":2.5,\"cache_read\":0.25,\"cache_write\":null,\"output\":10},\"version\":3,"
                + "\"created_by\":\"me\"}],\"next_cursor\":null,\"version\":4}";
        server.on("PUT /api/v1/prices", Answer.json(list), Answer.json(list));

        PriceList after = keelson.prices().setModel("large", LARGE);
        keelson.prices().removeTool("search");

        assertThat(after.version()).isEqualTo(4);
        assertThat(after.items().get(0).usdPerMillionTokens()).isEqualTo(LARGE);
        assertThat(after.items().get(0).usdPerCall()).isNull();
        assertThat(server.requests("PUT /api/v1/prices"))
                .extracting(request -> request.body().at("/items/0").toString())
                .containsExactly(
                        "{\"kind\":\"model\",\"name\":\"large\",\"usd_per_million_tokens\":{\"input\":2.5,\"cache_read\":0.25,\"output\":10}}",
                        "{\"kind\":\"tool\",\"name\":\"search\",\"withdrawn\":true}");
    }
}
