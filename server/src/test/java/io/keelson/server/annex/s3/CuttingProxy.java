package io.keelson.server.annex.s3;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A TCP proxy that resets connections in the middle of a request or a response. */
final class CuttingProxy implements AutoCloseable {

    /** A cut of one connection after a number of bytes in one direction. */
    private record Cut(boolean response, long after) {}

    private final ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final URI store;
    private final Queue<Cut> cuts = new ConcurrentLinkedQueue<>();
    private final AtomicInteger made = new AtomicInteger();
    private final AtomicReference<@Nullable String> lost = new AtomicReference<>();
    private final AtomicReference<@Nullable String> late = new AtomicReference<>();
    private volatile Duration delay = Duration.ZERO;

    CuttingProxy(URI store) throws IOException {
        this.store = store;
        Thread.ofVirtual().start(this::accept);
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + door.getLocalPort());
    }

    /** Cuts a connection when its next transfer has more than that many bytes of requests. */
    void cutRequest(long after) {
        cuts.add(new Cut(false, after));
    }

    /** Cuts a connection when its next transfer has more than that many bytes of responses. */
    void cutResponse(long after) {
        cuts.add(new Cut(true, after));
    }

    /** Cuts a connection instead of passing on the response to the next request that contains the text. */
    void loseResponseTo(String request) {
        lost.set(request);
    }

    /** Passes on the responses to requests that contain the text after that time. */
    void delayResponsesTo(String request, Duration time) {
        delay = time;
        late.set(request);
    }

    /** Number of cuts so far. */
    int made() {
        return made.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = door.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), store.getPort());
                AtomicBoolean losing = new AtomicBoolean();
                AtomicBoolean delaying = new AtomicBoolean();
                Thread.ofVirtual().start(() -> pass(client, server, false, losing, delaying));
                Thread.ofVirtual().start(() -> pass(server, client, true, losing, delaying));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void pass(Socket from, Socket to, boolean response, AtomicBoolean losing, AtomicBoolean delaying) {
        byte[] buffer = new byte[1 << 14];
        long passed = 0;
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                passed += read;
                Cut cut = cuts.peek();
                String text = lost.get();
                if (!response && text != null
                        && new String(buffer, 0, read, StandardCharsets.ISO_8859_1).contains(text)) {
                    lost.set(null);
                    losing.set(true);
                }
                String slow = late.get();
                if (!response && slow != null
                        && new String(buffer, 0, read, StandardCharsets.ISO_8859_1).contains(slow)) {
                    delaying.set(true);
                }
                if (response && delaying.getAndSet(false)) {
                    LockSupport.parkNanos(delay.toNanos());
                }
                if (response && losing.get()
                        || cut != null && cut.response == response && passed > cut.after && cuts.remove(cut)) {
                    made.incrementAndGet();
                    from.setSoLinger(true, 0);
                    to.setSoLinger(true, 0);
                    return;
                }
                out.write(buffer, 0, read);
            }
        } catch (IOException e) {
            // the other side has closed the connection
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
    }
}
