package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients that hold connections and requests open do not keep others from being served. */
@Breadth.Spread
class HeldConnectionsTest {

    private static final int MAX = 64;
    /** More than the time for requests on a busy machine, less than the 75 seconds that a connection may be silent. */
    private static final int SOON_MILLIS = 60_000;

    @TempDir
    private static Path folder;

    private static ApiServer api;

    private final List<Socket> sockets = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(),
                Map.of("KEELSON_HTTP_CONNECTIONS", String.valueOf(MAX), "KEELSON_REQUEST_TIMEOUT_SECONDS", "2"));
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @AfterEach
    void hangUp() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        Awaitility.await().until(() -> api.get("/api/v1/runs").status() == 200);
    }

    @Test
    void silentConnectionsDoNotShutTheServer() throws IOException {
        for (int i = 0; i < 4 * MAX; i++) {
            client("127.0.0." + (1 + i % 3));
        }

        assertThat(head(client("127.0.0.1"), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
        assertThat(head(client("127.0.0.9"), "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
        assertThat(api.post("/api/v1/runs", ApiServer.WAITS).status()).isEqualTo(201);
    }

    @Test
    void bodiesWithoutAKeyThatDoNotArriveDoNotShutTheServer() throws IOException {
        for (int i = 0; i < 4 * MAX; i++) {
            send(client("127.0.0.1"), "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n{");
        }

        assertThat(head(client("127.0.0.1"), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
        assertThat(api.post("/api/v1/runs", ApiServer.WAITS).status()).isEqualTo(201);
    }

    /** One address has at most three quarters of all connections, so that others find some. */
    @Test
    void requestsUnderWayLeaveConnectionsToOtherAddressesAndToProbes() throws IOException {
        String run = api.create(ApiServer.WAITS);
        String stream =
                "GET /api/v1/runs/" + run + "/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                        + api.key() + "\r\n\r\n";
        int held = 0;
        for (int i = 0; i < MAX; i++) {
            held += head(client("127.0.0.2"), stream).startsWith("HTTP/1.1 200 ") ? 1 : 0;
        }
        assertThat(held).isEqualTo(MAX * 3 / 4);
        for (int i = 0; i < MAX / 4; i++) {
            assertThat(head(client("127.0.0.3"), stream)).startsWith("HTTP/1.1 200 ");
        }

        assertThat(head(client("127.0.0.4"), "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
        assertThat(head(client("127.0.0.4"), stream)).startsWith("HTTP/1.1 503 ");
    }

    @Test
    void halfSentBodiesOfOneWorkspaceAreItsOwnTroubleAndEndInTime() throws IOException {
        String other = api.stranger();
        List<Socket> halves = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Socket half = client("127.0.0.1");
            halves.add(half);
            int length = HttpOptions.DEFAULTS.maxBodyBytes();
            send(half,
                    "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer "
                            + api.key() + "\r\nContent-Length: " + length + "\r\n\r\n");
            try {
                send(half, " ".repeat(length - 1));
            } catch (SocketException refused) {
                assertThat(refused).as("the share is used up").isNotNull();
            }
        }

        assertThat(api.post("/api/v1/runs", ApiServer.WAITS, "Authorization", other).status()).isEqualTo(201);
        for (Socket half : halves) {
            assertThat(answer(half)).matches("(?s)HTTP/1.1 (408|503) .*");
        }
        Awaitility.await().until(() -> api.post("/api/v1/runs", ApiServer.WAITS).status() == 201);
    }

    @Test
    void anAnswerThatIsNotReadEndsInTime() throws IOException {
        Socket deaf = client("127.0.0.1");
        for (int i = 0; i < 200; i++) {
            send(deaf, "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
        }

        Awaitility.await().atMost(Duration.ofMillis(SOON_MILLIS)).until(() -> {
            try {
                send(deaf, "\r\n");
                return false;
            } catch (SocketException closed) {
                return true;
            }
        });
    }

    @Test
    void aCallThatWaitsLongerThanThatIsAnswered() {
        String run = api.create(ApiServer.WAITS);
        assertThat(api.get("/api/v1/runs/" + run + "/events?after=9&wait_ms=5000").status()).isEqualTo(200);
    }

    private Socket client(String from) throws IOException {
        Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), api.url().getPort(),
                InetAddress.ofLiteral(from), 0);
        socket.setSoTimeout(SOON_MILLIS);
        sockets.add(socket);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
    }

    /** The status line of the answer to a request; empty when the connection is closed instead. */
    private static String head(Socket socket, String request) throws IOException {
        try {
            send(socket, request);
            return answer(socket);
        } catch (SocketException closed) {
            return "";
        }
    }

    private static String answer(Socket socket) throws IOException {
        StringBuilder line = new StringBuilder();
        InputStream in = socket.getInputStream();
        for (int next = in.read(); next >= 0 && next != '\r'; next = in.read()) {
            line.append((char) next);
        }
        return line.toString();
    }
}
