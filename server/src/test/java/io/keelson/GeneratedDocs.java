package io.keelson;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Documentation that is written from the code: a part between two markers must be what the code says. Run the failing
 * test with {@code -Dupdate.docs=true} to bring the file up to date.
 */
public final class GeneratedDocs {

    private static final String END = "<!-- end of generated part -->";

    private GeneratedDocs() {}

    /** @param file relative to the repository's root */
    public static void check(String file, String part, String expected) {
        Path path = Path.of("..", file);
        String begin = "<!-- generated: " + part + " -->";
        try {
            String text = Files.readString(path);
            int from = text.indexOf(begin) + begin.length();
            int to = text.indexOf(END, from);
            assertThat(text).as(file + " has the markers of " + part).contains(begin);
            assertThat(to).as("end marker of " + part + " in " + file).isPositive();
            String wanted = "\n" + expected.strip() + "\n";
            if (Boolean.getBoolean("update.docs")) {
                Files.writeString(path, text.substring(0, from) + wanted + text.substring(to));
            } else {
                assertThat(text.substring(from, to)).as(file + ": run this test with -Dupdate.docs=true")
                        .isEqualTo(wanted);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
