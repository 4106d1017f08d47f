package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.client.Keelson;
import io.keelson.client.RunQuery;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** From an embedded database at work to another one and back, with every command killed several times before it ends. */
@Breadth.InPart(2)
@ExtendWith(Breadth.InFailures.class)
class BackupKillsTest {

    @TempDir
    Path folder;

    /**
     * Kills the command after a longer and longer time, and continues it, until it succeeds, or says that it had finished when it was
     * killed.
     */
    private int untilDone(Path data, Map<String, String> environment, String... command) throws Exception {
        for (int kills = 0;; kills++) {
            CliProcess process = CliProcess.start(data, environment, command);
            if (process.process().waitFor(Duration.ofMillis((long) (300 * Math.pow(1.6, kills))))) {
                CliProcess.Result result = process.end();
                boolean endedBefore = kills > 0
                        && result.err().matches("(?s).*\\[(BACKUP_FOLDER_NOT_EMPTY|RESTORE_TARGET_NOT_EMPTY)].*");
                assertThat(result.code() == 0 || endedBefore).as(result.err()).isTrue();
                return kills;
            }
            process.process().destroyForcibly().onExit().join();
        }
    }

    @Test
    void everythingIsMovedAndBack() throws Exception {
        Path data = folder.resolve("data");
        String backup = folder.resolve("backup").toString();
        try (ServerProcess server = ServerProcess.start(data, Map.of())) {
            Keelson client = server.client();
            for (int i = 0; i < 20; i++) {
                client.runs().execute(RunRequest.of(Mission.named("moved").task("a",
                        task -> task.step("write", "artifact.write", Map.of("name", "n.txt", "content", "x")))
                        .toJson()).start(),
                        Duration.ofMinutes(1));
            }
            assertThat(untilDone(data, Map.of(), "backup", backup)).isPositive();
        }
        DatabaseUrl own = TestDatabase.createEmptyUrlOfPlainOwner();
        Path second = folder.resolve("second");
        Map<String, String> there = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(own));
        assertThat(untilDone(second, there, "restore", backup)).isPositive();
        assertMoved(second, there);

        String back = folder.resolve("back").toString();
        assertThat(CliProcess.start(second, there, "backup", back).end().code()).isZero();
        Path third = folder.resolve("third");
        assertThat(untilDone(third, Map.of(), "restore", back)).isPositive();
        assertMoved(third, Map.of());
    }

    private static void assertMoved(Path data, Map<String, String> environment) throws Exception {
        assertThat(Files.exists(data.resolve("artifacts"))).isTrue();
        try (ServerProcess server = ServerProcess.start(data, environment)) {
            CliProcess.Result ledger = CliProcess.start(data, environment, "ledger", "verify", "--all").end();
            assertThat(ledger.code()).as(ledger.err()).isZero();
            Keelson client = server.client();
            assertThat(client.runs().list(RunQuery.all()).items()).hasSize(20).allMatch(run -> run.completed());
        }
    }
}
