package io.keelson;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The size of the main Java code is what {@code docs/internals/size.md} permits. */
class SizeTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final String PAGE = "docs/internals/size.md";
    private static final int LARGE_FILE = 400;
    private static final int LARGE_FOLDER = 50;
    /** A bound that is further above the size is lowered. */
    private static final int SLACK = 300;

    private static final Pattern GROUP = Pattern.compile("^\\| `([\\w/]+)` \\| ([\\d,]+) \\|", Pattern.MULTILINE);
    private static final Pattern LARGE =
            Pattern.compile("^\\| `([\\w/.]+)` \\| ([\\d,]+) (?:lines|files) \\|", Pattern.MULTILINE);

    private record Source(String path, int lines) {

        /** The module, and of the server the group. */
        String group() {
            String module = path.substring(0, path.indexOf('/'));
            if (!module.equals("server")) {
                return module;
            }
            String below = path.substring(path.indexOf("/io/keelson/server/") + "/io/keelson/server/".length());
            return "server/" + below.substring(0, below.indexOf('/'));
        }

        String folder() {
            return path.substring(0, path.lastIndexOf('/'));
        }
    }

    private static final List<Source> SOURCES = read();

    private static List<Source> read() {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.map(module -> module.resolve("src/main/java")).filter(Files::isDirectory)
                    .flatMap(SizeTest::files).toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Stream<Source> files(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).map(SizeTest::source).toList().stream();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Source source(Path file) {
        try {
            return new Source(ROOT.relativize(file).toString(), Files.readAllLines(file).size());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Integer> rows(Pattern row) throws IOException {
        Map<String, Integer> rows = new TreeMap<>();
        for (Matcher found = row.matcher(Files.readString(ROOT.resolve(PAGE))); found.find();) {
            rows.put(found.group(1), Integer.parseInt(found.group(2).replace(",", "")));
        }
        return rows;
    }

    private static void withinBounds(Map<String, Integer> sizes, Map<String, Integer> bounds, int slack) {
        assertThat(bounds.keySet()).as("rows of %s", PAGE).isEqualTo(sizes.keySet());
        assertThat(sizes).allSatisfy((name, size) -> assertThat(bounds.get(name))
                .as("bound of %s in %s: raise it with a reason, or lower it to the size", name, PAGE)
                .isBetween(size, size + slack));
    }

    @Test
    void eachGroupHasAtMostTheLinesOfItsRow() throws IOException {
        withinBounds(SOURCES.stream().collect(Collectors.groupingBy(Source::group, TreeMap::new,
                Collectors.summingInt(Source::lines))), rows(GROUP), SLACK);
    }

    @Test
    void largeFilesAndFoldersAreListed() throws IOException {
        Map<String, Integer> large = new TreeMap<>();
        SOURCES.stream().filter(source -> source.lines > LARGE_FILE)
                .forEach(source -> large.put(source.path, source.lines));
        SOURCES.stream().collect(Collectors.groupingBy(Source::folder, Collectors.summingInt(_ -> 1)))
                .forEach((folder, files) -> {
                    if (files > LARGE_FOLDER) {
                        large.put(folder, files);
                    }
                });
        withinBounds(large, rows(LARGE), SLACK / 10);
    }
}
