package io.keelson.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.ChildJvm;
import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command, and the test kit of the Python client on it. */
class TestServerCommandTest {
    /** Debian's, whose packages the client needs; another Python may be the first on the path. */
    private static final String PYTHON = Files.exists(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";

    @Test
    void databaseOfTheSettingsIsRefused() {
        Result result = InProcessCli.run(Map.of("KEELSON_DATABASE_URL", "postgresql://127.0.0.1/production"),
                "test-server", "--port", "0");

        assertThat(result.code()).isNotZero();
        assertThat(result.err()).contains("[TEST_DATABASE_GIVEN]");
    }

    @Test
    @Breadth.InPart(6)
    void examplePassesWithPytest(@TempDir Path folder) throws Exception {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.add(1, "-Dkeelson.test.postgres=" + TestPostgres.BINARIES);
        command.add("io.keelson.cli.Main");
        ProcessBuilder builder = new ProcessBuilder(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                Path.of("../examples/tested-mission").toAbsolutePath().normalize().toString())
                .directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_") || name.startsWith("PYTHON"));
        builder.environment().putAll(Map.of("KEELSON_COMMAND", String.join(" ", command), "PYTHONPATH",
                Path.of("../clients/python/src").toAbsolutePath().normalize().toString(), "PYTHONDONTWRITEBYTECODE",
                "1"));
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).contains("3 passed");
    }
}
