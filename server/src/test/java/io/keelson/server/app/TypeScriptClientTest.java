package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.ServerProxy;
import io.keelson.server.annex.mcp.NpmServers;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * The TypeScript client of {@code clients/typescript} against a whole server: its own tests and the contract suite of all clients. It is
 * built in a copy below {@code target}, with the packages of its lock file.
 */
@Timeout(1_800)
class TypeScriptClientTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path COPY = Path.of("target/clients").toAbsolutePath();
    private static final Path HOME = COPY.resolve("typescript");
    private static final Set<String> MADE = Set.of("node_modules", "dist", "build");
    /** Debian's, whose package for YAML the suite needs; another Python may be the first on the path. */
    private static final String PYTHON = Files.exists(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";

    @TempDir
    static Path folder;

    private static final DatabaseUrl DATABASE = TestDatabase.createUrl();
    private static Server server;

    private static Server started() throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(DATABASE)), folder, folder));
    }

    @BeforeAll
    static void start() throws Exception {
        NpmServers.assumeAvailable();
        server = started();
        copy(ROOT.resolve("clients/typescript"), HOME);
        copy(ROOT.resolve("clients/contract"), COPY.resolve("contract"));
        Files.copy(ROOT.resolve("LICENSE"), HOME.resolve("LICENSE"), StandardCopyOption.REPLACE_EXISTING);
        // Tests find the page from their own folder, as in the repository.
        Path page = Path.of("docs/guide/client-mistakes.md");
        Path copied = COPY.resolveSibling(page);
        Files.createDirectories(Objects.requireNonNull(copied.getParent()));
        Files.copy(ROOT.resolve(page), copied, StandardCopyOption.REPLACE_EXISTING);
        install();
        build();
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                if (MADE.contains(Objects.requireNonNull(directory.getFileName()).toString())) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(to.resolve(from.relativize(directory).toString()));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, to.resolve(from.relativize(file).toString()), StandardCopyOption.REPLACE_EXISTING);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void install() throws Exception {
        String wanted = Files.readString(HOME.resolve("package-lock.json"));
        Path have = HOME.resolve("node_modules/installed-lock.json");
        if (!Files.exists(have) || !Files.readString(have).equals(wanted)) {
            Ended ended = execute(HOME, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund");
            Assumptions.assumeTrue(ended.code() == 0,
                    "LEFT OUT: npm could not install the packages of the TypeScript client, so it was not tried: "
                            + ended.output());
            Files.writeString(have, wanted);
        }
    }

    /** Compiles with strict types. */
    private static void build() throws Exception {
        node("node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
    }

    private record Ended(int code, String output) {}

    private static ProcessBuilder builder(Path directory, String... command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_")
                || name.startsWith("NODE_") && !name.equals("NODE_EXTRA_CA_CERTS"));
        builder.environment().putAll(Map.of("KEELSON_URL", server.baseUrl().toString(), "KEELSON_API_KEY",
                server.apiKey(), "PYTHON", PYTHON, "PYTHONDONTWRITEBYTECODE", "1"));
        return builder;
    }

    private static Ended execute(Path directory, String... command) throws IOException, InterruptedException {
        Process process = builder(directory, command).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }

    private static String succeeds(Path directory, String... command) throws Exception {
        Ended ended = execute(directory, command);
        assertThat(ended.code()).as(ended.output()).isZero();
        return ended.output();
    }

    private static String node(String... arguments) throws Exception {
        return succeeds(HOME, Stream.concat(Stream.of("node"), Stream.of(arguments)).toArray(String[]::new));
    }

    @Test
    @Breadth.InPart({1, 3, 5})
    void keepsTheContract() throws Exception {
        Ended ended = execute(HOME, "node", "tests/contract.mjs");
        List<JsonNode> cases = ended.output().lines().filter(line -> line.startsWith("{")).map(Json::read).toList();
        assertThat(cases.stream().filter(each -> each.path("failure").isString() != each.path("exception").isString())
                .map(JsonNode::toPrettyString)).as("cases that fail, or that pass and are exceptions").isEmpty();
        assertThat(ended.code()).as(ended.output()).isZero();
        assertThat(cases).hasSizeGreaterThan(60);
    }

    @Test
    @Breadth.InPart({1, 3, 5})
    void unitsProcessesAndSignals() throws Exception {
        assertThat(node("--test", "tests/units.test.mjs", "tests/mistakes.test.mjs"))
                .contains("# fail 0", "# skipped 0");
    }

    @Test
    void generatedTypesAreUpToDate() throws Exception {
        if (Boolean.getBoolean("update.docs")) {
            node("scripts/generate.mjs", server.baseUrl() + "/openapi.json");
            copy(HOME.resolve("src/generated"), ROOT.resolve("clients/typescript/src/generated"));
        }
        node("scripts/generate.mjs", server.baseUrl() + "/openapi.json", "--compare");
        String version = Json.read(Files.readString(HOME.resolve("package.json"))).path("version").asString();
        assertThat(Files.readString(ROOT.resolve("pom.xml"))).contains("<version>" + version + "-SNAPSHOT</version>");
    }

    /** The linter and its packages, which are apart from those of the client, take seconds. */
    @Test
    @Breadth.InPart(5)
    void sourcesPassTheLinter() throws Exception {
        Ended installed = execute(HOME, "npm", "ci", "--prefix", "lint", "--ignore-scripts", "--no-audit", "--no-fund");
        Assumptions.assumeTrue(installed.code() == 0, "LEFT OUT: npm could not install ESLint: " + installed.output());
        node("lint/node_modules/eslint/bin/eslint.js", "-c", "lint/eslint.config.mjs", "--max-warnings", "0", ".");
    }

    @Test
    @Breadth.InPart(5)
    void pagesWorkAsWritten() throws Exception {
        assertThat(node("tests/snippets.mjs", "README.md", ROOT.resolve("docs/guide/typescript.md").toString()))
                .contains("Hello, Ada!", "completed Hello, Grace! Hello, Ada!");
    }

    @Test
    @Breadth.InPart(5)
    void killedWorkersLoseNothing() throws Exception {
        assertThat(node("tests/kills.mjs", Breadth.all() ? "200" : "6")).contains("kills");
    }

    @Test
    @Breadth.InPart(5)
    void streamsOutlastRestartsOfTheServer() throws Exception {
        try (ServerProxy proxy = new ServerProxy(() -> server.baseUrl())) {
            ProcessBuilder builder = builder(HOME, "node", "tests/stream.mjs", Breadth.all() ? "4900" : "400");
            builder.environment().put("KEELSON_URL", proxy.url().toString());
            Process process = builder.start();
            List<String> lines = new ArrayList<>();
            try (BufferedReader output = process.inputReader(); BufferedWriter input = process.outputWriter()) {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                    lines.add(line);
                    if (line.equals("restart")) {
                        server.close();
                        server = started();
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
    @Breadth.InPart(5)
    void packageIsReproducibleAndWorksInAnEmptyFolder() throws Exception {
        Path first = packed("first");
        build();
        Path second = packed("second");
        assertThat(second).hasSameBinaryContentAs(first);
        Path empty = Files.createDirectory(folder.resolve("empty"));
        succeeds(empty, "npm", "install", "--offline", "--no-audit", "--no-fund", first.toString());
        String readme = Files.readString(HOME.resolve("README.md"));
        int begin = readme.indexOf("// hello.ts");
        // It has no types of its own, so it is JavaScript, too.
        Files.writeString(empty.resolve("hello.mjs"), readme.substring(begin, readme.indexOf("```", begin)));
        assertThat(succeeds(empty, "node", "hello.mjs")).endsWith("Hello, Ada!\n");
    }

    private static Path packed(String name) throws Exception {
        Path to = Files.createDirectory(folder.resolve(name));
        succeeds(HOME, "npm", "pack", "--ignore-scripts", "--pack-destination", to.toString());
        try (Stream<Path> files = Files.list(to)) {
            return files.findFirst().orElseThrow();
        }
    }
}
