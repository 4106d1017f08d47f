package io.keelson.server.annex.s3;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;

/** An S3Mock in a network namespace of its own, as it listens at all addresses. Needs root. */
final class MockStore implements AutoCloseable {

    private static final Path JAR = Path.of("../server/target/object-stores/s3mock-exec.jar").toAbsolutePath()
            .normalize();
    private static final String START = """
            ip link set lo up
            "$0" -cp "$1" io.keelson.server.annex.s3.SocketRelay "$2" 9090 &
            exec "$0" -XX:+UseSerialGC -Xmx512m -jar "$3"
            """;

    private final Process process;
    private final SocketRelay relay;

    MockStore(Path folder) throws IOException {
        Path socket = folder.resolve("s3mock.socket");
        process = new ProcessBuilder("unshare", "--net", "sh", "-c", START,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                Path.of("target/test-classes").toAbsolutePath().toString(), socket.toString(), JAR.toString())
                .directory(folder.toFile()).redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile()).redirectOutput(folder.resolve("s3mock.log").toFile())
                .start();
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(socket));
        relay = SocketRelay.toFile(socket);
        Awaitility.await().atMost(Duration.ofMinutes(2)).until(this::responds);
    }

    private boolean responds() {
        try {
            return ((HttpURLConnection) url().toURL().openConnection()).getResponseCode() > 0;
        } catch (IOException e) {
            return false;
        }
    }

    URI url() throws IOException {
        return relay.url();
    }

    @Override
    public void close() throws IOException {
        relay.close();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }
}
