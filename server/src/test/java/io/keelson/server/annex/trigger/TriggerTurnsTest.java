package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two workspaces, of which one has many events. */
class TriggerTurnsTest {

    private static final String INSERTED = """
            insert into trigger_deliveries (id, workspace_id, trigger_id, key, run_id, headers, body, due_at)
            select gen_random_uuid(), '%s', '%s', n, gen_random_uuid(), '{}', '{}', clock_timestamp() - interval '%d s'
              from generate_series(1, %d) as n;""";

    @TempDir
    private Path folder;

    @Test
    void floodOfAWorkspaceDelaysTheEventOfAnotherByTwoBatches() throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            UUID many = UUID.randomUUID();
            UUID one = UUID.randomUUID();
            UUID flooded = TestTriggers.insert(api.database(), many);
            UUID other = TestTriggers.insert(api.database(), one);
            api.sql("update triggers set definition = '{\"source\": {\"kind\": \"event\", \"event\": \"x\", \"secrets\": [],"
                    + " \"tolerance_seconds\": 300}, \"filter\": \"${ false }\", \"inputs\": {}}'");
            // The flood was due earlier, and becomes visible together with the other event.
            api.sql(INSERTED.formatted(many, flooded, 60, 1000) + INSERTED.formatted(one, other, 1, 1));

            Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                    .until(() -> TestTriggers.count(api.database(),
                            "select count(*) from trigger_deliveries where state = 'pending'") == 0);

            assertThat(TestTriggers.count(api.database(), "select count(*) from trigger_deliveries where trigger_id = '"
                    + flooded + "' and decided_at < (select decided_at from trigger_deliveries where trigger_id = '"
                    + other + "')")).isLessThanOrEqualTo(128);
        }
    }
}
