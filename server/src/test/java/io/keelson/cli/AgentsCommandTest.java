package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.Cmd.Result;
import io.keelson.server.Server;
import io.keelson.server.Settings;
import io.keelson.server.db.DatabaseUrl;
import io.keelson.server.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The roster as a shell calls it, each command a process beside one server. */
class AgentsCommandTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();

    @TempDir
    private Path folder;

    @Test
    void agentsAreMadeFromFilesAndOptions() throws Exception {
        try (Server _ = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT",
                "0", "KEELSON_DATABASE_URL", "postgresql://" + URL.user() + ":" + URL.password() + "@" + URL.hosts()
                        + "/" + URL.database()),
                folder, folder))) {
            Path file = Files.writeString(folder.resolve("agent.yaml"), """
                    slug: scribe
                    model: small
                    tools: [echo]
                    """);
            Result made = keelson("agents", "create", "--file", file.toString(), "--tool", "noop", "--max-turns", "3");
            assertThat(made.code()).as(made.err()).isZero();
            assertThat(made.out()).contains("scribe", "model: small", "tools: noop", "at most 3");
            assertThat(keelson("agents").out().lines().skip(1).map(line -> line.replaceAll(" +", " ")))
                    .containsExactly("1 scribe small noop scribe");
            assertThat(keelson("agents", "update", "scribe", "--capability", "writing", "--json").json()
                    .get("tools")).isEmpty();
            Result wrong = keelson("agents", "show", "nobody");
            assertThat(wrong.err()).contains("[AGENT_NOT_FOUND]");
            assertThat(keelson("agents", "delete", "scribe").out()).isEqualTo("scribe is deleted\n");
        }
    }

    private Result keelson(String... arguments) throws Exception {
        return Cmd.start(folder, Map.of(), arguments).end();
    }
}
