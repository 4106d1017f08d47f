package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The modules and styles of the dashboard as Prettier formats them. {@code -Dupdate.docs=true} formats them. The page is not
 * formatted: the hash of its import map is in the content security policy.
 */
@Breadth.InPart(0)
class WebFormatTest {

    private static final Path SOURCES = Path.of("src", "main", "resources", "web").toAbsolutePath();
    private static final int MAX_PASSES = 8;
    private static final Path OPTIONS = Path.of("..", "config", "prettier.json").toAbsolutePath();

    @TempDir
    private static Path folder;

    private static Path prettier;

    private static String prettier(Path sources, String action) throws Exception {
        if (prettier == null) {
            prettier = WebJar.copy("prettier", ".*\\.(json|[cm]js)", folder);
        }
        Process process = new ProcessBuilder("node", prettier.resolve("bin/prettier.cjs").toString(), "--config",
                OPTIONS.toString(), "--log-level", "warn", action, "**/*.{js,css}").redirectErrorStream(true)
                .directory(sources.toFile()).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return output;
    }

    @Test
    void sourcesAreFormatted() throws Exception {
        // Prettier formats one more level of nested templates in each pass.
        for (int pass = 0; Boolean.getBoolean("update.docs") && pass < MAX_PASSES
                && !prettier(SOURCES, "--check").isEmpty(); pass++) {
            prettier(SOURCES, "--write");
        }
        assertThat(prettier(SOURCES, "--check")).as("run this test with -Dupdate.docs=true").isEmpty();
    }

    @Test
    void otherSourcesAreReported() throws Exception {
        Path sources = Files.createDirectory(folder.resolve("sources"));
        Files.writeString(sources.resolve("wrong.js"), "export const one = {a: 1}\n");

        assertThat(prettier(sources, "--check")).contains("wrong.js");
    }
}
