package io.keelson.bench.server;

import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import java.time.Duration;

/** A server with the settings of its environment, for a JVM without {@code ./keelson}: that of a test. */
final class BenchServer {

    /** Longer than any measurement. */
    private static final Duration LIFE = Duration.ofDays(1);

    private BenchServer() {}

    public static void main(String[] arguments) throws Exception {
        try (Server server = Server.start(Settings.load(System.getenv()))) {
            Runtime.getRuntime().addShutdownHook(new Thread(server::close, "keelson-shutdown"));
            server.awaitEnd(LIFE);
        }
    }
}
