package io.keelson.client.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What readers copy must compile, without a warning, on Java 17. */
class SourcesTest {

    @TempDir
    Path folder;

    @Test
    void theExamplesCompile() throws IOException {
        List<Path> files = Sources.examples();

        assertThat(files).extracting(file -> file.getFileName().toString())
                .contains("WordCountWorker.java", "SubmitWordCount.java");
        assertThat(Sources.compile(files, folder)).isEmpty();
    }

    @Test
    void theProgramsOfTheGuideCompile() throws IOException {
        List<Path> files = Sources.programs("guide/worker-sdk.md", folder);

        assertThat(files).extracting(file -> file.getFileName().toString())
                .containsExactly("Submit.java", "Greeter.java");
        assertThat(Sources.compile(files, folder)).isEmpty();
    }
}
