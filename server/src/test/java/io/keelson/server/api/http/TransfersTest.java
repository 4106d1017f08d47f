package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Clients of two servers move credits of one workspace between its accounts, each with a key that some use twice at once, while runs
 * reserve, charge and return credits. Readers of both servers never see an amount that was created or lost, nor an account below zero.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Breadth.InPart(3)
class TransfersTest {
    private static final int CLIENTS = 6;
    private static final int EACH = Breadth.of(25, 2_000);
    private static final BigDecimal ALL = new BigDecimal("20");
    private static final String MISSION = """
            {"name": "paid", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
              {"name": "one", "tool": "noop", "input": {"cost": 0.000001}},
              {"name": "two", "tool": "noop", "input": {"cost": 0.25}}]}]}}""";
    private static final long SEED = Long.getLong("keelson.transfers.seed", 1);

    private final AtomicInteger moved = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger reads = new AtomicInteger();

    @Test
    void readersSeeNoAnomaly(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Map<String, String> settings = Map.of("KEELSON_INITIAL_CREDITS", ALL.toString(), "KEELSON_SECRET_KEY",
                "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
        try (ApiServer one = new ApiServer(folder.resolve("one"), url, settings);
                ApiServer two = new ApiServer(folder.resolve("two"), url, settings);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<ApiServer> servers = List.of(one, two);
            AtomicBoolean ended = new AtomicBoolean();
            List<Future<?>> readers = servers.stream().<Future<?>>map(each -> threads.submit(() -> {
                while (!ended.get()) {
                    assertWhole(each);
                }
            })).toList();
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                clients.add(threads.submit(() -> {
                    transfer(servers, number);
                    return null;
                }));
            }
            for (Future<?> each : clients) {
                each.get();
            }
            ended.set(true);
            for (Future<?> each : readers) {
                each.get();
            }
            assertThat(moved.get()).isPositive();
            assertThat(reads.get()).isPositive();
            assertThat(one.count("select count(*) from billing_ledger where transaction_type = 'adjustment'"))
                    .as("each key once").isEqualTo(moved.get());
            System.out.printf("transfers: seed %d, %d moves, %d refused, %d runs, %d reads%n", SEED, moved.get(),
                    refused.get(), runs.get(), reads.get());
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> one.count(
                    "select count(*) from orchestration_runs where state_type <> 'terminal'") == 0);
            JsonNode balance = one.get("/api/v1/credits").json();
            assertThat(balance.get("reserved").decimalValue()).isZero();
            assertThat(one.get("/api/v1/ledger/verify").json().get("ok").booleanValue()).isTrue();
            Invariants.hold(one.database());
        }
    }

    private void assertWhole(ApiServer server) {
        JsonNode balance = server.get("/api/v1/credits").json();
        BigDecimal sum = BigDecimal.ZERO;
        for (String account : List.of("available", "reserved", "spent")) {
            BigDecimal amount = balance.get(account).decimalValue();
            assertThat(amount).as(balance.toString()).isNotNegative();
            sum = sum.add(amount);
        }
        assertThat(sum).as(balance.toString()).isEqualByComparingTo(ALL);
        reads.incrementAndGet();
    }

    private void transfer(List<ApiServer> servers, int client) throws Exception {
        Random random = new Random(SEED + client);
        for (int i = 0; i < EACH; i++) {
            ApiServer server = servers.get(random.nextInt(servers.size()));
            if (random.nextInt(4) == 0) {
                Answer run = server.post("/api/v1/runs", MISSION);
                assertThat(run.status()).as(run.text()).isIn(201, 402, 409, 422);
                runs.addAndGet(run.status() == 201 ? 1 : 0);
                continue;
            }
            boolean toSpent = random.nextBoolean();
            String body = """
                    {"amount": %s, "debit_account": "%s", "credit_account": "%s", "reason": "test"}"""
                    .formatted(new BigDecimal(1 + random.nextInt(2_000_000)).movePointLeft(6),
                            toSpent ? "available" : "spent", toSpent ? "spent" : "available");
            String key = "move " + client + " " + i;
            ApiServer other = servers.get(1 - servers.indexOf(server));
            boolean twice = random.nextInt(3) == 0;
            List<Answer> answers = new ArrayList<>();
            Thread again = Thread.ofVirtual().start(() -> {
                if (twice) {
                    answers.add(other.post("/api/v1/ledger/adjustments", body, "Idempotency-Key", key));
                }
            });
            Answer answer = server.post("/api/v1/ledger/adjustments", body, "Idempotency-Key", key);
            again.join();
            answers.add(answer);
            count(answers);
        }
    }

    private void count(List<Answer> answers) {
        boolean done = false;
        for (Answer each : answers) {
            assertThat(each.status()).as(each.text()).isIn(200, 201, 402, 409, 422, 503);
            if (each.status() >= 400) {
                assertThat(each.json().get("code").stringValue())
                        .isIn("INSUFFICIENT_CREDITS", "BALANCE_OUT_OF_RANGE", "IDEMPOTENCY_IN_FLIGHT");
            }
            done |= each.status() < 300;
        }
        moved.addAndGet(done ? 1 : 0);
        refused.addAndGet(done ? 0 : 1);
    }
}
