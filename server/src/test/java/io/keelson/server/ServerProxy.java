package io.keelson.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Proxies connections to a server. It can cut all of them, lose a request, and withhold a response that the server has begun to send. */
public final class ServerProxy implements AutoCloseable {
    private final ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicReference<@Nullable Trap> trap = new AtomicReference<>();
    private final Set<Socket> open = new HashSet<>();
    private final Address server;

    /**
     * What is not passed on.
     *
     * @param request part of the request; empty for the next answer to any request
     * @param answer whether the answer is withheld, and not the request
     */
    private record Trap(String request, boolean answer, Runnable instead) {}

    /** Where the server is now. */
    public interface Address {
        /** @throws IOException if no server is ready */
        URI get() throws IOException;
    }

    /** @param server asked for each connection */
    public ServerProxy(Address server) throws IOException {
        this.server = server;
        Thread.ofVirtual().start(this::accept);
    }

    public URI url() {
        return URI.create("http://127.0.0.1:" + door.getLocalPort());
    }

    /** The next answer is withheld, and this is done instead. */
    public void withhold(Runnable instead) {
        trap.set(new Trap("", true, instead));
    }

    /** The answer to the next request that contains the text is withheld, and this is done instead. */
    public void withholdAnswer(String request, Runnable instead) {
        trap.set(new Trap(request, true, instead));
    }

    /** The next request that contains the text is withheld, and this is done instead. */
    public void withholdRequest(String request, Runnable instead) {
        trap.set(new Trap(request, false, instead));
    }

    /** Cuts all connections. */
    public synchronized void cut() throws IOException {
        for (Socket each : open) {
            each.close();
        }
        open.clear();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = door.accept();
                Thread.ofVirtual().start(() -> join(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void join(Socket client) {
        try (client; Socket node = connect(client)) {
            AtomicReference<@Nullable Trap> sprung = new AtomicReference<>();
            Thread asking = Thread.ofVirtual().start(() -> pump(client, node, sprung));
            InputStream answers = node.getInputStream();
            OutputStream out = client.getOutputStream();
            byte[] bytes = new byte[8192];
            for (int read = answers.read(bytes); read >= 0; read = answers.read(bytes)) {
                Trap ofRequest = sprung.getAndSet(null);
                Trap found = ofRequest == null ? take("") : ofRequest;
                if (found != null) {
                    found.instead.run();
                    return;
                }
                out.write(bytes, 0, read);
            }
            asking.interrupt();
        } catch (IOException e) {
            // no such server, or one of the two has hung up
        }
    }

    /** Connects and registers both sockets in one step, so that {@link #cut} misses none. */
    private synchronized Socket connect(Socket client) throws IOException {
        URI to = server.get();
        Socket node = new Socket(to.getHost(), to.getPort());
        open.add(client);
        open.add(node);
        return node;
    }

    /** The trap for a request with this text, which is no longer set then; null if absent. */
    private @Nullable Trap take(String text) {
        Trap set = trap.get();
        boolean springs = set != null && (set.request.isEmpty() ? text.isEmpty() : text.contains(set.request));
        return springs && trap.compareAndSet(set, null) ? set : null;
    }

    private void pump(Socket from, Socket to, AtomicReference<@Nullable Trap> sprung) {
        try (from; to) {
            InputStream requests = from.getInputStream();
            byte[] bytes = new byte[8192];
            for (int read = requests.read(bytes); read >= 0; read = requests.read(bytes)) {
                Trap found = take(new String(bytes, 0, read, StandardCharsets.ISO_8859_1));
                if (found != null && !found.answer) {
                    found.instead.run();
                    return;
                }
                if (found != null) {
                    sprung.set(found);
                }
                to.getOutputStream().write(bytes, 0, read);
            }
        } catch (IOException e) {
            // one of the two has hung up
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
        cut();
    }
}
