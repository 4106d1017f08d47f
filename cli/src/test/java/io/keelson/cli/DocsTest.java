package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.ChildJvm;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The commands of README, docs and examples work as written. Each page's {@code sh} blocks run in one shell, in order,
 * in a folder with the examples, beside a server with the models of {@code examples/first-mission}. YAML blocks that begin with the comment {@code # NAME.yaml} are in that
 * folder. Of the blocks in {@link #NOT_RUN} only the {@code keelson} commands are checked: whether they exist, with these
 * options.
 */
// The longest class of the module begins first, so that nothing waits for it alone.
@Order(1)
class DocsTest {

    private record NotRun(String page, String begin, String reason) {}

    private static final String PLACEHOLDERS = "has placeholders for what the reader has";
    private static final String ENDLESS = "runs until it is stopped";
    private static final String FAILS = "its run fails on purpose";
    private static final String MAVEN = "a build of its own, which takes minutes";
    private static final String OWN_TOOLS = "needs tools, planners or providers of the reader's own";
    private static final String OWN_WORKER = "starts a server and a worker of its own; other tests run it";

    /** Pages whose blocks are all placeholders come with an empty beginning. */
    private static final List<NotRun> NOT_RUN = List.of(new NotRun("README.md", "./keelson doctor", PLACEHOLDERS),
            new NotRun("examples/README.md", "./keelson run examples/undo.yaml", FAILS),
            new NotRun("docs/guide/getting-started.md", "./keelson server", ENDLESS),
            new NotRun("docs/guide/agents.md", "./keelson agents create", PLACEHOLDERS),
            new NotRun("docs/guide/artifacts.md", "curl", PLACEHOLDERS),
            new NotRun("docs/guide/bring-your-agent.md", "./keelson worker", ENDLESS),
            new NotRun("docs/guide/bring-your-agent.md", "examples/", OWN_WORKER),
            new NotRun("docs/guide/dev-model.md", "./keelson dev-model", ENDLESS),
            new NotRun("docs/internals/benchmarks.md", "./benchmark", MAVEN),
            new NotRun("docs/operate/archive.md", "./keelson archive restore", PLACEHOLDERS),
            new NotRun("docs/operate/backup.md", "", PLACEHOLDERS),
            new NotRun("docs/operate/install.md", "", PLACEHOLDERS),
            new NotRun("docs/operate/object-stores.md", "", PLACEHOLDERS),
            new NotRun("docs/operate/operations.md", "mvn", MAVEN),
            new NotRun("docs/operate/operations.md", "curl", "needs Grafana"),
            new NotRun("docs/operate/three-servers.md", "", PLACEHOLDERS),
            new NotRun("docs/operate/scaling.md", "scripts/", "a test of its own"),
            new NotRun("docs/operate/kubernetes.md", "", "needs a cluster"),
            new NotRun("docs/guide/board.md", "./keelson board", PLACEHOLDERS),
            new NotRun("docs/guide/budgets.md", "keelson budget RUN", PLACEHOLDERS),
            new NotRun("docs/guide/commands.md", "curl", OWN_TOOLS),
            new NotRun("docs/guide/composition.md", "./keelson signal", PLACEHOLDERS),
            new NotRun("docs/reference/events.md", "curl", ENDLESS),
            new NotRun("docs/reference/events.md", "keelson events latest", ENDLESS),
            new NotRun("docs/guide/evaluation.md", "examples/", OWN_WORKER),
            new NotRun("docs/guide/first-mission.md", "./keelson dev-model", ENDLESS),
            new NotRun("docs/guide/from-a-key.md", "", OWN_TOOLS),
            new NotRun("docs/guide/inbox.md", "./keelson inbox", PLACEHOLDERS),
            new NotRun("docs/guide/notifications.md", "./keelson notifications add mailto", PLACEHOLDERS),
            new NotRun("docs/guide/notifications.md", "./keelson notifications mine", PLACEHOLDERS),
            new NotRun("docs/guide/planning.md", "./keelson run goal.yaml", OWN_TOOLS),
            new NotRun("docs/internals/proof.md", "mvn", MAVEN),
            new NotRun("docs/operate/runbooks.md", "", PLACEHOLDERS),
            new NotRun("docs/guide/secrets.md", "./keelson secrets set", "asks at the terminal"),
            new NotRun("docs/reference/traces.md", "OTEL", ENDLESS),
            new NotRun("docs/guide/webhooks.md", "./keelson webhooks create", PLACEHOLDERS),
            new NotRun("docs/guide/worker-sdk.md", "java", OWN_WORKER),
            new NotRun("examples/README.md", "cd examples/workers", ENDLESS),
            new NotRun("examples/README.md", "examples/", OWN_WORKER));

    private static final List<String> FIRST_PAGES =
            List.of("README.md", "docs/guide/getting-started.md");

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern BLOCK = Pattern.compile("^```(\\w*)\\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern COMMAND =
            Pattern.compile("^(\\./keelson|keelson|curl|java|mvn|examples/\\S+\\.sh) .*", Pattern.MULTILINE);
    private static final Duration TIMEOUT = Duration.ofSeconds(120);

    /** A block of commands, in order of its page. */
    private record Block(String page, String language, String text) {

        boolean listed(NotRun entry) {
            return entry.page().equals(page) && text.startsWith(entry.begin());
        }
    }

    @TempDir
    static Path home;

    private static Path folder;
    private static Process host;

    @BeforeAll
    static void startHost() throws Exception {
        folder = Files.createDirectory(home.resolve("keelson-checkout"));
        copy(ROOT.resolve("examples"), folder.resolve("examples"));
        copy(ROOT.resolve("docs"), folder.resolve("docs"));
        Path port = home.resolve("port");
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.addAll(List.of(DocsHost.class.getName(), port.toString()));
        ProcessBuilder builder = shell(command);
        builder.environment().putAll(Map.of("KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                TestDatabase.text(TestDatabase.createUrl()), "KEELSON_ALLOWED_FOLDERS", folder.toString()));
        host = builder.redirectOutput(home.resolve("host.log").toFile()).start();
        Awaitility.await().atMost(TIMEOUT).until(() -> Files.exists(port) || !host.isAlive());
        assertThat(port).as(() -> text(home.resolve("host.log"))).exists();
        Path keelson = folder.resolve("keelson");
        Files.writeString(keelson, """
                #!/bin/sh
                # 4, the run waits for a person, is what a document may lead to
                answer=$({ [ $# = 0 ] || printf '%%s\\0' "$@"; } \\
                    | curl -sS --data-binary @- "http://127.0.0.1:%s/${KEELSON_DOCS:-run}")
                printf '%%s\\n' "$answer" | sed 1d
                code=$(printf '%%s\\n' "$answer" | sed -n 1p)
                [ "$code" = 4 ] || exit "$code"
                """.formatted(Files.readString(port)));
        Files.setPosixFilePermissions(keelson, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterAll
    static void stopHost() throws Exception {
        host.getOutputStream().close();
        if (!host.waitFor(30, TimeUnit.SECONDS)) {
            host.destroyForcibly();
        }
    }

    static Stream<String> pages() throws IOException {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of("README.md", "examples/README.md"),
                    docs.map(file -> ROOT.relativize(file).toString()).filter(page -> !page.startsWith("docs/adr/"))
                            .sorted().toList().stream())
                    .filter(page -> page.endsWith(".md") && blocks(page).stream()
                            .anyMatch(block -> block.language().equals("sh")))
                    .toList().stream();
        }
    }

    /** Pages that each part executes, and one of seven of the others. */
    static Stream<String> executedPages() throws IOException {
        return Stream.concat(FIRST_PAGES.stream(),
                Breadth.of(pages().filter(page -> !FIRST_PAGES.contains(page)).toList()).stream());
    }

    @ParameterizedTest
    @MethodSource("executedPages")
    void documentedCommandsRunUnchanged(String page) throws Exception {
        writeMissions();
        String script = script(page, block -> NOT_RUN.stream().noneMatch(block::listed));

        run(script, "run");
    }

    @ParameterizedTest
    @MethodSource("pages")
    void commandsThatAreNotRunExist(String page) throws Exception {
        String script = script(page, block -> NOT_RUN.stream().anyMatch(block::listed));
        Matcher commands = Pattern.compile("^(?:\\./)?keelson (?:.*\\\\\\n)*.*$", Pattern.MULTILINE).matcher(script);
        String parsed = String.join("\n", commands.results().map(each -> each.group().replace("…", "x")).toList());

        run(parsed, "parse");
    }

    @Test
    void blocksOfCommandsAreMarkedAsSuch() throws IOException {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            assertThat(Stream.concat(Stream.of("README.md", "examples/README.md"),
                    docs.map(file -> ROOT.relativize(file).toString()).filter(page -> !page.startsWith("docs/adr/"))
                            .filter(page -> page.endsWith(".md")))
                    .flatMap(page -> blocks(page).stream())
                    .filter(block -> !block.language().equals("sh") && COMMAND.matcher(block.text()).lookingAt()))
                    .as("begin with ```sh").isEmpty();
        }
    }

    @Test
    void theNightlyReportHasItsFigures() throws Exception {
        run("""
                set -e
                mkdir -p counted/sub
                printf 'one\ntwo\n' > counted/sub/text
                keelson run examples/nightly-report.yaml --input path=counted --out nightly
                grep 'Files: 1, folders: 1, lines: 2, bytes: 8' nightly/report.md
                """, "run");
    }

    @Test
    void theRepositoryReportLeavesOutWhatBuildsMake() throws Exception {
        run("""
                set -e
                mkdir -p built/target
                echo source > built/source
                echo class > built/target/class
                keelson run examples/repository-report.yaml --input path=built --out described
                grep ': 1 files in 0 folders' described/report.md
                """, "run");
    }

    @Test
    @Breadth.InPart({0, 2})
    void theFirstMissionIsJudgedAndWaitsForAPerson() throws Exception {
        run("""
                set -e
                keelson run examples/first-mission/mission.yaml --input path=examples/first-mission/texts > judged
                grep 'summarise.* retries' judged
                RUN=$(sed -n 's/.* waits for a person *run //p' judged)
                keelson approve $RUN
                keelson watch $RUN
                keelson artifacts $RUN --get summaries.md
                grep 'museum.txt: Until spring the ships are in the hall' summaries.md
                grep 'ferry.txt: Two ferries a day' summaries.md
                """, "run");
    }

    @Test
    void everyExceptionIsNeeded() throws IOException {
        List<Block> all = pages().flatMap(page -> blocks(page).stream()).toList();

        assertThat(NOT_RUN).allSatisfy(entry -> assertThat(all).anyMatch(block -> block.listed(entry)));
    }

    private static void run(String script, String how) throws Exception {
        Path output = Files.createTempFile(home, "output", ".txt");
        ProcessBuilder builder = shell(List.of("sh", "-c", script)).redirectOutput(output.toFile());
        builder.environment().putAll(Map.of("KEELSON_DOCS", how,
                "PATH", folder + ":" + System.getenv("PATH"),
                "URL", Files.readString(home.resolve(".keelson/url")).strip(),
                "KEY", Files.readString(home.resolve(".keelson/api-key")).strip()));
        Process process = builder.start();
        process.getOutputStream().close();
        boolean ended = process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        // a worker left behind takes steps of later pages
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();

        assertThat(ended).as(() -> "ended:\n" + text(output)).isTrue();
        assertThat(process.exitValue()).as(() -> text(output)).isZero();
    }

    private static ProcessBuilder shell(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().put("HOME", home.toString());
        return builder;
    }

    private static String script(String page, Predicate<Block> which) {
        return "set -e\n" + String.join("\n", blocks(page).stream()
                .filter(block -> block.language().equals("sh")).filter(which).map(Block::text).toList()) + "\n";
    }

    /** The missions that documents tell the reader to write, and one for pages that call a mission of the reader's. */
    private static void writeMissions() throws IOException {
        Files.writeString(folder.resolve("mission.yaml"), """
                name: nightly-report
                inputs: {path: {type: string, format: path, default: "."}}
                plan: {tasks: [{id: look, steps: [{tool: files.list, input: {path: "${ .inputs.path }"}}]}]}
                """);
        pages().flatMap(page -> blocks(page).stream()).forEach(block -> {
            Matcher name = Pattern.compile("# (\\S+\\.yaml)\\n").matcher(block.text());
            if (block.language().equals("yaml") && name.lookingAt()) {
                write(folder.resolve(name.group(1)), block.text());
            }
        });
    }

    private static List<Block> blocks(String page) {
        return BLOCK.matcher(text(ROOT.resolve(page))).results()
                .map(found -> new Block(page, found.group(1), found.group(2))).toList();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }
}
