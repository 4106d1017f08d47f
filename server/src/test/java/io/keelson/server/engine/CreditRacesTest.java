package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.Tokens;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.Invariants;
import io.keelson.server.TestCredits;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** Credits where several take them at once, on the real thing. */
class CreditRacesTest {
    private static final String SIX = """
            name: dear
            config: {budget: {hard_limit_usd: 1}, limits: {steps_per_task: 3}}
            plan:
              tasks:
                - id: a
                  title: A
                  parallelism: parallel
                  steps:
                    - {name: s1, tool: test.paid}
                    - {name: s2, tool: test.paid}
                    - {name: s3, tool: test.paid}
                    - {name: s4, tool: test.paid}
                    - {name: s5, tool: test.paid}
                    - {name: s6, tool: test.paid}
            """;
    private static final String ONE = """
            name: short
            plan: {tasks: [{id: a, title: A, steps: [{name: one, tool: noop, input: {cost: 0.25}}]}]}
            """;

    /** Says when it is entered, waits to be let go, and costs 0.4. */
    private static final class Paid implements Tool {
        private final Semaphore entered = new Semaphore(0);
        private final Semaphore open = new Semaphore(0);

        @Override
        public ToolSpec spec() {
            var any = JsonNodeFactory.instance.objectNode();
            return new ToolSpec("test.paid", "Costs something", any, any, Duration.ofSeconds(60), false);
        }

        @Override
        public ToolResult execute(ToolCall call) throws InterruptedException {
            entered.release();
            open.acquire();
            return new ToolResult(JsonNodeFactory.instance.objectNode(),
                    new ToolUsage(null, Tokens.undivided(10), new BigDecimal("0.4")), List.of());
        }

        private void awaitEntered(int times) throws InterruptedException {
            assertThat(entered.tryAcquire(times, 20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void parallelStepsOverrunALimitByNoMoreThanWasRunning(@TempDir Path folder) throws Exception {
        Paid paid = new Paid();
        try (Nodes nodes = new Nodes(folder, paid)) {
            Engine engine = nodes.node();
            UUID run = nodes.submit(engine, SIX);
            paid.awaitEntered(3);
            paid.open.release(3);
            nodes.awaitState(run, "budget_exceeded");
            assertThat(engine.submit(new Command.Resume(run, Nodes.WHO)).join()).isInstanceOf(Reply.Rejected.class);
            // A fourth and a fifth may have begun while the first two were charged, no further one.
            long begun = nodes.count("select count(*) from orchestration_steps where lease_epoch > 0");
            assertThat(begun).isBetween(3L, 5L);
            paid.open.release((int) begun - 3);
            assertThat(nodes.text("select credits_charged from run_heads")).isIn("1.000000", "0.800000");

            assertThat(engine.submit(new Command.RaiseBudget(run, BigDecimal.TEN, null, Map.of(), Nodes.WHO)).join())
                    .isEqualTo(Reply.CHANGED);
            paid.open.release(6);
            nodes.awaitState(run, "completed");
            assertThat(nodes.text("select trim_scale(total_cost) from run_heads")).isEqualTo("2.4");
            assertThat(nodes.count("select count(*) from billing_ledger where transaction_type = 'refund'"))
                    .isEqualTo(1);
            nodes.assertSound();
            Invariants.hold(nodes.database);
        }
    }

    /** Two nodes, each with two committing threads, start runs of a workspace that has enough for a few at a time. */
    @Test
    void aPoorWorkspaceIsNeverOverdrawn(@TempDir Path folder) throws Exception {
        try (Nodes nodes = Nodes.poor(folder)) {
            TestCredits.grant(nodes.database, Nodes.WORKSPACE, "7.5");
            List<Engine> engines = List.of(nodes.node(), nodes.node());
            List<CompletableFuture<Reply>> answers = new ArrayList<>();
            List<UUID> runs = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                NewRun run = nodes.run(ONE);
                runs.add(run.id());
                answers.add(engines.get(i % 2).submit(new Command.Create(run, true, Nodes.WHO)));
            }
            int started = 0;
            for (int i = 0; i < answers.size(); i++) {
                Reply reply = answers.get(i).join();
                if (reply.equals(Reply.CHANGED)) {
                    started++;
                    nodes.awaitState(runs.get(i), "completed");
                } else {
                    assertThat(((Reply.Rejected) reply).code()).isEqualTo("INSUFFICIENT_CREDITS");
                }
            }
            assertThat(started).isBetween(7, 27);
            assertThat(nodes.count("select count(*) from orchestration_runs")).isEqualTo(started);
            assertThat(new BigDecimal(nodes.text("select available + spent from credit_balances where workspace_id = '"
                    + Nodes.WORKSPACE + "'"))).isEqualByComparingTo("7.5");
            Invariants.hold(nodes.database);
        }
    }

    @RepeatedTest(5)
    void firstCommandToEndARunSettlesItAlone(@TempDir Path folder) throws Exception {
        GateTool gate = new GateTool();
        try (Nodes nodes = new Nodes(folder, gate)) {
            List<Engine> engines = List.of(nodes.node(), nodes.node());
            UUID run = nodes.submit(engines.getFirst(), ONE.replace("noop, input: {cost: 0.25}", "test.gate"));
            gate.awaitEntered(1);
            var cancel = engines.getFirst().submit(new Command.Cancel(run, null, Nodes.WHO));
            var fail = engines.getLast().submit(new Command.FailRun(run, null, Nodes.WHO));
            gate.open.release();
            assertThat(List.of(cancel.join(), fail.join())).as("one of them comes first").contains(Reply.CHANGED);

            assertThat(nodes.text("select string_agg(transaction_type || ' ' || amount, ', ' order by id)"
                    + " from billing_ledger where run_id = '" + run + "'"))
                    .isEqualTo("reserve 1.000000, refund 1.000000");
            Invariants.hold(nodes.database);
        }
    }
}
