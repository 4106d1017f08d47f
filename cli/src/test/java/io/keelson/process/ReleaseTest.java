package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packages of the checked-out commit: the same bytes twice, a program that works without a checkout and without a JDK, and clients that
 * work in empty folders.
 */
@Timeout(3_600)
class ReleaseTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    private String execute(Map<String, String> environment, String... command) throws Exception {
        return execute(0, environment, command);
    }

    private String execute(int exit, Map<String, String> environment, String... command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(exit);
        return output;
    }

    @Test
    void aVersionThatIsNotDescribedIsRefused() throws Exception {
        Assumptions.assumeTrue(Files.exists(ROOT.resolve(".git")), "a checkout");
        execute(Map.of(), "git", "clone", "-q", ROOT.toString(), "source");

        assertThat(releaseAfter("s/^| [0-9]/| later/", "UPGRADING.md")).contains("UPGRADING.md has no row of ");
        assertThat(releaseAfter("s/^## \\[/## later [/", "CHANGELOG.md")).contains("CHANGELOG.md has no heading of ");
    }

    /** The output of a release that fails after a change of a file. */
    private String releaseAfter(String change, String file) throws Exception {
        execute(Map.of(), "sed", "-i.before", change, "source/" + file);
        execute(Map.of(), "git", "-C", "source", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit",
                "-qam",
                "a");
        return execute(1, Map.of(), folder.resolve("source/release").toString(), "--to",
                folder.resolve("to").toString());
    }

    @Test
    @EnabledIfSystemProperty(named = "keelson.long", matches = "true")
    void packagesAreReproducibleAndWork() throws Exception {
        execute(Map.of(), "git", "clone", "-q", ROOT.toString(), "source");
        String release = folder.resolve("source/release").toString();
        execute(Map.of(), release, "--to", folder.resolve("first").toString());
        execute(Map.of(), release, "--to", folder.resolve("second").toString());
        Path first = folder.resolve("first");
        assertThat(sums(folder.resolve("second"))).isEqualTo(sums(first));
        execute(Map.of(), "sh", "-c", "cd first && sha256sum -c --quiet SHA256SUMS");
        assertThat(Files.readString(first.resolve("SHA256SUMS"))).contains("py3-none-any.whl")
                .contains("python/keelson-")
                .contains("maven/io/keelson/keelson-test/", "maven/io/keelson/keelson-server/");

        Path packed;
        try (Stream<Path> files = Files.list(first)) {
            packed = files.filter(file -> file.toString().matches(".*-[a-z]+-\\w+\\.tar\\.gz")).findAny().orElseThrow();
        }
        if (Stream.of("umoci", "mmdebstrap").allMatch(ReleaseTest::isInstalled)) {
            assertThat(Files.readString(first.resolve("SHA256SUMS"))).contains(".oci.tar");
            imageIsReproducible(packed);
        }
        execute(Map.of(), "tar", "-xzf", packed.toString());
        Path home;
        try (Stream<Path> folders = Files.list(folder)) {
            home = folders.filter(file -> file.getFileName().toString().startsWith("keelson-")).findAny().orElseThrow();
        }
        assertThat(home.resolve("deploy")).isDirectoryNotContaining("glob:**/release");
        for (String file : List.of("deploy/prometheus/alerts.yaml", "deploy/kubernetes/keelson.yaml",
                "deploy/grafana/keelson.json", "scripts/reader-indexes.sql", "scripts/downgrade.sql", "ARCHITECTURE.md",
                "CONTRIBUTING.md")) {
            assertThat(home.resolve(file)).isRegularFile();
        }
        // with this option of the JVM no start cache is made in the background
        List<String> bare = List.of("env", "-i", "PATH=/usr/bin:/bin", "HOME=" + folder,
                "KEELSON_DATA_DIR=" + folder.resolve("data"),
                "KEELSON_JAVA_OPTS=-Xshare:auto");
        String report = execute(Map.of(),
                Stream.concat(bare.stream(), Stream.of(home.resolve("bin/keelson").toString(), "run",
                        home.resolve("examples/repository-report.yaml").toString(), "--input",
                        "path=" + home.resolve("examples")))
                        .toArray(String[]::new));
        assertThat(report).contains("completed", "report.md");
        clientsWork(first, home);
    }

    /** With the release of a folder, for a second try of the clients alone. */
    @Test
    @EnabledIfSystemProperty(named = "keelson.release", matches = ".+")
    void clientsOfAFolderWork() throws Exception {
        Path release = Path.of(System.getProperty("keelson.release"));
        String packed;
        try (Stream<Path> files = Files.list(release)) {
            packed = files.map(Path::toString).filter(file -> file.matches(".*-[a-z]+-\\w+\\.tar\\.gz")).findAny()
                    .orElseThrow();
        }
        execute(Map.of(), "tar", "-xzf", packed);
        try (Stream<Path> folders = Files.list(folder)) {
            clientsWork(release, folders.filter(Files::isDirectory).findAny().orElseThrow());
        }
    }

    private void clientsWork(Path release, Path home) throws Exception {
        Path data = folder.resolve("server");
        ProcessBuilder builder = new ProcessBuilder(home.resolve("bin/keelson").toString(), "server");
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_JAVA_OPTS", "-Xshare:auto"));
        Process server =
                builder.redirectErrorStream(true).redirectOutput(folder.resolve("server.log").toFile()).start();
        try {
            Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> Files.exists(data.resolve("url")));
            ReleasedClients clients = new ReleasedClients(release, Files.createDirectory(folder.resolve("clients")),
                    Files.readString(data.resolve("url")).strip(), Files.readString(data.resolve("api-key")).strip());
            clients.python();
            clients.typeScript();
            clients.java();
        } finally {
            server.destroy();
            server.waitFor();
        }
    }

    /** Digests but for that of the image, which has a start cache. */
    private static List<String> sums(Path release) throws IOException {
        return Files.readAllLines(release.resolve("SHA256SUMS")).stream().filter(line -> !line.endsWith(".oci.tar"))
                .toList();
    }

    private void imageIsReproducible(Path packed) throws Exception {
        Path base = folder.resolve("base.tar");
        execute(Map.of(), "mmdebstrap", "--quiet", "--variant=minbase", "bookworm", base.toString());
        String script = folder.resolve("source/scripts/oci-image").toString();
        for (String image : List.of("one.tar", "two.tar")) {
            execute(Map.of(), script, packed.toString(), folder.resolve(image).toString(), "--base", base.toString());
        }
        assertThat(Files.mismatch(folder.resolve("one.tar"), folder.resolve("two.tar"))).isEqualTo(-1);
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
