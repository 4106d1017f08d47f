package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connections are cut with a COMMIT or with its answer, again and again, while
 * runs start and steps complete.
 */
@Timeout(value = 90, unit = TimeUnit.MINUTES)
class CutCommitsTest {
    private static final int CUTS = Breadth.of(15, 10_000);
    private static final long SEED = Long.getLong("keelson.cut.seed", 1);
    private static final String MISSION = """
            name: short
            plan:
              tasks:
                - {id: a, title: A, steps: [{name: one, tool: noop, input: {tokens: 5}}, {name: two, tool: echo}]}
                - {id: b, title: B, depends_on: [a], steps: [{name: one, tool: noop}]}
                - {id: c, title: C, depends_on: [a], steps: [{name: one, tool: noop}]}
            """;

    @Test
    void nothingIsDoneTwice(@TempDir Path folder) throws Exception {
        try (CountingProxy proxy = new CountingProxy(TestDatabase.createUrl());
                Database database = new Database(proxy.url(), DatabaseOptions.DEFAULTS);
                Nodes nodes = new Nodes(folder, database)) {
            Cuts cuts = new Cuts(proxy, new Write("run_heads", ""), new Random(SEED));
            List<UUID> runs = cuts.during(nodes, MISSION, CUTS, number -> {
            });
            proxy.spare();
            runs.forEach(run -> nodes.awaitState(run, "completed"));
            assertThat(nodes.count("select count(*) from orchestration_runs")).isEqualTo(runs.size());
            assertThat(nodes.count("select count(*) from work_results")).isEqualTo(4L * runs.size());
            assertThat(nodes.count("select sum(total_tokens) from run_heads")).isEqualTo(5L * runs.size());
            nodes.assertSound();
            System.out.printf("cut commits: %d cuts over %d runs%n", cuts.count(), runs.size());
        }
    }
}
