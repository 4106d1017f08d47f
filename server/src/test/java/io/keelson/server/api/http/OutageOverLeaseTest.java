package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DetachableDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The database goes away during an effect of a step, for longer than the step's lease. */
@Breadth.InPart(4)
class OutageOverLeaseTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void theStepIsNotExecutedAgain(@TempDir Path folder) throws Exception {
        Path gate = folder.resolve("gate");
        Path done = folder.resolve("done");
        assertThat(new ProcessBuilder("mkfifo", gate.toString()).start().waitFor()).isZero();
        try (DetachableDatabase database = new DetachableDatabase();
                ApiServer api = new ApiServer(folder.resolve("data"), database.url(), Map.of("KEELSON_LEASE_SECONDS",
                        "2", "KEELSON_ALLOWED_PROGRAMS", "sh", "KEELSON_ALLOWED_FOLDERS", folder.toString()))) {
            String run = api.create("""
                    {"name": "effect", "start": true, "plan": {"tasks": [{"id": "t", "title": "T", "steps": [
                      {"name": "work", "tool": "process.run", "input": {"argv":
                        ["sh", "-c", "echo begun >> %s; cat %s; echo done >> %s"]}}]}]}}"""
                    .formatted(done, gate, done));
            Awaitility.await().atMost(LIMIT).until(() -> Files.exists(done));
            database.detach();
            Files.writeString(gate, "go");
            Awaitility.await().atMost(LIMIT).until(() -> Files.readString(done).endsWith("done\n"));
            Awaitility.await().atMost(LIMIT).until(() -> database
                    .read("select holder from work_queue where lease_expires_at < now() - interval '2 s'")
                    .startsWith("node:"));
            database.attach();

            Awaitility.await().atMost(LIMIT).until(() -> database.read("select state from orchestration_runs")
                    .equals("completed"));
            assertThat(Files.readString(done)).isEqualTo("begun\ndone\n");
            assertThat(database.read("select max(lease_epoch) from orchestration_steps")).isEqualTo("1");
            assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(200);
        }
    }
}
