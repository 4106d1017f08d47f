package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.Invariants;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The limit {@code usd_per_month} of a workspace, on the real thing. */
@Breadth.Spread
class MonthlyLimitTest {
    private static final String ONE = """
            name: short
            plan: {tasks: [{id: a, title: A, steps: [{name: one, tool: noop, input: {cost: %s}}]}]}
            """;

    private static void limit(Nodes nodes, String usd) {
        execute(nodes, "insert into workspace_limits values ('" + Nodes.WORKSPACE + "', 'usd_per_month', " + usd
                + ") on conflict (workspace_id, name) do update set most = excluded.most");
    }

    private static void execute(Nodes nodes, String sql) {
        nodes.database.runInTransaction(c -> {
            try (var statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }

    private static BigDecimal used(Nodes nodes) {
        return new BigDecimal(nodes.text("select keelson_used_in_month('" + Nodes.WORKSPACE + "', clock_timestamp())"));
    }

    private static BigDecimal charged(Nodes nodes) {
        return new BigDecimal(
                nodes.text("select sum(amount) from billing_ledger where transaction_type = 'charge'"));
    }

    private static void awaitEnd(Nodes nodes, UUID run) {
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> List.of("completed", "budget_exceeded").contains(nodes.state(run)));
    }

    private static Reply start(Engine engine, NewRun run) {
        return engine.submit(new Command.Create(run, true, Nodes.WHO)).join();
    }

    private static void refused(Reply reply, String code) {
        assertThat(reply).isInstanceOfSatisfying(Reply.Rejected.class,
                refusal -> assertThat(refusal.code()).isEqualTo(code));
    }

    /**
     * Two nodes, each with two committing threads, start runs of which the month covers nineteen. How many of these are refused, and
     * how many end without money, depends on their order; runs one at a time use up the rest.
     */
    @Test
    void runsAtTheSameTimeNeverExceedTheMonth(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            BigDecimal limit = new BigDecimal("7.6");
            limit(nodes, limit.toPlainString());
            List<Engine> engines = List.of(nodes.node(), nodes.node());
            List<CompletableFuture<Reply>> answers = new ArrayList<>();
            List<UUID> runs = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                NewRun run = nodes.run(ONE.formatted("0.4"));
                runs.add(run.id());
                answers.add(engines.get(i % 2).submit(new Command.Create(run, true, Nodes.WHO)));
            }
            for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i).join().equals(Reply.CHANGED)) {
                    awaitEnd(nodes, runs.get(i));
                } else {
                    refused(answers.get(i).join(), "MONTHLY_LIMIT_REACHED");
                }
            }
            assertThat(charged(nodes)).isBetween(new BigDecimal("2.8"), limit);
            assertThat(used(nodes)).isEqualByComparingTo(charged(nodes));

            Engine engine = engines.getFirst();
            NewRun next = nodes.run(ONE.formatted("0.4"));
            Reply answer = start(engine, next);
            while (answer.equals(Reply.CHANGED)) {
                awaitEnd(nodes, next.id());
                next = nodes.run(ONE.formatted("0.4"));
                answer = start(engine, next);
            }
            refused(answer, "MONTHLY_LIMIT_REACHED");
            assertThat(charged(nodes)).isEqualByComparingTo(limit);
            assertThat(used(nodes)).isEqualByComparingTo(limit);
            assertThat(nodes
                    .text("select sum(available) from credit_slots where workspace_id = '" + Nodes.WORKSPACE + "'"))
                    .isEqualTo("0.000000");
            Invariants.hold(nodes.database);
        }
    }

    /** A limit below the usual reservation of 1: a run reserves its steps' costs one by one. */
    @Test
    void aSmallRestOfTheMonthIsSpentStepByStep(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            limit(nodes, "0.5");
            Engine engine = nodes.node();
            NewRun first = nodes.run(ONE.formatted("0.3"));
            assertThat(start(engine, first)).isEqualTo(Reply.CHANGED);
            nodes.awaitState(first.id(), "completed");
            assertThat(used(nodes)).isEqualByComparingTo("0.3");

            NewRun second = nodes
                    .run(ONE.formatted("0.3").replace("]}]}", ", {name: two, tool: noop, input: {cost: 0.1}}]}]}"));
            assertThat(start(engine, second)).isEqualTo(Reply.CHANGED);
            nodes.awaitState(second.id(), "budget_exceeded");
            assertThat(used(nodes)).isEqualByComparingTo("0.5");
            refused(start(engine, nodes.run(ONE.formatted("0.3"))), "MONTHLY_LIMIT_REACHED");
            refused(engine.submit(new Command.Resume(second.id(), Nodes.WHO)).join(), "MONTHLY_LIMIT_REACHED");

            limit(nodes, "0.9");
            assertThat(engine.submit(new Command.Resume(second.id(), Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
            nodes.awaitState(second.id(), "completed");
            Invariants.hold(nodes.database);
        }
    }

    /**
     * A run reserves nothing when it begins. Its one step extends the reservation and ends the run in one commit, which leaves its slot
     * of the balance enough for the cost, but never had as much as a usual reservation.
     */
    @Test
    void aReservationThatEndsInItsCommitIsNoMoreThanTheRest(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            limit(nodes, "0.9");
            Engine engine = nodes.node(Engine.Chains.OFF);
            for (int i = 0; i < 3; i++) {
                NewRun run = nodes.run(ONE.formatted("0.1"));
                assertThat(start(engine, run)).isEqualTo(Reply.CHANGED);
                nodes.awaitState(run.id(), "completed");
                assertThat(used(nodes)).isEqualByComparingTo(BigDecimal.valueOf(i + 1L, 1));
            }
            assertThat(nodes.text("select string_agg(trim_scale(amount)::text, ' ' order by id) from billing_ledger"
                    + " where transaction_type = 'reserve'")).isEqualTo("0.1 0.1 0.1");
            Invariants.hold(nodes.database);
        }
    }

    /** A limit below what the month has used leaves nothing until refunds and a higher limit do. */
    @Test
    void aLoweredLimitLeavesNothingThatARefundGivesBack(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            Engine engine = nodes.node();
            limit(nodes, "5");
            UUID open = nodes.submit(engine, """
                    name: waits
                    plan:
                      total_estimated_cost: 4
                      tasks: [{id: a, title: A, steps: [{name: ask, kind: approval}]}]
                    """);
            limit(nodes, "3");
            assertThat(used(nodes)).isEqualByComparingTo("4");
            refused(start(engine, nodes.run(ONE.formatted("0.1"))), "MONTHLY_LIMIT_REACHED");
            limit(nodes, "0");
            assertThat(engine.submit(new Command.Cancel(open, null, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
            assertThat(used(nodes)).isEqualByComparingTo("0");
            refused(start(engine, nodes.run(ONE.formatted("0.1"))), "MONTHLY_LIMIT_REACHED");
            execute(nodes, "delete from workspace_limits");
            NewRun free = nodes.run(ONE.formatted("0.1"));
            assertThat(start(engine, free)).isEqualTo(Reply.CHANGED);
            nodes.awaitState(free.id(), "completed");
            Invariants.hold(nodes.database);
        }
    }

    @Test
    void theUseOfAMonthThatHasNotBegunIsReadFromItsPartOfTheLedger(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            execute(nodes, """
                    insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                        idempotency_key, actor_type, actor_id, detail, created_at)
                    select '%1$s', 'adjustment', 0.01, 'available', 'spent', 'old' || n, 'system', 'test',
                        '{"reason": "old"}', clock_timestamp() - interval '1 year' + n * interval '10 minutes'
                      from generate_series(1, 40000) n;
                    insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                        idempotency_key, actor_type, actor_id, detail, created_at)
                    values ('%1$s', 'adjustment', 2, 'available', 'spent', 'new', 'system', 'test',
                        '{"reason": "new"}', clock_timestamp());
                    update credit_slots set available = available - 402, spent = spent + 402
                     where workspace_id = '%1$s' and slot = 0;
                    select brin_summarize_new_values('ix_billing_ledger_created');
                    analyze billing_ledger""".formatted(Nodes.WORKSPACE));
            assertThat(used(nodes)).isEqualByComparingTo("2");
            JsonNode plan =
                    Json.read(nodes.text("explain (analyze, buffers, format json) select keelson_used_in_month('"
                            + Nodes.WORKSPACE + "', clock_timestamp())")).at("/0/Plan");
            assertThat(plan.get("Shared Hit Blocks").longValue() + plan.get("Shared Read Blocks").longValue())
                    .as("pages read").isLessThan(nodes.count("select pg_relation_size('billing_ledger') / 8192 / 2"));
        }
    }

    @Test
    void aMonthBeginsWithoutACommit(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            limit(nodes, "4");
            execute(nodes,
                    "select keelson_withhold('" + Nodes.WORKSPACE + "', clock_timestamp() - interval '40 days')");
            for (BackgroundTask task : nodes.node().upkeep().tasks()) {
                if (task.name().equals("months")) {
                    task.runOnce();
                }
            }
            assertThat(nodes.text("select month = keelson_month(clock_timestamp()) from credit_months")).isEqualTo("t");
        }
    }

    /** What the ledger has before the month does not count, and a commit of a run finds that the month has ended. */
    @Test
    void aNewMonthLeavesTheWholeLimit(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            Engine engine = nodes.node();
            execute(nodes, """
                    insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                        idempotency_key, actor_type, actor_id, detail, created_at)
                    values ('%1$s', 'adjustment', 3, 'available', 'spent', 'old', 'system', 'test', '{"reason": "old"}',
                        clock_timestamp() - interval '1 month');
                    update credit_slots set available = available - 3, spent = spent + 3
                     where workspace_id = '%1$s' and slot = 0;""".formatted(Nodes.WORKSPACE));
            limit(nodes, "4");
            assertThat(used(nodes)).isEqualByComparingTo("0");
            execute(nodes,
                    "select keelson_withhold('" + Nodes.WORKSPACE + "', clock_timestamp() - interval '1 month')");
            assertThat(nodes
                    .text("select sum(available) from credit_slots where workspace_id = '" + Nodes.WORKSPACE + "'"))
                    .isEqualTo("1.000000");
            NewRun run = nodes.run(ONE.formatted("2").replace("plan: {", "plan: {total_estimated_cost: 3.5, "));
            assertThat(start(engine, run)).isEqualTo(Reply.CHANGED);
            nodes.awaitState(run.id(), "completed");
            assertThat(used(nodes)).isEqualByComparingTo("2");
            refused(start(engine, nodes.run(
                    ONE.formatted("2").replace("plan: {", "plan: {total_estimated_cost: 2.5, "))),
                    "MONTHLY_LIMIT_REACHED");
            Invariants.hold(nodes.database);
        }
    }
}
