package io.keelson.server.base.outbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.keelson.server.annex.mcp.wire.McpClient;
import io.keelson.server.annex.mcp.wire.McpException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import okhttp3.Dns;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class OutboundClientTest {

    private final AtomicInteger requests = new AtomicInteger();
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private HttpServer server;

    @BeforeEach
    void startServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            requests.incrementAndGet();
            if (exchange.getRequestURI().getPath().equals("/hang")) {
                arrived.countDown();
                awaitRelease();
            }
            byte[] body = "hello".getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stopServer() {
        release.countDown();
        server.stop(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "127.0.0.1", "[::1]", "127.1", "2130706433", "0.0.0.0",
            "[::ffff:127.0.0.1]"})
    void anAddressThatIsNotPublicIsRefusedHoweverItIsWritten(String host) throws Exception {
        try (OutboundClient client = new OutboundClient(false)) {
            assertThatThrownBy(() -> client.send(get(host, "/")))
                    .isInstanceOfSatisfying(OutboundRefusedException.class,
                            e -> {
                                assertThat(e.code()).isEqualTo("OUTBOUND_ADDRESS_REFUSED");
                                assertThat(e).hasMessageContaining("KEELSON_ALLOW_PRIVATE_ADDRESSES");
                            });
        }
        assertThat(requests).hasValue(0);
    }

    @Test
    void aStreamIsGuardedBoundedAndNotWaitedForInSilence() throws Exception {
        ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        try (OutboundClient guarded = new OutboundClient(false); OutboundClient open = new OutboundClient(true);
                silent) {
            Duration idle = Duration.ofSeconds(30);
            assertThat(open.stream(get("127.0.0.1", "/"), idle, (status, headers, body) -> new String(
                    body.readAllBytes(), StandardCharsets.UTF_8)).get()).isEqualTo("hello");
            assertThatThrownBy(
                    () -> guarded.stream(get("127.0.0.1", "/"), idle, (status, headers, body) -> status).get())
                    .hasRootCauseInstanceOf(OutboundRefusedException.class)
                    .hasMessageContaining("not a public address");
            OutboundRequest bounded =
                    new OutboundRequest("GET", url("127.0.0.1", "/"), Map.of(), null, Duration.ofSeconds(20), 4);
            assertThatThrownBy(() -> open.stream(bounded, idle, (status, headers, body) -> body.readAllBytes()).get())
                    .hasMessageContaining("more than 4 bytes");
            OutboundRequest unanswered = new OutboundRequest("GET", "http://127.0.0.1:" + silent.getLocalPort(),
                    Map.of(), null, Duration.ofSeconds(50), 4);
            assertThatThrownBy(
                    () -> open.stream(unanswered, Duration.ofMillis(200), (status, headers, body) -> status).get())
                    .hasCauseInstanceOf(InterruptedIOException.class);
            assertThat(requests).hasValue(2);
        }
    }

    @Test
    void aNameThatResolvesToAPrivateAddressIsRefused() throws Exception {
        Dns rebinding = name -> List.of(InetAddress.getLoopbackAddress());
        try (OutboundClient client = new OutboundClient(false, rebinding)) {
            assertThatThrownBy(() -> client.send(get("public.example", "/")))
                    .isInstanceOf(OutboundRefusedException.class);
        }
        assertThat(requests).hasValue(0);
    }

    @Test
    void mcpServerWhoseNameResolvesToAPrivateAddressGetsNothing() throws Exception {
        Dns rebinding = name -> List.of(InetAddress.getLoopbackAddress());
        try (OutboundClient client = new OutboundClient(false, rebinding)) {
            assertThatThrownBy(() -> McpClient.ofUrl(client, url("public.example", "/"), Map.of(), null, "1",
                    Duration.ofSeconds(5))).isInstanceOfSatisfying(McpException.class,
                            refused -> assertThat(refused.code()).isEqualTo("OUTBOUND_ADDRESS_REFUSED"));
        }
        assertThat(requests).hasValue(0);
    }

    @Test
    void theAddressThatWasResolvedIsTheOneConnectedTo() throws Exception {
        AtomicInteger lookups = new AtomicInteger();
        Dns counting = name -> {
            lookups.incrementAndGet();
            return List.of(InetAddress.getLoopbackAddress());
        };
        try (OutboundClient client = new OutboundClient(true, counting)) {
            assertThat(client.send(get("public.example", "/")).body()).isEqualTo("hello".getBytes());
        }
        assertThat(lookups).hasValue(1);
    }

    @Test
    void configurationCanAllowPrivateAddresses() throws Exception {
        try (OutboundClient client = new OutboundClient(true)) {
            OutboundResponse response = client.send(get("127.0.0.1", "/"));
            assertThat(response.status()).isEqualTo(200);
            assertThat(response.header("content-length")).isEqualTo("5");
        }
    }

    @Test
    void aSlowAnswerEndsWithTheTimeout() throws Exception {
        try (OutboundClient client = new OutboundClient(true)) {
            OutboundRequest request = new OutboundRequest("GET", url("127.0.0.1", "/hang"), Map.of(), null,
                    Duration.ofMillis(300), 100);
            assertThatThrownBy(() -> client.send(request)).isInstanceOf(InterruptedIOException.class);
        }
    }

    /** The queue of a socket that accepts nothing is full: further connections are not answered. */
    @Test
    void aConnectionThatIsNotAcceptedInTimeIsNone() throws Exception {
        List<Socket> queued = new ArrayList<>();
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                OutboundClient client = new OutboundClient(true)) {
            assertThatThrownBy(() -> {
                while (true) {
                    Socket socket = new Socket();
                    queued.add(socket);
                    socket.connect(full.getLocalSocketAddress(), 200);
                }
            }).isInstanceOf(SocketTimeoutException.class);
            OutboundRequest request = new OutboundRequest("GET", "http://127.0.0.1:" + full.getLocalPort(), Map.of(),
                    null, Duration.ofMillis(300), 1000);
            assertThatThrownBy(() -> client.send(request)).isInstanceOf(ConnectException.class);
            assertThatThrownBy(client.stream(request, Duration.ofSeconds(9), (status, headers, body) -> "")::get)
                    .hasCauseInstanceOf(ConnectException.class);
        } finally {
            for (Socket socket : queued) {
                socket.close();
            }
        }
    }

    @Test
    void anInterruptEndsTheRequest() throws Exception {
        try (OutboundClient client = new OutboundClient(true)) {
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                try {
                    client.send(get("127.0.0.1", "/hang"));
                } catch (IOException | InterruptedException e) {
                    thrown.set(e);
                }
            });
            arrived.await();
            caller.interrupt();
            caller.join();
            assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void anAnswerIsBounded() throws Exception {
        try (OutboundClient client = new OutboundClient(true)) {
            OutboundRequest request = new OutboundRequest("GET", url("127.0.0.1", "/"), Map.of(), null,
                    Duration.ofSeconds(5), 4);
            assertThatThrownBy(() -> client.send(request)).isInstanceOfSatisfying(OutboundRefusedException.class,
                    e -> assertThat(e.code()).isEqualTo("RESPONSE_TOO_LARGE"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"ftp://example.org/", "file:///etc/passwd", "//x", "http://", "http://u:p@example.org/", "x"})
    void badUrlsAreRefused(String url) throws Exception {
        try (OutboundClient client = new OutboundClient(true)) {
            OutboundRequest request = new OutboundRequest("GET", url, Map.of(), null, Duration.ofSeconds(5), 4);
            assertThatThrownBy(() -> client.send(request)).isInstanceOfSatisfying(OutboundRefusedException.class,
                    e -> assertThat(e.code()).isEqualTo("URL_INVALID"));
        }
    }

    /** As a server does that speaks HTTP/1.0, or that closes idle connections sooner. */
    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST"})
    void aConnectionThatTheOtherSideHasClosedHarmsNoRequest(String method) throws Exception {
        AtomicInteger connections = new AtomicInteger();
        try (OutboundClient client = new OutboundClient(true);
                ServerSocket closing = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> {
                while (true) {
                    try (Socket socket = closing.accept()) {
                        connections.incrementAndGet();
                        answerOnce(socket);
                    } catch (IOException e) {
                        return;
                    }
                }
            });
            String url = "http://127.0.0.1:" + closing.getLocalPort() + "/";
            for (int i = 0; i < 4; i++) {
                assertThat(client.send(new OutboundRequest(method, url, Map.of(), null, Duration.ofSeconds(5), 100))
                        .status()).isEqualTo(200);
            }
        }
        assertThat(connections).as("each request arrived once").hasValue(4);
    }

    private static void answerOnce(Socket socket) throws IOException {
        BufferedReader reader =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        String line = reader.readLine();
        while (line != null && !line.isEmpty()) {
            line = reader.readLine();
        }
        socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                .getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
    }

    private OutboundRequest get(String host, String path) {
        return new OutboundRequest("GET", url(host, path), Map.of(), null, Duration.ofSeconds(10), 100);
    }

    private String url(String host, String path) {
        return "http://" + host + ":" + server.getAddress().getPort() + path;
    }

    private void awaitRelease() {
        try {
            release.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
