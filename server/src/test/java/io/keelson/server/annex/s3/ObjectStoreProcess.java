package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** An S3Proxy on loopback, in a process of its own. One serves all tests of a JVM. */
public final class ObjectStoreProcess {

    public static final S3Settings.Keys KEYS = new S3Settings.Keys("keelson", "object-store-secret");

    /** The database that owns the prefixes of tests without a database. */
    static final DatabaseIdentity DATABASE = new DatabaseIdentity("1-1", "tests");

    private static final Path JAR =
            Path.of("../server/target/object-stores/s3proxy-jar-with-dependencies.jar").toAbsolutePath().normalize();
    private static @Nullable ObjectStoreProcess shared;

    private final Path folder;
    private final int port;
    private @Nullable Process process;

    private ObjectStoreProcess() throws IOException {
        folder = Files.createTempDirectory("keelson-s3proxy");
        Files.createDirectory(folder.resolve("data"));
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Files.writeString(folder.resolve("s3proxy.conf"), """
                s3proxy.endpoint=http://127.0.0.1:%d
                s3proxy.authorization=aws-v2-or-v4
                s3proxy.identity=%s
                s3proxy.credential=%s
                jclouds.provider=filesystem-nio2
                jclouds.identity=unused
                jclouds.credential=unused
                jclouds.filesystem.basedir=%s
                """.formatted(port, KEYS.id(), KEYS.secret(), folder.resolve("data")));
        Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        start();
    }

    /** The store of this JVM, which has started. */
    public static synchronized ObjectStoreProcess shared() throws IOException {
        if (shared == null) {
            assertThat(JAR).as("`./mvnw -o -pl server generate-test-resources` copies it").exists();
            shared = new ObjectStoreProcess();
        }
        return shared;
    }

    /** A store of its own, to be stopped and started by its test. */
    static ObjectStoreProcess own() throws IOException {
        return new ObjectStoreProcess();
    }

    void start() throws IOException {
        process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=" + (Breadth.all() ? 4 : 1), "-XX:+UseSerialGC", "-Xmx256m", "-jar",
                JAR.toString(), "--properties",
                folder.resolve("s3proxy.conf").toString()).redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(folder.resolve("log").toFile()).start();
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(50)).until(this::listens);
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    void stop() {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
    }

    public URI url() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** Settings of a new place in a bucket that exists. */
    S3Settings settings() throws IOException {
        return settings(url(), KEYS);
    }

    S3Settings settings(URI endpoint, S3Settings.Keys keys) throws IOException {
        return new S3Settings(new S3Settings.Location(bucket(), "tests/" + UUID.randomUUID() + "/"),
                new S3Settings.Access(endpoint, null, true, keys, null));
    }

    /** The name of a bucket that exists. A bucket is a folder. */
    private String bucket() throws IOException {
        Files.createDirectories(folder.resolve("data/keelson"));
        return "keelson";
    }

    /** Variables of a server that keeps artifacts here. */
    public Map<String, String> variables() throws IOException {
        return Map.of("KEELSON_ARTIFACTS", "s3://" + bucket() + "/" + UUID.randomUUID(), "KEELSON_S3_ENDPOINT",
                url().toString(), "KEELSON_S3_ACCESS_KEY", KEYS.id(), "KEELSON_S3_SECRET_KEY", KEYS.secret());
    }

    /** Keys of all objects, after their bucket. */
    public List<String> objects() throws IOException {
        Path data = folder.resolve("data");
        try (Stream<Path> files = Files.walk(data)) {
            return files.filter(Files::isRegularFile).map(each -> data.relativize(each).toString()).toList();
        }
    }

    private void remove() {
        stop();
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> all = files.sorted(Comparator.reverseOrder()).toList();
            for (Path each : all) {
                Files.deleteIfExists(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
