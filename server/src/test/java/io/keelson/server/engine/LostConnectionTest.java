package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.nio.file.Path;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** A step whose execution needs the database while it does not answer. */
class LostConnectionTest {

    /** Loses its connection in the first execution. */
    private static final class Reading implements Tool {
        private final Database database;
        private final AtomicInteger executions = new AtomicInteger();

        private Reading(Database database) {
            this.database = database;
        }

        @Override
        public ToolSpec spec() {
            var any = JsonNodeFactory.instance.objectNode();
            return new ToolSpec("test.reading", "Reads the database", any, any, Duration.ofSeconds(60), false);
        }

        @Override
        public ToolResult execute(ToolCall call) {
            if (executions.incrementAndGet() == 1) {
                database.runInTransaction(c -> {
                    try (Statement statement = c.createStatement()) {
                        statement.execute("select pg_terminate_backend(pg_backend_pid())");
                    }
                });
            }
            return ToolResult.of(JsonNodeFactory.instance.objectNode());
        }
    }

    @Test
    void theStepGoesBackToTheQueueAndUsesNoAttempt(@TempDir Path folder) throws Exception {
        Database database = TestDatabase.create();
        Reading reading = new Reading(database);
        try (Nodes nodes = new Nodes(folder, database, reading)) {
            UUID run = nodes.submit(nodes.node(), """
                    name: reads
                    plan: {tasks: [{id: a, title: A, steps: [{name: one, tool: test.reading}]}]}
                    """);
            nodes.awaitState(run, "completed");
            assertThat(reading.executions).hasValue(2);
            assertThat(nodes.text("select attempt from orchestration_steps where run_id = '" + run + "'"))
                    .isEqualTo("1");
            assertThat(nodes.count("select count(*) from step_results where run_id = '" + run
                    + "' and outcome = 'failed'")).isZero();
        }
    }
}
