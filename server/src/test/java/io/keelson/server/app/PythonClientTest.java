package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.GeneratedDocs;
import io.keelson.core.Breadth;
import io.keelson.server.ServerProxy;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The Python client of {@code clients/python} against a whole server: its own tests and the contract suite of all clients. */
@Timeout(1_200)
class PythonClientTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path PYTHON = ROOT.resolve("clients/python");
    /** Debian's, whose packages the client needs; another Python may be the first on the path. */
    private static final String PROGRAM = Files.exists(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";

    private static final String RUFF = "ruff==0.16.9";

    @TempDir
    static Path folder;

    private static final DatabaseUrl DATABASE = TestDatabase.createUrl();
    private static Server server;

    @BeforeAll
    static void start() throws Exception {
        server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(DATABASE)), folder, folder));
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    private record Ended(int code, String output) {}

    private static ProcessBuilder builder(Path directory, String... command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_") || name.startsWith("PYTHON"));
        builder.environment().putAll(Map.of("KEELSON_URL", server.baseUrl().toString(), "KEELSON_API_KEY",
                server.apiKey(), "PYTHONDONTWRITEBYTECODE", "1", "SOURCE_DATE_EPOCH", "1790000000"));
        return builder;
    }

    private static Ended execute(Path directory, String... command) throws IOException, InterruptedException {
        Process process = builder(directory, command).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }

    private static String python(String... arguments) throws Exception {
        Ended ended = execute(PYTHON, Stream.concat(Stream.of(PROGRAM), Stream.of(arguments)).toArray(String[]::new));
        assertThat(ended.code()).as(ended.output()).isZero();
        return ended.output();
    }

    /** Executes the contract suite with one of the two clients; cases that it cannot pass are listed with their reasons. */
    private static void contract(String kind) throws Exception {
        Ended ended = execute(PYTHON, PROGRAM, "tests/contract.py", "--server", server.baseUrl().toString(), "--key",
                server.apiKey(), "--kinds", kind, "--threads", "12");
        List<JsonNode> cases = ended.output().lines().filter(line -> line.startsWith("{")).map(Json::read).toList();
        assertThat(cases.stream().filter(each -> each.path("failure").isString() != each.path("exception").isString())
                .map(JsonNode::toPrettyString)).as("cases that fail, or that pass and are exceptions").isEmpty();
        assertThat(ended.code()).as(ended.output()).isZero();
        assertThat(cases).hasSizeGreaterThan(60);
    }

    @Test
    @Breadth.InPart({0, 2, 6})
    void blockingClientKeepsTheContract() throws Exception {
        contract("sync");
    }

    @Test
    @Breadth.InPart(6)
    void asynchronousClientKeepsTheContract() throws Exception {
        contract("async");
    }

    @Test
    @Breadth.InPart({0, 2, 6})
    void unitsProcessesAndSignals() throws Exception {
        assertThat(python("-m", "unittest", "discover", "-s", "tests")).contains("OK").doesNotContain("skipped");
    }

    @Test
    void generatedFilesAreUpToDate() throws Exception {
        python(ROOT.resolve("scripts/python-client").toString(), "--compare");
        String version = python("-c", "import sys; sys.path[:0] = ['src']; import keelson; print(keelson.__version__)");
        assertThat(Files.readString(ROOT.resolve("pom.xml")))
                .contains("<version>" + version.strip() + "-SNAPSHOT</version>");
    }

    @Test
    @Breadth.InPart(6)
    void pagesWorkAsWritten() throws Exception {
        assertThat(python("tests/snippets.py", "README.md", ROOT.resolve("docs/guide/python.md").toString()))
                .contains("Hello, Ada!", "completed {'answer': 'Hello, Ada!', 'greeting': 'Hello, Grace!'}");
    }

    @Test
    @Breadth.InPart(6)
    void typesAreStrict() throws Exception {
        Ended ended = execute(PYTHON, "sh", "-c", "mypy --cache-dir=/dev/null src tests/*.py");
        assertThat(ended.code()).as(ended.output()).isZero();
    }

    @Test
    @Breadth.InPart(6)
    void sourcesPassTheLinter() throws Exception {
        Path tools = Files.createDirectories(folder.resolve("tools"));
        Ended installed = execute(PYTHON, PROGRAM, "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:",
                "--target", tools.toString(), RUFF);
        Assumptions.assumeTrue(installed.code() == 0, "LEFT OUT: pip could not install ruff: " + installed.output());
        Ended ended = execute(PYTHON, tools.resolve("bin/ruff").toString(), "check", "--no-cache", "--config",
                "pyproject.toml", ".", "../contract", "../throughput", "../../scripts/python-client");
        assertThat(ended.code()).as(ended.output()).isZero();
    }

    @Test
    @Breadth.InPart(6)
    void killedWorkersLoseNothing() throws Exception {
        assertThat(python("tests/kills.py", Breadth.all() ? "200" : "6")).contains("kills");
    }

    @Test
    @Breadth.InPart(6)
    void streamsOutlastRestartsOfTheServer() throws Exception {
        try (ServerProxy proxy = new ServerProxy(() -> server.baseUrl())) {
            ProcessBuilder builder = builder(PYTHON, PROGRAM, "tests/stream.py", Breadth.all() ? "4900" : "400");
            builder.environment().put("KEELSON_URL", proxy.url().toString());
            Process process = builder.start();
            List<String> lines = new ArrayList<>();
            try (BufferedReader output = process.inputReader(); BufferedWriter input = process.outputWriter()) {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                    lines.add(line);
                    if (line.equals("restart")) {
                        server.close();
                        start();
                        input.newLine();
                        input.flush();
                    }
                }
            }
            assertThat(process.waitFor()).as("%s", lines).isZero();
            assertThat(lines).hasSize(4).last().asString().endsWith(" events");
        }
    }

    @Test
    @Breadth.InPart(6)
    void wheelIsReproducibleAndWorksInAnEmptyFolder() throws Exception {
        for (String name : List.of("first", "second")) {
            python("-m", "hatchling", "build", "-d", folder.resolve(name).toString());
        }
        List<Path> built = files(folder.resolve("first"));
        assertThat(built).hasSize(2);
        for (Path file : built) {
            assertThat(folder.resolve("second").resolve(file.getFileName())).hasSameBinaryContentAs(file);
        }
        Path wheel = built.stream().filter(file -> file.toString().endsWith(".whl")).findFirst().orElseThrow();
        Path empty = Files.createDirectory(folder.resolve("empty"));
        Ended installed = execute(empty, PROGRAM, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
                "--no-compile", "--target", "site", wheel.toString());
        assertThat(installed.code()).as(installed.output()).isZero();
        String readme = Files.readString(PYTHON.resolve("README.md"));
        int begin = readme.indexOf("# hello.py");
        Files.writeString(empty.resolve("hello.py"), readme.substring(begin, readme.indexOf("```", begin)));
        Ended first = execute(empty, "env", "PYTHONPATH=site", PROGRAM, "hello.py");
        assertThat(first.output()).endsWith("Hello, Ada!\n");
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }

    @Test
    void tableOfCasesIsThatOfTheSuite() throws Exception {
        JsonNode cases = Json.read(python(ROOT.resolve("clients/contract/fault_proxy.py").toString(), "--cases")
                .getBytes(StandardCharsets.UTF_8)).path("cases");
        Map<String, JsonNode> clients = new TreeMap<>();
        for (Path client : files(ROOT.resolve("clients"))) {
            Path exceptions = client.resolve("tests/exceptions.json");
            if (Files.exists(exceptions)) {
                clients.put(Objects.requireNonNull(client.getFileName()).toString(),
                        Json.read(Files.readAllBytes(exceptions)));
            }
        }
        clients.put("java", Json.read(Files.readAllBytes(JavaClientTest.EXCEPTIONS)));
        List<String> rows = new ArrayList<>();
        rows.add(row("case", "behaviour", clients.keySet().stream()));
        rows.add(row("---", "---", clients.keySet().stream().map(client -> "---")));
        for (JsonNode each : cases) {
            String name = each.path("group").asString() + "/" + each.path("name").asString();
            rows.add(row("`" + name + "`", each.path("about").asString(), clients.values().stream()
                    .map(exceptions -> exceptions.path(name).asString("passes"))));
        }
        GeneratedDocs.check("docs/reference/client-cases.md", "cases", String.join("\n", rows));
    }

    private static String row(String name, String about, Stream<String> columns) {
        return "| " + Stream.concat(Stream.of(name, about), columns).collect(Collectors.joining(" | ")) + " |";
    }
}
