package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Outputs that are each within bounds cannot fill the server's memory when an evaluation puts them together. */
class OutputBoundsTest {
    /** Together about 90 MB as trees, and 2 MB as text. */
    private static final int OUTPUTS = 24;
    private static final String STEP = """
            {"tool": "echo", "input": {"list": "${ [range(30000) | {}] }"}}""";

    private static ApiServer api;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    private static void tooLarge(String tasks, String output) {
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [%s]}, "output": "%s"}""".formatted(tasks, output));
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("OUTPUT_TOO_LARGE");
    }

    @Test
    void itemsOfAFanOutAreBoundedTogether() {
        tooLarge("""
                {"id": "a", "for_each": "${ [range(%d)] }", "steps": [%s]}""".formatted(OUTPUTS, STEP), "done");
    }

    @Test
    void outputsOfTasksAreBoundedTogether() {
        tooLarge(IntStream.range(0, OUTPUTS).mapToObj(i -> "{\"id\": \"t" + i + "\", \"steps\": [" + STEP + "]}")
                .collect(Collectors.joining(", ")), "${ .tasks | length }");
    }
}
