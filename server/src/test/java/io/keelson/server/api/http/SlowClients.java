package io.keelson.server.api.http;

import io.keelson.server.Lapse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A process with clients that read event streams slowly, and clients that send the head of a request slowly: virtual
 * threads of a process share its processors in turn, so clients in the server's process would delay it. All connect together at
 * {@link #connect}.
 */
final class SlowClients implements AutoCloseable {
    private static final Duration BYTE_PACE = Duration.ofSeconds(1);
    private static final int PIECE = 64;

    private final Process process;
    private final BufferedReader lines;

    SlowClients(URI url, String key, int readers, int senders) throws IOException {
        process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                SlowClients.class.getName(), Integer.toString(url.getPort()), key, Integer.toString(readers),
                Integer.toString(senders)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        lines = process.inputReader(StandardCharsets.UTF_8);
        lines.readLine();
    }

    void connect() throws IOException {
        process.outputWriter().write("\n");
        process.outputWriter().flush();
    }

    /** Returns when all readers have the beginning of their stream. */
    void awaitStreams() throws IOException {
        if (lines.readLine() == null) {
            throw new IOException("a stream was refused, or ended");
        }
    }

    /** Readers that are still connected. */
    int streaming() throws IOException {
        connect();
        return Integer.parseInt(lines.readLine());
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** In the process. */
    static void main(String... args) throws Exception {
        int port = Integer.parseInt(args[0]);
        int readers = Integer.parseInt(args[2]);
        AtomicInteger streaming = new AtomicInteger();
        CountDownLatch streams = new CountDownLatch(readers);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        orders.readLine();
        for (int i = 0; i < readers; i++) {
            Thread.ofVirtual().start(() -> read(port, args[1], streaming, streams));
        }
        for (int i = 0; i < Integer.parseInt(args[3]); i++) {
            Thread.ofVirtual().start(() -> send(port));
        }
        streams.await();
        System.out.println("streaming");
        while (orders.readLine() != null) {
            System.out.println(streaming.get());
        }
    }

    private static Socket socket(int port) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4_096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
    }

    /** Reads some bytes of a stream each second. */
    private static void read(int port, String key, AtomicInteger streaming, CountDownLatch streams) {
        boolean counted = false;
        try (Socket socket = socket(port)) {
            socket.getOutputStream()
                    .write(("GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key
                            + "\r\nAccept: text/event-stream\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            for (String piece = piece(in); !piece.isEmpty(); piece = piece(in)) {
                if (!counted && piece.startsWith("HTTP/1.1 200 ")) {
                    streaming.incrementAndGet();
                    streams.countDown();
                    counted = true;
                }
                Lapse.of(BYTE_PACE);
            }
        } catch (IOException e) {
            // the server has closed it
        } finally {
            if (counted) {
                streaming.decrementAndGet();
            }
        }
    }

    private static String piece(InputStream in) throws IOException {
        return new String(in.readNBytes(PIECE), StandardCharsets.UTF_8);
    }

    /** Sends a byte of the head of a request each second, until the server closes the connection. */
    private static void send(int port) {
        try (Socket socket = socket(port)) {
            socket.getOutputStream().write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
                    .getBytes(StandardCharsets.US_ASCII));
            while (true) {
                socket.getOutputStream().write('a');
                Lapse.of(BYTE_PACE);
            }
        } catch (IOException e) {
            // the server has closed it
        }
    }
}
