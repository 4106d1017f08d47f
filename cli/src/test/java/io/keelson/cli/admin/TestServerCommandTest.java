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
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command, and the test kits of the Python and the TypeScript client on it. */
class TestServerCommandTest {
    private static final Path EXAMPLE = Path.of("../examples/tested-mission").toAbsolutePath().normalize();
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
        assertThat(execute(folder, PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE.toString()))
                .contains("4 passed");
    }

    /** With the client that the tests of the server have built. */
    @Test
    @Breadth.InPart(5)
    void examplePassesWithNode(@TempDir Path folder) throws Exception {
        Path client = Path.of("../server/target/clients/typescript").toAbsolutePath().normalize();
        Assumptions.assumeTrue(Files.exists(client.resolve("dist/testing.js")),
                "LEFT OUT: the TypeScript client was not built, so its test kit was not tried");
        Path packages = Files.createDirectories(folder.resolve("node_modules/@keelson"));
        Files.createSymbolicLink(packages.resolve("client"), client);
        Files.createSymbolicLink(folder.resolve("node_modules/js-yaml"), client.resolve("node_modules/js-yaml"));
        for (String file : List.of("reminder.yaml", "reminder.test.mjs")) {
            Files.copy(EXAMPLE.resolve(file), folder.resolve(file));
        }
        assertThat(execute(folder, "node", "--test", "reminder.test.mjs")).contains("pass 4", "fail 0");
    }

    private static String execute(Path folder, String... words) throws Exception {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.add(1, "-Dkeelson.test.postgres=" + TestPostgres.BINARIES);
        command.add("io.keelson.cli.Main");
        ProcessBuilder builder = new ProcessBuilder(words).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_") || name.startsWith("PYTHON")
                || name.startsWith("NODE_"));
        builder.environment().putAll(Map.of("KEELSON_COMMAND", String.join(" ", command), "PYTHONPATH",
                Path.of("../clients/python/src").toAbsolutePath().normalize().toString(), "PYTHONDONTWRITEBYTECODE",
                "1"));
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
