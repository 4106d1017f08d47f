package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.keelson.server.app.Settings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether there is a server, by what its data folder says. */
class ServerConnectionTest {
    @TempDir
    Path folder;

    @Test
    void serverTooBusyToAnswerIsPresent() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            assertThat(ServerConnection.find(at(silent.getLocalPort()))).isNotNull();
        }
    }

    @Test
    void serverTooBusyToAcceptAConnectionIsPresent() throws Exception {
        List<Socket> waiting = new ArrayList<>();
        try (var full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> {
                while (true) {
                    waiting.add(new Socket());
                    waiting.getLast().connect(full.getLocalSocketAddress(), 500);
                }
            }).isInstanceOf(SocketTimeoutException.class);
            assertThat(ServerConnection.find(at(full.getLocalPort()))).isNotNull();
        } finally {
            for (Socket each : waiting) {
                each.close();
            }
        }
    }

    @Test
    void serverThatIsNotReadyIsPresent() throws Exception {
        HttpServer server = answering("/healthz", "{\"status\": \"ok\"}");
        try {
            assertThat(ServerConnection.find(at(server.getAddress().getPort()))).isNotNull();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void closedOrForeignPortIsNoServer() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Settings left = at(silent.getLocalPort());
            silent.close();
            assertThat(ServerConnection.find(left)).isNull();
        }
        for (HttpServer other : List.of(answering("/elsewhere", "{\"status\": \"ok\"}"), answering("/healthz", ""),
                answering("/healthz", "{\"healthy\": true}"))) {
            try {
                assertThat(ServerConnection.find(at(other.getAddress().getPort()))).isNull();
            } finally {
                other.stop(0);
            }
        }
        Files.delete(folder.resolve("url"));
        assertThat(ServerConnection.find(settings())).isNull();
    }

    /** Answers 200 there and 404 everywhere else. */
    private static HttpServer answering(String path, String body) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(path, exchange -> {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
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
