package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.TimedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that send a byte now and then hold nothing for ever. Time passes when the test says so. */
class SlowClientsTest {

    private static final Duration TIMEOUT = Duration.ofHours(1);

    private final AtomicLong nanos = new AtomicLong();
    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server, 1, 1);
    private final Connections connections = new Connections(1_000, TIMEOUT, nanos::get);

    @BeforeEach
    void start() throws Exception {
        connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
        connector.addBean(connections);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                response.setStatus(HttpStatus.NO_CONTENT_204);
                callback.succeeded();
                return true;
            }
        });
        server.start();
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    @Test
    void aHeadThatTricklesIsCutOffAndTheOthersAreNot() throws Exception {
        try (Socket slow = client(); Socket idle = client(); Socket served = client()) {
            ask(served);
            send(slow, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
            send(idle, "");
            for (int i = 0; i < 3; i++) {
                bytesArrive(slow, "a");
                pass(TIMEOUT.dividedBy(2));
            }
            slow.setSoTimeout(60_000);
            assertThat(slow.getInputStream().read()).isEqualTo(-1);
            ask(served);
            ask(idle);
        }
    }

    @Test
    void theNextRequestOnAConnectionHasTimeOfItsOwn() throws Exception {
        try (Socket client = client()) {
            for (int i = 0; i < 5; i++) {
                bytesArrive(client, "GET / HTTP/1.1\r\n");
                pass(TIMEOUT.multipliedBy(2).dividedBy(3));
                send(client, "Host: localhost\r\n\r\n");
                answered(client);
                pass(TIMEOUT.multipliedBy(2).dividedBy(3));
            }
        }
    }

    @Test
    void aBodyThatTricklesIsRefused() {
        InputStream body = arriving(10_000_000, Duration.ofSeconds(1));
        assertThatThrownBy(() -> {
            for (int i = 0; i < 10_000; i++) {
                body.read(new byte[1_000]);
            }
        }).isInstanceOfSatisfying(ApiProblem.class, problem -> assertThat(problem.answer().status()).isEqualTo(408))
                .hasMessageContaining("too slowly");
        assertThat(Duration.ofNanos(nanos.get())).isBetween(TIMEOUT, TIMEOUT.plusSeconds(1));
    }

    @Test
    void steadySlowBodyIsRead() throws IOException {
        InputStream body = arriving(8_000 * TimedInputStream.SLOWEST, Duration.ofSeconds(1));
        int read = 0;
        while (true) {
            int now = body.read(new byte[TimedInputStream.SLOWEST]);
            if (now < 0) {
                break;
            }
            read += now;
        }
        assertThat(read).isEqualTo(8_000 * TimedInputStream.SLOWEST);
        assertThat(Duration.ofNanos(nanos.get())).isGreaterThan(TIMEOUT.multipliedBy(2));
    }

    /** An object store takes a part of the body in this time. */
    @Test
    void timeInWhichTheServerDoesNotReadIsNotTheClients() throws IOException {
        InputStream body = arriving(2, Duration.ZERO);
        assertThat(body.read()).isZero();
        nanos.addAndGet(TIMEOUT.multipliedBy(2).toNanos());
        assertThat(body.read()).isZero();
    }

    /** @param wait of each read */
    private InputStream arriving(int bytes, Duration wait) {
        return new TimedInputStream(new ByteArrayInputStream(new byte[bytes]) {
            @Override
            public synchronized int read(byte[] into, int offset, int length) {
                nanos.addAndGet(wait.toNanos());
                return super.read(into, offset, length);
            }
        }, TIMEOUT, silence -> {
        }, nanos::get);
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
        connections.look();
    }

    private Socket client() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort());
    }

    private void bytesArrive(Socket client, String text) throws IOException {
        long before = received();
        send(client, text);
        Awaitility.await().until(() -> received() > before);
        connections.look();
    }

    private long received() {
        return connector.getConnectedEndPoints().stream().mapToLong(each -> each.getConnection().getBytesIn()).sum();
    }

    private static void send(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        client.getOutputStream().flush();
    }

    private static void ask(Socket client) throws IOException {
        send(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        answered(client);
    }

    /** Reads one answer, which has no body. */
    private static void answered(Socket client) throws IOException {
        client.setSoTimeout(60_000);
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\n") < 0) {
            int read = client.getInputStream().read();
            assertThat(read).as("the answer continues after %s", answer).isNotNegative();
            answer.append((char) read);
        }
        assertThat(answer).startsWith("HTTP/1.1 204 ");
    }
}
