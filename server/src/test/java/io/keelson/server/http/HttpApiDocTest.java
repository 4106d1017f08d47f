package io.keelson.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands in {@code docs/http-api.md} do what the page says. */
class HttpApiDocTest {

    private static final Pattern BLOCK = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);

    @Test
    void runAsTheyStand(@TempDir Path folder) throws Exception {
        assumeThat(Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(each -> Files.isExecutable(Path.of(each, "curl")))).as("there is curl").isTrue();
        String script = BLOCK.matcher(Files.readString(Path.of("..", "docs", "http-api.md"))).results()
                .map(block -> block.group(1)).collect(Collectors.joining("\n", "set -e\n", "\n"));
        Path data = folder.resolve("data");
        Path output = folder.resolve("output");
        try (ApiServer api = new ApiServer(data)) {
            ProcessBuilder shell = new ProcessBuilder("sh", "-c", script).redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            shell.environment().put("KEELSON_DATA_DIR", data.toString());
            Process process = shell.start();
            boolean ended = process.waitFor(60, TimeUnit.SECONDS);
            process.destroyForcibly();

            String said = Files.readString(output);
            assertThat(ended).as(said).isTrue();
            assertThat(process.exitValue()).as(said).isZero();
            assertThat(said).contains("\"event_type\":\"run_created\"").contains("\"status\":\"completed\"")
                    .contains("\"code\":\"INVALID_STATE_TRANSITION\"").contains("\"status\":\"ok\"");
            assertThat(api.get("/api/v1/runs?state=completed").json().get("items").size())
                    .as("but the one that is deleted").isEqualTo(2);
        }
    }
}
