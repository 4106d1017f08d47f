package io.keelson.client.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    void guideShowsTestsOfTheExample() throws IOException {
        Path root = Path.of("..");
        Path folder = root.resolve("examples/tested-mission");
        String guide = Files.readString(root.resolve("docs/guide/testing.md"));
        String example =
                words(Files.readString(folder.resolve("src/test/java/example/ReminderTest.java"))) + " "
                        + words(Files.readString(folder.resolve("conftest.py"))) + " "
                        + words(Files.readString(folder.resolve("test_reminder.py"))) + " "
                        + words(Files.readString(folder.resolve("reminder.test.mjs")));

        Matcher blocks = Pattern.compile("```(?:java|python|js)\\n(.*?)```", Pattern.DOTALL).matcher(guide);
        assertThat(blocks.results().map(block -> words(block.group(1)))).hasSize(7)
                .allSatisfy(block -> assertThat(example).contains(block));
    }

    private static String words(String text) {
        return text.strip().replaceAll("\\s+", " ");
    }

    @Test
    void theProgramsOfTheGuideCompile() throws IOException {
        List<Path> files = Sources.programs("guide/worker-sdk.md", folder);

        assertThat(files).extracting(file -> file.getFileName().toString())
                .containsExactly("Submit.java", "Greeter.java");
        assertThat(Sources.compile(files, folder)).isEmpty();
    }
}
