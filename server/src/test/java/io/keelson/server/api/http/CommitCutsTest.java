package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Loss;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A run's way through the HTTP API, again and again: its connection to PostgreSQL is lost with each of its commits in turn, or with
 * the commit's answer. It is created, started, claimed and reported on by a worker, approved, sends two commands, and is settled.
 * Clients repeat each request under its key until it is answered.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Breadth.InPart(6)
class CommitCutsTest {
    /** How often each commit is cut with {@code ./check --all}; {@code -Dkeelson.commit.cuts=1} sets it. */
    private static final int ROUNDS = Integer.getInteger("keelson.commit.cuts", Breadth.of(1, 20));
    /** Of the commits one of so many is cut. */
    private static final int EACH = Breadth.of(4, 1);
    /** Commits of other work of the server may come between those of a run. */
    private static final int MORE = 4;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long PAUSE = Duration.ofMillis(20).toNanos();
    private static final Set<String> CODES = Set.of("503 DATABASE_UNAVAILABLE", "503 IDEMPOTENCY_IN_FLIGHT");

    private final Set<String> codes = new TreeSet<>();
    private int stories;

    @Test
    void eachRunIsDoneOnceWhicheverOfItsCommitsIsCut(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (TestProvider provider = new TestProvider(); CountingProxy proxy = new CountingProxy(url);
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                ApiServer api = new ApiServer(folder, proxy.url(), Map.of("KEELSON_LEASE_SECONDS", "2",
                        "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true", "KEELSON_COMMAND_TYPES", "bank.pay="
                                + provider.url() + "/pay, bank.transfer=" + provider.url() + "/transfer idempotent"))) {
            claim(api);
            story(api, "first");
            int before = proxy.commits();
            story(api, "uncut");
            int commits = proxy.commits() - before + (Breadth.all() ? MORE : 0);
            assertThat(commits).as("commits of a run").isGreaterThan(8);
            int cuts = 0;
            long longest = 0;
            for (int round = 0; round < ROUNDS; round++) {
                for (Loss loss : Loss.values()) {
                    for (int n = loss.ordinal(); n < commits; n += EACH) {
                        AtomicBoolean cut = new AtomicBoolean();
                        proxy.loseCommit(loss, n, () -> cut.set(true));
                        long begun = System.nanoTime();
                        story(api, loss + "-" + n + "-" + round);
                        longest = Math.max(longest, System.nanoTime() - begun);
                        proxy.spare();
                        cuts += cut.get() ? 1 : 0;
                    }
                }
            }
            System.out.printf("commit cuts: %d cuts over %d runs of %d commits, longest run %d ms, %s%n", cuts,
                    stories, commits, Duration.ofNanos(longest).toMillis(), codes);
            assertThat(cuts).isGreaterThanOrEqualTo(2 * ROUNDS);
            assertThat(CODES).containsAll(codes);
            assertSound(database, provider);
        }
    }

    private void assertSound(Database database, TestProvider provider) {
        assertThat(number(database, "select count(*) from orchestration_runs")).isEqualTo(stories);
        assertThat(number(database, "select count(*) from orchestration_runs where state = 'completed'"))
                .isEqualTo(stories);
        assertThat(number(database, "select count(distinct (step_id, epoch)) from work_results"))
                .as("one result for each step").isEqualTo(5L * stories);
        assertThat(provider.made()).as("payments and transfers").isEqualTo(2 * stories);
        assertThat(provider.asked().stream().filter(each -> each.path().equals("/pay")).count())
                .as("payments, each asked for once").isEqualTo(stories);
        assertThat(number(database, "select count(*) from credit_balances where reserved <> 0")).isZero();
        assertThat(number(database, "select round(100 * sum(spent)) from credit_balances"))
                .isEqualTo(150L * stories);
        Invariants.hold(database);
    }

    /** One run from its creation to its end. */
    private void story(ApiServer api, String name) {
        stories++;
        String run = post(api, "/runs", """
                {"name": "%s", "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "local", "tool": "noop", "input": {"tokens": 5, "cost": 0.7}},
                  {"name": "remote", "tool": "test.story"},
                  {"name": "agree", "kind": "approval", "input": {"question": "Go on?"}},
                  {"name": "pay", "tool": "bank.pay", "input": {"of": "%s"}},
                  {"name": "transfer", "tool": "bank.transfer", "input": {"of": "%s"}},
                  {"name": "last", "tool": "noop", "input": {"cost": 0.6}}]}]}}""".formatted(name, name, name), name)
                .get("id").stringValue();
        post(api, "/runs/" + run + "/start", "{}", name + "-start");
        work(api, run);
        await(name + " waits", () -> has(api, run, "waiting_approval"));
        post(api, "/runs/" + run + "/approve", "{\"reason\": \"agreed\"}", name + "-approve");
        await(name + " completes", () -> {
            Answer answer = api.get("/api/v1/runs/" + run);
            return answer.status() == 200 && answer.json().get("state").stringValue().equals("completed");
        });
    }

    /** As a worker that repeats its report until it is answered, and claims again what it does not know of. */
    private void work(ApiServer api, String run) {
        await("the remote step of " + run, () -> {
            for (JsonNode item : claim(api)) {
                JsonNode reported = post(api, "/dispatch/complete", """
                        {"worker_id": "w", "items": [{"step_id": %s, "lease_epoch": %s, "output": {"done": true},
                         "cost": 0.2}]}""".formatted(item.get("step_id"), item.get("lease_epoch")), "");
                assertThat(reported.at("/items/0/status").stringValue()).isIn("ok", "duplicate", "stale_lease");
            }
            Answer answer = api.get("/api/v1/runs/" + run + "/steps");
            return answer.status() == 200 && answer.json().get("items").valueStream()
                    .anyMatch(step -> step.get("name").stringValue().equals("remote")
                            && step.get("state").stringValue().equals("completed"));
        });
    }

    private Iterable<JsonNode> claim(ApiServer api) {
        return post(api, "/dispatch/claim",
                """
                {"worker_id": "w", "tools": ["test.story"], "max": 1, "wait_ms": 200, "lease_ms": 1000, "version": "1"}""",
                "").get("items");
    }

    private static boolean has(ApiServer api, String run, String state) {
        Answer answer = api.get("/api/v1/runs/" + run + "/steps");
        return answer.status() == 200 && answer.json().get("items").valueStream()
                .anyMatch(step -> step.get("state").stringValue().equals(state));
    }

    private JsonNode post(ApiServer api, String path, String body, String key) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            Answer answer = api.post("/api/v1" + path, body, "Idempotency-Key", key);
            if (answer.status() / 100 == 2) {
                return answer.json();
            }
            assertThat(answer.status()).as(path + ": " + answer.text()).isEqualTo(503);
            codes.add(answer.status() + " " + answer.json().get("code").stringValue());
            assertThat(System.nanoTime()).as("time of " + path + ": " + answer.text()).isLessThan(end);
            LockSupport.parkNanos(PAUSE);
        }
    }

    private interface Condition {
        boolean holds();
    }

    private static void await(String what, Condition condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("time until " + what).isLessThan(end);
            LockSupport.parkNanos(PAUSE);
        }
    }

    private static long number(Database database, String sql) {
        return database.withConnection(c -> {
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        });
    }
}
