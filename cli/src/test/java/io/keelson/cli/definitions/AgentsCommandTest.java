package io.keelson.cli.definitions;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The roster as a shell calls it, beside one server. */
class AgentsCommandTest {
    @TempDir
    private Path folder;

    @Test
    void agentsAreMadeFromFilesAndOptions() throws Exception {
        try (InProcessCli inProcessCli = new InProcessCli(folder)) {
            Path file = Files.writeString(folder.resolve("agent.yaml"), """
                    slug: scribe
                    model: small
                    tools: [echo]
                    """);
            Result made =
                    inProcessCli.run("agents", "create", "--file", file.toString(), "--tool", "noop", "--max-turns",
                            "3");
            assertThat(made.code()).as(made.err()).isZero();
            assertThat(made.out()).contains("scribe", "model: small", "tools: noop", "at most 3");
            assertThat(inProcessCli.run("agents").out().lines().skip(1).map(line -> line.replaceAll(" +", " ")))
                    .containsExactly("1 scribe small noop scribe");
            assertThat(inProcessCli.run("agents", "update", "scribe", "--capability", "writing", "--json").json()
                    .get("tools")).isEmpty();
            Result wrong = inProcessCli.run("agents", "show", "unknown");
            assertThat(wrong.err()).contains("[AGENT_NOT_FOUND]");
            assertThat(inProcessCli.run("agents", "delete", "scribe").out()).isEqualTo("scribe is deleted\n");
        }
    }
}
