package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The clients of a release, each installed in an empty folder, and the first example of its page against a server of the release. */
final class ReleasedClients {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    /** Debian's, whose packages the client needs; another Python may be the first on the path. */
    private static final String PYTHON = Files.exists(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";
    private static final String HELLO = """
            import io.keelson.api.run.Run;
            import io.keelson.client.Keelson;
            import io.keelson.client.plan.Mission;
            import java.time.Duration;
            import java.util.Map;

            class Hello {
                public static void main(String[] arguments) {
                    Run run = Keelson.connect().runs().execute(Mission.named("hello").start()
                            .task("greet", t -> t.step("say", "echo", Map.of("text", "Hello, Ada!")))
                            .output(Mission.expr(".tasks.greet.output.text")), Duration.ofMinutes(1));
                    System.out.println(run.output().asString());
                }
            }
            """;
    private static final String POM = """
            <project>
              <modelVersion>4.0.0</modelVersion>
              <groupId>example</groupId><artifactId>hello</artifactId><version>1</version>
              <repositories><repository><id>release</id><url>file:%s</url></repository></repositories>
              <dependencies>
                <dependency><groupId>io.keelson</groupId><artifactId>keelson-client</artifactId><version>%s</version></dependency>
              </dependencies>
            </project>
            """;

    private final Path release;
    private final Path folder;
    private final Map<String, String> server = new HashMap<>();

    /**
     * @param release folder that {@code ./release} has written
     * @param folder for the installations
     * @param url of the server
     * @param key for it
     */
    ReleasedClients(Path release, Path folder, String url, String key) {
        this.release = release;
        this.folder = folder;
        server.put("KEELSON_URL", url);
        server.put("KEELSON_API_KEY", key);
    }

    private String execute(Path directory, String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_") || name.startsWith("PYTHON")
                || name.startsWith("NODE_"));
        builder.environment().putAll(server);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private Path empty(String name) throws IOException {
        return Files.createDirectory(folder.resolve(name));
    }

    private static Path one(Path directory, String pattern) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(each -> each.getFileName().toString().matches(pattern)).findFirst().orElseThrow();
        }
    }

    /** The part of a page from a text to the end of its block. */
    private static String block(String page, String begin) throws IOException {
        String text = Files.readString(ROOT.resolve(page));
        int from = text.indexOf(begin);
        return text.substring(from, text.indexOf("```", from));
    }

    void python() throws Exception {
        for (String pattern : List.of("keelson-.*\\.whl", "keelson-.*\\.tar\\.gz")) {
            Path empty = empty(pattern.endsWith("whl") ? "wheel" : "sdist");
            execute(empty, PYTHON, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation",
                    "--no-compile", "--target", "site", one(release.resolve("python"), pattern).toString());
            Files.writeString(empty.resolve("hello.py"), block("clients/python/README.md", "# hello.py"));
            assertThat(execute(empty, "env", "PYTHONPATH=site", PYTHON, "hello.py")).endsWith("Hello, Ada!\n");
        }
    }

    void typeScript() throws Exception {
        Path empty = empty("npm");
        execute(empty, "npm", "install", "--offline", "--no-audit", "--no-fund",
                one(release, "keelson-client-.*\\.tgz").toString());
        // It has no types of its own, so it is JavaScript, too.
        Files.writeString(empty.resolve("hello.mjs"), block("clients/typescript/README.md", "// hello.ts"));
        assertThat(execute(empty, "node", "hello.mjs")).endsWith("Hello, Ada!\n");
    }

    /** The client, and the tests of both examples with the jars of the release. */
    void java() throws Exception {
        Path maven = release.resolve("maven");
        Path artifacts = maven.resolve("io/keelson");
        String version =
                Objects.requireNonNull(one(artifacts.resolve("keelson-client"), "\\d.*").getFileName()).toString();
        for (String artifact : List.of("keelson-api", "keelson-client", "keelson-test",
                "keelson-spring-boot-starter")) {
            for (String kind : List.of("", "-sources", "-javadoc")) {
                assertThat(artifacts.resolve(artifact + "/" + version + "/" + artifact + "-" + version + kind + ".jar"))
                        .exists();
            }
        }
        String local = "-Dmaven.repo.local=" + repository();
        Path empty = empty("java");
        Files.writeString(empty.resolve("pom.xml"), POM.formatted(maven, version));
        Files.writeString(empty.resolve("Hello.java"), HELLO);
        execute(empty, "mvn", "-B", "-q", local,
                "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath",
                "-Dmdep.outputFile=classpath");
        assertThat(execute(empty, Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                Files.readString(empty.resolve("classpath")), "Hello.java")).endsWith("Hello, Ada!\n");

        for (String example : List.of("tested-mission", "spring-boot")) {
            Path copy = folder.resolve(example);
            execute(folder, "cp", "-R", ROOT.resolve("examples/" + example).toString(), copy.toString());
            Path pom = copy.resolve("pom.xml");
            String text =
                    Files.readString(pom).replace("<version>0.1.0</version>", "<version>" + version + "</version>");
            Files.writeString(pom, text.contains("<repositories>") ? text
                    : text.replaceFirst("  <dependencies>",
                            "  <repositories><repository><id>release</id><url>file:" + maven
                                    + "</url></repository></repositories>\n  <dependencies>"));
            execute(copy, "mvn", "-B", "-q", local, "-Dkeelson.repository=file:" + maven,
                    "-Dkeelson.version=" + version,
                    "test");
            assertThat(copy.resolve("target/surefire-reports")).isNotEmptyDirectory();
        }
    }

    /** A local repository with all artifacts of this machine's one but Keelson's, which may be older. */
    private Path repository() throws IOException {
        Path own = Path.of(System.getProperty("user.home"), ".m2", "repository");
        Path copy = empty("m2");
        link(own, copy, "io");
        link(own.resolve("io"), Files.createDirectory(copy.resolve("io")), "keelson");
        return copy;
    }

    private static void link(Path from, Path to, String but) throws IOException {
        if (Files.isDirectory(from)) {
            try (Stream<Path> entries = Files.list(from)) {
                for (Path each : entries.filter(entry -> !entry.endsWith(but)).toList()) {
                    Files.createSymbolicLink(to.resolve(each.getFileName()), each);
                }
            }
        }
    }
}
