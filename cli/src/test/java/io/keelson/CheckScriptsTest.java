package io.keelson;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scripts of {@code ./check}, in a repository of their own. */
class CheckScriptsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern ROW =
            Pattern.compile("^\\s+([\\w./-]+)\\*\\) echo ([0-6]) ;; +# (.+)$", Pattern.MULTILINE);

    @TempDir
    Path checkout;

    private record Ended(int code, String output) {}

    @BeforeEach
    void begin() throws Exception {
        for (String name : List.of("check-part", "flaky-tests")) {
            write("scripts/" + name, Files.readString(ROOT.resolve("scripts").resolve(name)));
            assertThat(checkout.resolve("scripts").resolve(name).toFile().setExecutable(true)).isTrue();
        }
        write("config/flaky.txt", "");
        write(".gitignore", "target/\n");
        run("git", "init", "-q");
        commit("first");
    }

    @Test
    void commitHasOneOfItsOwnPartAndThePartsAboutItsPaths() throws Exception {
        Set<String> parts = new HashSet<>();
        for (int i = 0; i < 40; i++) {
            write("server/src/main/java/io/keelson/server/annex/mcp/Tool" + i + ".java", "class Tool" + i + " {}");
            commit("change " + i);
            Ended part = run("scripts/check-part");
            assertThat(run("scripts/check-part")).as("the same commit").isEqualTo(part);
            parts.add(part.output.strip());
        }
        assertThat(parts).as("2 is about mcp, the others rotate").contains("2").hasSizeGreaterThan(1)
                .allMatch(part -> part.matches("[0-6]"));
    }

    @Test
    void partIsThatOfTheTestAndPathsExist() throws Exception {
        List<String> wrong = ROW.matcher(Files.readString(ROOT.resolve("scripts/check-part"))).results()
                .filter(row -> !Files.isDirectory(ROOT.resolve(row.group(1)))
                        || !List.of(row.group(3).split(", ")).stream()
                                .allMatch(test -> sources(test).contains("InPart(" + row.group(2) + ")")))
                .map(row -> row.group().strip()).toList();
        assertThat(ROW.matcher(Files.readString(ROOT.resolve("scripts/check-part"))).results().count())
                .isGreaterThan(10);
        assertThat(wrong).isEmpty();
    }

    @Test
    void secondEntryOfAFlakyTestFails() throws Exception {
        write("server/target/surefire-reports/TEST-a.xml", """
                <testcase name="works(int)[1]" classname="io.keelson.ATest" time="1">
                <flakyFailure message="expected: 1" type="x"/></testcase>
                <testcase name="others" classname="io.keelson.BTest" time="1"/>
                """);
        Ended first = run("scripts/flaky-tests");
        assertThat(first.code).isZero();
        assertThat(first.output).isEqualTo("check: FLAKY: io.keelson.ATest#works: expected: 1\n");
        assertThat(Files.readString(checkout.resolve("config/flaky.txt"))).matches("\\w{7,} io.keelson.ATest#works\n");

        Ended second = run("scripts/flaky-tests");
        assertThat(second.code).isEqualTo(1);
        assertThat(second.output).contains("FLAKY TWICE: io.keelson.ATest#works");

        write("server/target/surefire-reports/TEST-a.xml", "<testcase name=\"works\" classname=\"io.keelson.ATest\"/>");
        assertThat(run("scripts/flaky-tests")).isEqualTo(new Ended(0, ""));
    }

    private static String sources(String test) {
        try (var server = Files.walk(ROOT.resolve("server/src/test/java"));
                var cli = Files.walk(ROOT.resolve("cli/src/test/java"))) {
            Path found =
                    Stream.concat(server, cli).filter(file -> file.endsWith(test + ".java")).findFirst().orElseThrow();
            return Files.readString(found);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void commit(String message) throws Exception {
        run("git", "add", "-A");
        assertThat(run("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", message).code)
                .isZero();
    }

    private void write(String name, String text) throws IOException {
        Path file = checkout.resolve(name);
        Files.createDirectories(file.getParent());
        Path temporary = Files.writeString(checkout.resolve("new"), text);
        Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING);
    }

    private Ended run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).directory(checkout.toFile()).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }
}
