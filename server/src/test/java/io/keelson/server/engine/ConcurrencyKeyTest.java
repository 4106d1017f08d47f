package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Runs with a concurrency key: limited in number, in order, regardless of how earlier ones end. */
@Breadth.Spread
class ConcurrencyKeyTest extends GatedEngines {

    @Override
    Nodes open(Path folder) throws Exception {
        return new Nodes(folder, gate);
    }

    @Test
    void excessRunsWaitAndStartInOrder() throws Exception {
        Engine engine = nodes.node();
        List<UUID> runs = submit(engine, 5, "prod", 2);
        UUID other = submit(engine, 1, "test", 1).getFirst();
        gate.awaitEntered(3);
        assertThat(runs.stream().map(nodes::state)).containsExactly("running", "running", "pending", "pending",
                "pending");
        assertThat(nodes.state(other)).isEqualTo("running");

        cancel(engine, runs.get(0));
        gate.awaitEntered(1);
        assertThat(runs.stream().map(nodes::state)).containsExactly("cancelled", "running", "running", "pending",
                "pending");

        cancel(engine, runs.get(3));
        cancel(engine, runs.get(1));
        gate.awaitEntered(1);
        assertThat(runs.stream().map(nodes::state)).containsExactly("cancelled", "cancelled", "running", "cancelled",
                "running");
    }

    @Test
    void nodesTogetherKeepToTheLimit() throws Exception {
        List<Engine> engines = List.of(nodes.node(), nodes.node());
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            runs.addAll(submit(engines.get(i % 2), 1, "prod", 3));
        }
        for (int done = 0; done < runs.size(); done++) {
            gate.awaitEntered(1);
            assertThat(nodes.count("select count(*) from orchestration_runs where state = 'running'"))
                    .isBetween(1L, 3L);
            gate.open.release();
        }
        runs.forEach(run -> nodes.awaitState(run, "completed"));
        assertThat(nodes.count("select count(*) from billing_ledger where transaction_type = 'refund'")).isEqualTo(30);
    }

    @Test
    void waitingRunsStartAfterTheNodeIsGone() throws Exception {
        Engine first = nodes.node(Duration.ofSeconds(2));
        List<UUID> runs = submit(first, 3, "prod", 1);
        gate.awaitEntered(1);
        first.close();

        nodes.node(Duration.ofSeconds(2));
        gate.open.release(3);
        runs.forEach(run -> nodes.awaitState(run, "completed"));
        assertThat(nodes.text("select string_agg(id::text, ' ' order by started_at) from orchestration_runs"))
                .isEqualTo(String.join(" ", runs.stream().map(UUID::toString).toList()));
    }

    /** What failed has given its place up and waits for another one when it is tried again. */
    @Test
    void aRetryWaitsForItsTurn() throws Exception {
        Engine engine = nodes.node();
        UUID failed = nodes.submit(engine, mission("prod", 1, "{tool: fail, retry: {max_attempts: 1}}"));
        nodes.awaitState(failed, "failed");
        UUID next = submit(engine, 1, "prod", 1).getFirst();
        gate.awaitEntered(1);

        assertThat(engine.submit(new Command.Retry(failed, true, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        assertThat(nodes.state(failed)).isEqualTo("pending");
        gate.open.release();
        nodes.awaitState(next, "completed");
        Awaitility.await().until(() -> nodes.state(failed).equals("failed"));
    }

    @Test
    void twoNodesTogetherKeepToTheRateOfAKey() throws Exception {
        List<Engine> engines = List.of(nodes.node(), nodes.node());
        int count = 60;
        for (int i = 0; i < count; i++) {
            nodes.submit(engines.get(i % 2), """
                    name: turns
                    goal: g
                    config: {concurrency: {key: mail, rate: {limit: 20, period_seconds: 1}}}
                    plan: {tasks: [{id: a, steps: [{tool: noop}]}]}""");
        }
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> nodes.count(
                "select count(*) from orchestration_runs where state = 'completed'") == count);

        // The work of half a second and one begin at once; then 20 a second.
        double seconds = Double.parseDouble(nodes.text(
                "select extract(epoch from max(updated_at) - min(created_at)) from orchestration_runs"));
        assertThat(seconds).isGreaterThanOrEqualTo((count - 11) / 20.0);
        assertThat(nodes.text("select string_agg(name, ' ') from work_rates")).isEqualTo("runs:mail");
    }

    private List<UUID> submit(Engine engine, int count, String key, int limit) {
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            runs.add(nodes.submit(engine, mission(key, limit, "{tool: test.gate}")));
        }
        return runs;
    }

    private static String mission(String key, int limit, String step) {
        return """
                name: turns
                goal: g
                config: {concurrency: {key: %s, limit: %d}}
                plan: {tasks: [{id: a, steps: [%s]}]}""".formatted(key, limit, step);
    }

    private static void cancel(Engine engine, UUID run) {
        assertThat(engine.submit(new Command.Cancel(run, null, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
    }
}
