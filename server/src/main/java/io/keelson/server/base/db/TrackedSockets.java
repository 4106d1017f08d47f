package io.keelson.server.base.db;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.SocketFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the sockets of connections and remembers them, so that a thread that waits for a dead PostgreSQL can be freed: the close of its
 * socket ends the wait at once. Public because the driver makes an instance by name for each connection.
 */
public final class TrackedSockets extends SocketFactory {

    private static final Logger LOG = LoggerFactory.getLogger(TrackedSockets.class);
    private static final Map<String, Registry> REGISTRIES = new ConcurrentHashMap<>();

    /** Open sockets of one database. Thread-safe. */
    static final class Registry implements AutoCloseable {
        private final String id = UUID.randomUUID().toString();
        private final ConcurrentLinkedQueue<Tracked> open = new ConcurrentLinkedQueue<>();

        Registry() {
            REGISTRIES.put(id, this);
        }

        /** The argument of the driver for this registry. */
        String id() {
            return id;
        }

        private Socket add(Socket socket) {
            open.removeIf(each -> each.socket.isClosed());
            open.add(new Tracked(socket, System.nanoTime()));
            return socket;
        }

        /** Closes the sockets that were opened before a moment of {@link System#nanoTime}, and returns their number. */
        int closeOlderThan(long nanoTime) {
            List<Tracked> old = new ArrayList<>(open);
            old.removeIf(each -> each.openedAt - nanoTime >= 0 || each.socket.isClosed());
            for (Tracked each : old) {
                try {
                    each.socket.close();
                } catch (IOException e) {
                    LOG.debug("closing the socket of a lost connection", e);
                }
            }
            open.removeAll(old);
            return old.size();
        }

        @Override
        public void close() {
            REGISTRIES.remove(id);
        }
    }

    private record Tracked(Socket socket, long openedAt) {}

    private final Registry registry;

    /** @param id of a registry */
    public TrackedSockets(String id) {
        this.registry = Objects.requireNonNull(REGISTRIES.get(id), "the database is closed");
    }

    @Override
    public Socket createSocket() {
        return registry.add(new Socket());
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return registry.add(new Socket(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress local, int localPort) throws IOException {
        return registry.add(new Socket(host, port, local, localPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return registry.add(new Socket(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
        return registry.add(new Socket(host, port, local, localPort));
    }
}
