package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Unplanned ends of the server: a supervisor must notice them. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class EndTest {

    @TempDir
    Path folder;

    @Test
    @Breadth.InPart(6)
    void withoutItsDatabaseTheServerEndsSayingSoAndTheNextOneStarts() throws Exception {
        try (ServerProcess server = ServerProcess.start(folder, Map.of())) {
            kill("-KILL", postmaster());
            assertThat(server.exitCode()).as(server.log()).isEqualTo(1);
            assertThat(server.log()).contains("[EMBEDDED_POSTGRES_ENDED]")
                    .as("no part waits for a connection").containsPattern("could not deregister the node: .* closed");
        }
        try (ServerProcess next = ServerProcess.start(folder, Map.of())) {
            assertThat(next.client().ready()).isTrue();
        }
    }

    @Test
    void serverInterruptedDuringItsStartReportsTheInterrupt() throws Exception {
        try (ServerProcess server = ServerProcess.launch(folder, Map.of())) {
            Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(5))
                    .until(() -> Files.exists(folder.resolve("lock")));
            kill("-INT", server.pid());
            assertThat(server.exitCode()).as(server.log()).isEqualTo(130);
            assertThat(server.log().lines().filter(line -> !line.contains("Unpack PostgreSQL")))
                    .containsExactly("interrupted before the server was ready");
        }
    }

    private long postmaster() throws Exception {
        return Long.parseLong(Files.readAllLines(folder.resolve("postgres/postmaster.pid")).getFirst().strip());
    }

    private static void kill(String signal, long pid) throws Exception {
        assertThat(new ProcessBuilder("kill", signal, Long.toString(pid)).start().waitFor()).isZero();
    }
}
