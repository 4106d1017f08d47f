package io.keelson.server.work.builtin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.RefusedPlaces;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

@Breadth.Spread
class FilesToolsTest {

    @TempDir
    Path base;
    private Path root;
    private Calls calls;

    @BeforeEach
    void makeTree() throws IOException {
        root = Files.createDirectories(base.resolve("root"));
        write("README.md", "# Title\nTODO one\n");
        write("src/Main.java", "class Main {\n  // TODO: a TODO\n  // FIXME later\n}");
        write("src/deep/er/x.py", "a\n\n\n");
        write(".hidden", "h\n");
        write(".git/config", "TODO\n");
        write("n\u00efce \u5b57.txt", "\u00e4\u00f6\n");
        write("data.bin", "TODO\n\0\n");
        Files.createSymbolicLink(root.resolve("link"), Path.of("src"));
        Files.writeString(base.resolve("outside.txt"), "secret");
        Files.createDirectories(base.resolve("root-beside"));
        Files.createSymbolicLink(root.resolve("out"), base.resolve("outside.txt"));
        Files.createSymbolicLink(root.resolve("out-folder"), base);
        Files.createSymbolicLink(root.resolve("loop"), Path.of("loop"));
        calls = new Calls(ToolPolicy.of(List.of(root)), base.resolve("artifacts"));
    }

    @Test
    void listsLikeFindAndWc() throws Exception {
        JsonNode listing = calls.output("files.list", "{\"recursive\": true, \"lines\": true, \"exclude\": []}");
        Map<String, String> sizes = new TreeMap<>();
        Map<String, String> lines = new TreeMap<>();
        listing.get("entries").forEach(each -> {
            sizes.put(each.get("path").stringValue(),
                    each.get("type").stringValue().charAt(0) + " " + each.get("size"));
            if (each.has("lines")) {
                lines.put(each.get("path").stringValue(), each.get("lines").toString());
            }
        });
        assertThat(sizes).isEqualTo(table("find . -mindepth 1 -printf '%P\\t%y %s\\n' | sed 's/\\tl /\\ts /'"));
        assertThat(lines).isEqualTo(table(
                "find . -type f -printf '%P\\n' | while read -r f; do printf '%s\\t%s\\n' \"$f\" \"$(wc -l < \"$f\")\"; done"));
        assertThat(listing.get("truncated").booleanValue()).isFalse();
        JsonNode summary = listing.get("summary");
        assertThat(summary.get("files").toString()).isEqualTo(shell("find . -type f | wc -l"));
        assertThat(summary.get("bytes").toString())
                .isEqualTo(shell("find . -type f -printf '%s\\n' | awk '{s+=$1} END {print s}'"));
        assertThat(summary.get("lines").toString()).isEqualTo(shell("find . -type f -exec cat {} + | wc -l"));
        assertThat(summary.get("symlinks").intValue()).isEqualTo(4);
        assertThat(summary.get("binary_files").intValue()).isEqualTo(1);
        assertThat(summary.at("/longest/0/path").stringValue()).isEqualTo("src/Main.java");
    }

