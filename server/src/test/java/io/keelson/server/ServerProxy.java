package io.keelson.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Proxies connections to a server. It can cut all of them, and withhold a response that the server has begun to send. */
public final class ServerProxy implements AutoCloseable {
    private final ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicReference<@Nullable Runnable> trap = new AtomicReference<>();
    private final Set<Socket> open = new HashSet<>();
    private final Address server;

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
        trap.set(instead);
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
            Thread asking = Thread.ofVirtual().start(() -> pump(client, node));
            InputStream answers = node.getInputStream();
            OutputStream out = client.getOutputStream();
            byte[] bytes = new byte[8192];
            for (int read = answers.read(bytes); read >= 0; read = answers.read(bytes)) {
                Runnable instead = trap.getAndSet(null);
                if (instead != null) {
                    instead.run();
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

    private static void pump(Socket from, Socket to) {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
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
