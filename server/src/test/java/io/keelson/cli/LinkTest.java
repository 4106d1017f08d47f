package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.keelson.server.Settings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether there is a server, by what its data folder says. */
class LinkTest {
    @TempDir
    Path folder;

    @Test
    void oneThatIsTooBusyToAnswerIsThere() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            assertThat(Link.find(at(silent.getLocalPort()))).isNotNull();
        }
    }

    @Test
    void oneThatCannotTakeRunsAtTheMomentIsThere() throws Exception {
        HttpServer server = answering("/healthz");
        try {
            assertThat(Link.find(at(server.getAddress().getPort()))).isNotNull();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void whereNobodyListensOrSomebodyElseThereIsNone() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Settings left = at(silent.getLocalPort());
            silent.close();
            assertThat(Link.find(left)).isNull();
        }
        HttpServer other = answering("/elsewhere");
        try {
            assertThat(Link.find(at(other.getAddress().getPort()))).isNull();
        } finally {
            other.stop(0);
        }
        Files.delete(folder.resolve("url"));
        assertThat(Link.find(settings())).isNull();
    }

    /** Answers 200 there and 404 everywhere else. */
    private static HttpServer answering(String path) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(path, exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        return server;
    }

    private Settings at(int port) throws Exception {
        Files.writeString(folder.resolve("url"), "http://127.0.0.1:" + port);
        return settings();
    }

    private Settings settings() throws Exception {
        return Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString()), folder, folder);
    }
}