    @Test
    void skipsGitUnlessAsked() {
        assertThat(paths("{\"recursive\": true}")).doesNotContain(".git", ".git/config").contains(".hidden");
        assertThat(paths("{\"exclude\": []}")).contains(".git");
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "{\"path\": \"src\"}                                        => Main.java deep",
            "{\"path\": \"src\", \"recursive\": true}                   => Main.java deep deep/er deep/er/x.py",
            "{\"path\": \"src\", \"recursive\": true, \"max_depth\": 2} => Main.java deep deep/er",
            "{\"path\": \"src/Main.java\"}                              => Main.java",
            "{\"path\": \"link\"}                                       => Main.java deep",
            "{\"recursive\": true, \"glob\": \"*.java\"}                => src/Main.java",
            "{\"recursive\": true, \"glob\": [\"src/*\", \"**/*.py\"]}  => src/Main.java src/deep/er/x.py",
            "{\"recursive\": true, \"glob\": \"**/*.{md,py}\"}          => README.md src/deep/er/x.py",
            "{\"recursive\": true, \"glob\": \"[R-Z]*.m?\"}             => README.md",
            "{\"recursive\": true, \"exclude\": [\".*\", \"src/deep\", \"*.bin\", \"n*\"], \"glob\": \"*.*\"} => README.md src/Main.java",
            "{\"path\": \"n\\u00efce \\u5b57.txt\"}                     => n\u00efce \u5b57.txt",
            "{\"recursive\": true, \"max_entries\": 2, \"exclude\": [\".*\"]} => README.md data.bin",
    })
    void lists(String input, String expected) {
        assertThat(String.join(" ", paths(input))).isEqualTo(expected);
    }

    @Test
    void theSummaryCoversWhatIsCutOff() {
        JsonNode listing = calls.output("files.list", "{\"recursive\": true, \"max_entries\": 1, \"top\": 1}");
        assertThat(listing.get("truncated").booleanValue()).isTrue();
        assertThat(listing.at("/summary/files").intValue()).isEqualTo(6);
        assertThat(listing.at("/summary/largest")).hasSize(1);
        assertThat(listing.at("/summary/by_language")).extracting(each -> each.get("language").stringValue())
                .containsExactlyInAnyOrder("Java", "Markdown", "Python", "Text", "Other");
    }

    /** The server's data and keys, though they lie below an allowed folder, by every path that leads there. */
    @ParameterizedTest
    @ValueSource(strings = {"data/api-key", "data", "data/artifacts/a.txt", "data/../data/api-key", "data/nothing",
            "short-cut/api-key", "straight", "hard", "key-elsewhere", "/proc/self/environ", "/proc/1/environ",
            "/sys/kernel/notes", "/dev/zero", "kernel/self/environ"})
    void theServersOwnIsNeverRead(String path) throws Exception {
        Calls owned = ownedBelow();
        assertThat(owned.failure("files.read", "{\"path\": \"" + path + "\"}").code())
                .isEqualTo("PATH_NOT_ALLOWED");
    }

    @Test
    void aWalkFromAboveLeavesTheServersOwnOut() throws Exception {
        Calls owned = ownedBelow();
        JsonNode found = owned.output("files.search", "{\"pattern\": \"hush\"}");
        assertThat(found.get("total_matches").intValue()).isZero();
        JsonNode listing = owned.output("files.list", "{\"recursive\": true, \"lines\": true}");
        assertThat(listing.get("entries").valueStream().map(each -> each.get("path").stringValue()))
                .contains("data", "README.md").noneMatch(each -> each.startsWith("data/"));
        assertThat(owned.failure("process.run", "{\"argv\": [\"git\", \"status\"], \"cwd\": \"data\"}").code())
                .isEqualTo("PATH_NOT_ALLOWED");
    }

    /** Between the look at a path and its opening, a link takes a folder's place. */
    @Test
    void symbolicLinkDoesNotLeadToServerFiles() throws Exception {
        ownedBelow();
        RefusedPlaces refused = new RefusedPlaces(List.of(root.resolve("data")));
        ToolPolicy policy = new ToolPolicy(workspace -> List.of(root.resolve("src")), refused, Set.of(), false);
        AllowedFolders.Place place = AllowedFolders.of(policy, calls.call(Calls.json("{}"), 1, Duration.ofSeconds(1)))
                .locate("deep/..");
        Files.move(root.resolve("src"), root.resolve("moved"));
        Files.createSymbolicLink(root.resolve("src"), root.resolve("data"));
        org.assertj.core.api.Assertions.assertThatThrownBy(place::open).isInstanceOf(OpenFolder.RefusedException.class);
    }

    @Test
    void aWorkspaceWithoutFoldersReadsNothing() {
        Calls none = new Calls(ToolPolicy.of(List.of()), base.resolve("artifacts"));
        for (String tool : List.of("files.list", "files.read", "files.search")) {
            assertThat(none.failure(tool, "{\"path\": \".\", \"pattern\": \"x\"}".replace(
                    tool.equals("files.search") ? "" : ", \"pattern\": \"x\"", "")).code())
                    .isEqualTo("PATH_NOT_ALLOWED");
        }
        assertThat(none.failure("process.run", "{\"argv\": [\"git\", \"status\"]}").code())
                .isEqualTo("PATH_NOT_ALLOWED");
    }

    /** A server whose data folder and one key file lie below the folder that it allows. */
    private Calls ownedBelow() throws IOException {
        write("data/api-key", "hush\n");
        write("data/artifacts/a.txt", "hush\n");
        write("password", "hush\n");
        Files.createSymbolicLink(root.resolve("short-cut"), Path.of("data"));
        Files.createSymbolicLink(root.resolve("straight"), Path.of("data/api-key"));
        Files.createSymbolicLink(root.resolve("key-elsewhere"), root.resolve("password"));
        Files.createLink(root.resolve("hard"), root.resolve("data/api-key"));
        Files.createSymbolicLink(root.resolve("kernel"), Path.of("/proc"));
        RefusedPlaces refused = new RefusedPlaces(List.of(root.resolve("data"), root.resolve("data/api-key"),
                root.resolve("password")));
        return new Calls(new ToolPolicy(workspace -> List.of(root, Path.of("/")), refused, Set.of("git"), false),
                base.resolve("artifacts"));
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "../outside.txt            => PATH_NOT_ALLOWED",
            "..                        => PATH_NOT_ALLOWED",
            "../nothing-there          => PATH_NOT_ALLOWED",
            "../root-beside            => PATH_NOT_ALLOWED",
            "/etc/passwd               => PATH_NOT_ALLOWED",
            "/etc/\\u00e4              => PATH_NOT_ALLOWED",
            "/                         => PATH_NOT_ALLOWED",
            "out                       => PATH_NOT_ALLOWED",
            "out-folder                => PATH_NOT_ALLOWED",
            "out-folder/outside.txt    => PATH_NOT_ALLOWED",
            "out-folder/root/README.md => ok",
            "link/Main.java            => ok",
            "src/../README.md          => ok",
            "link/../README.md         => ok",
            "a\\u0000b                 => PATH_NOT_ALLOWED",
            "nothing                   => PATH_NOT_FOUND",
            "README.md/x               => PATH_NOT_FOUND",
            "src/nothing/x             => PATH_NOT_FOUND",
            "src                       => NOT_A_FILE",
            ".                         => NOT_A_FILE",
    })
    void pathsAreConfined(String path, String code) throws InterruptedException {
        try {
            calls.execute("files.read", "{\"path\": \"" + path + "\"}");
            assertThat("ok").isEqualTo(code);
        } catch (ToolFailure e) {
            assertThat(e.code()).isEqualTo(code);
            assertThat(e.errorClass()).isEqualTo(ErrorClass.PERMANENT);
        }
    }

    @Test
    void aFolderReplacedByALinkAfterTheCheckLeadsNowhere() throws Exception {
        AllowedFolders.Place place = AllowedFolders.of(ToolPolicy.of(List.of(root)),
                calls.call(Calls.json("{}"), 1, Duration.ofSeconds(1))).locate("src/deep");
        Files.move(root.resolve("src"), root.resolve("moved"));
        Files.createSymbolicLink(root.resolve("src"), base);
        Files.createDirectories(base.resolve("deep"));
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> place.open())
                .isInstanceOf(IOException.class);
    }

    /** The JDK's own failure closes a descriptor twice and another one never, see {@link OpenFolder#folder}. */
    @Test
    void listingAFileLeavesNoDescriptorOpen() throws Exception {
        assertThat(calls.output("files.list", "{\"path\": \"README.md\"}").at("/summary/files").intValue()).isOne();
        assertThat(openedPaths()).doesNotContain(root.resolve("README.md").toRealPath());
    }

    private static Set<Path> openedPaths() throws IOException {
        Set<Path> paths = new HashSet<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                try {
                    paths.add(Files.readSymbolicLink(descriptor));
                } catch (NoSuchFileException e) {
                    continue; // closed meanwhile
                }
            }
        }
        return paths;
    }

    @Test
    void listingAPipeDoesNotWaitForItsWriter() throws Exception {
        assertThat(new ProcessBuilder("mkfifo", root.resolve("pipe").toString()).start().waitFor()).isZero();
        assertThat(calls.output("files.list", "{\"path\": \"pipe\"}").at("/summary/others").intValue()).isOne();
    }

    @Test
    void readsInParts() {
        assertThat(calls.output("files.read", "{\"path\": \"README.md\"}").toString()).isEqualTo(Calls.json("""
                {"path": "README.md", "size": 17, "offset": 0, "bytes": 17, "truncated": false, "encoding": "text",
                 "content": "# Title\\nTODO one\\n"}""").toString());
        JsonNode part = calls.output("files.read", "{\"path\": \"README.md\", \"offset\": 2, \"max_bytes\": 5}");
        assertThat(part.get("content").stringValue()).isEqualTo("Title");
        assertThat(part.get("truncated").booleanValue()).isTrue();
        assertThat(calls.output("files.read", "{\"path\": \"README.md\", \"offset\": 99}").get("bytes").intValue())
                .isZero();
        assertThat(calls.output("files.read", "{\"path\": \"data.bin\"}").get("content").stringValue())
                .isEqualTo("TODO\n\uFFFD\n");
        assertThat(calls.output("files.read", "{\"path\": \"data.bin\", \"encoding\": \"base64\"}").get("content")
                .stringValue()).isEqualTo("VE9ETwoACg==");
    }

    @Test
    void aPartEndsWithAWholeCharacter() {
        JsonNode part = calls.output("files.read", "{\"path\": \"n\\u00efce \\u5b57.txt\", \"max_bytes\": 3}");
        assertThat(part.get("content").stringValue()).isEqualTo("\u00e4");
        assertThat(part.get("bytes").intValue()).isEqualTo(2);
    }

    @Test
    void searchesLikeGrep() throws Exception {
        JsonNode found = calls.output("files.search", "{\"pattern\": \"TODO|FIXME\", \"exclude\": []}");
        assertThat(found.get("total_matches").toString()).isEqualTo(shell("grep -rIoE 'TODO|FIXME' . | wc -l"));
        assertThat(found.get("matching_lines").toString()).isEqualTo(shell("grep -rIhE 'TODO|FIXME' . | wc -l"));
        assertThat(found.get("matching_files").toString()).isEqualTo(shell("grep -rIlE 'TODO|FIXME' . | wc -l"));
        assertThat(found.get("by_text").toString())
                .isEqualTo("[{\"text\":\"TODO\",\"count\":4},{\"text\":\"FIXME\",\"count\":1}]");
        assertThat(found.at("/matches/1").toString())
                .isEqualTo("{\"path\":\"README.md\",\"line\":2,\"column\":1,\"text\":\"TODO one\"}");
        assertThat(found.get("files_skipped").intValue()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "{\"pattern\": \"todo\"}                                  => 0",
            "{\"pattern\": \"todo\", \"ignore_case\": true}           => 3",
            "{\"pattern\": \"TODO\", \"glob\": \"*.md\"}              => 1",
            "{\"pattern\": \"TODO\", \"path\": \"src\"}               => 2",
            "{\"pattern\": \"TODO\", \"recursive\": false}            => 1",
            "{\"pattern\": \"TODO\", \"max_file_bytes\": 20}          => 1",
            "{\"pattern\": \"TODO\", \"max_matches\": 0}              => 3",
            "{\"pattern\": \"(\", \"literal\": true}                  => 0",
            "{\"pattern\": \"^$\"}                                    => 2",
    })
    void searches(String input, int total) {
        assertThat(calls.output("files.search", input).get("total_matches").intValue()).isEqualTo(total);
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "files.search => {\"pattern\": \"(\"}                     => PATTERN_INVALID",
            "files.search => {\"pattern\": \"(?=x)\"}                 => PATTERN_INVALID",
            "files.search => {\"pattern\": \"x\", \"path\": \"..\"}   => PATH_NOT_ALLOWED",
            "files.list   => {\"path\": \"..\"}                       => PATH_NOT_ALLOWED",
            "files.list   => {\"path\": \"nothing\"}                  => PATH_NOT_FOUND",
            "files.list   => {\"path\": \"loop\"}                     => PATH_NOT_FOUND",
            "files.list   => {\"glob\": \"[z-a]\"}                    => GLOB_INVALID",
            "files.list   => {\"depth\": 1}                           => TOOL_INPUT_INVALID",
    })
    void refuses(String tool, String input, String code) {
        assertThat(calls.failure(tool, input).code()).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {"TODO => TODO", "TODO|FIX ME => TODO,FIX ME",
            "\\b(TODO|FIXME)\\b: => TODO,FIXME", "(?:a|b) => a,b", "(a => ``", "a) => ``", "a* => ``", "(a|b)+ => ``",
            "a|b(c) => ``", "a|| => ``", "\\w => ``", "^a => ``"})
    void wordsOfSimplePatternsAreKnown(String pattern, String words) {
        assertThat(String.join(",", Literals.of(pattern))).isEqualTo(words);
    }

    @Test
    void locationOfAnEntryFitsReading() {
        for (String path : List.of(".", "", root.toString(), root + "/")) {
            String input = path.isEmpty() ? "{\"recursive\": true}"
                    : "{\"recursive\": true, \"path\": \"" + path + "\"}";
            JsonNode entries = calls.output("files.list", input).get("entries");
            assertThat(entries).isNotEmpty();
            for (JsonNode entry : entries) {
                if (entry.get("type").stringValue().equals("file")) {
                    JsonNode alone = calls.output("files.list",
                            Json.object().put("path", entry.get("location").stringValue()).toString());
                    assertThat(alone.at("/entries/0/location")).isEqualTo(entry.get("location"));
                    assertThat(alone.at("/entries/0/size")).isEqualTo(entry.get("size"));
                }
            }
        }
    }

    @Test
    void nameThatIsNotUtf8IsUnreadable() throws Exception {
        shell("printf x > \"$(printf 'odd\\377.txt')\"; printf y > 'even\uFFFD.txt'");
        JsonNode listing = calls.output("files.list", "{\"glob\": \"*.txt\"}");
        assertThat(listing.get("entries").valueStream().map(each -> each.get("path").stringValue()))
                .contains("even\uFFFD.txt").doesNotContain("odd\uFFFD.txt");
        assertThat(listing.at("/summary/unreadable").toString()).contains("odd\uFFFD.txt");
    }

    @Test
    void anInterruptEndsAWalk() {
        Thread.currentThread().interrupt();
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> calls.execute("files.list", "{}"))
                .isInstanceOf(InterruptedException.class);
    }

    private List<String> paths(String input) {
        return calls.output("files.list", input).get("entries").valueStream()
                .map(each -> each.get("path").stringValue()).toList();
    }

    private Map<String, String> table(String command) throws Exception {
        Map<String, String> table = new TreeMap<>();
        shell(command).lines().forEach(line -> table.put(line.split("\t")[0], line.split("\t")[1]));
        return table;
    }

    private String shell(String command) throws Exception {
        Process process = new ProcessBuilder("sh", "-c", command).directory(root.toFile()).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output.strip();
    }

    private void write(String path, String content) throws IOException {
        Path file = FileNames.resolve(root, path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }
}
