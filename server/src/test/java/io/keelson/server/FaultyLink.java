package io.keelson.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy with the faults of a network: it delays bytes, holds back one direction or both, ends one direction of its connections
 * or resets them, and refuses new ones. Held bytes are passed on by {@link #heal}, also after their sender has closed its
 * connection, as TCP sends lost packets again.
 */
public final class FaultyLink implements AutoCloseable {

    /** A direction. */
    public enum Way {
        REQUESTS, ANSWERS
    }

    private record Pair(Socket client, Socket server) {}

    private final ServerSocket door;
    private final ServerProxy.Address target;
    private final Set<Pair> open = ConcurrentHashMap.newKeySet();
    private final Set<Way> held = EnumSet.noneOf(Way.class);
    private final AtomicInteger hits = new AtomicInteger();
    private Duration delay = Duration.ZERO;
    private boolean refusing;

    /** @param target asked for each connection */
    public FaultyLink(ServerProxy.Address target) throws IOException {
        this(InetAddress.getLoopbackAddress(), target);
    }

    /** On an address of this machine. */
    public FaultyLink(InetAddress address, ServerProxy.Address target) throws IOException {
        this.target = target;
        this.door = new ServerSocket(0, 50, address);
        Thread.ofVirtual().start(this::accept);
    }

    /** The way through this proxy. */
    public URI url() {
        return URI.create("http://" + door.getInetAddress().getHostAddress() + ":" + door.getLocalPort());
    }

    /** Host and port of the way through this proxy. */
    public String authority() {
        return url().getAuthority();
    }

    /** Passes on all bytes later from now on. */
    public synchronized void delay(Duration time) {
        delay = time;
    }

    /** Passes on nothing in that direction from now on. */
    public synchronized void hold(Way way) {
        held.add(way);
    }

    /** Passes on nothing from now on, in no direction. */
    public synchronized void hold() {
        held.addAll(EnumSet.allOf(Way.class));
    }

    /** Resets new connections from now on. */
    public synchronized void refuse() {
        refusing = true;
    }

    /** Ends all faults: held bytes are passed on, in order. */
    public synchronized void heal() {
        held.clear();
        refusing = false;
        delay = Duration.ZERO;
        notifyAll();
    }

    /** Resets all connections. */
    public void reset() {
        for (Pair each : open) {
            hits.incrementAndGet();
            reset(each.client);
            reset(each.server);
        }
    }

    /** Ends one direction of all connections: its reader gets the end of the stream, and may still write. */
    public void end(Way way) {
        for (Pair each : open) {
            try {
                (way == Way.REQUESTS ? each.server : each.client).shutdownOutput();
                hits.incrementAndGet();
            } catch (IOException e) {
                // one of its ends has closed it
            }
        }
    }

    /** Number of connections and pieces of a stream that met a fault so far. */
    public int hits() {
        return hits.get();
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
        try (client) {
            if (isRefusing()) {
                reset(client);
                return;
            }
            pass(Way.REQUESTS);
            URI to = target.get();
            try (Socket server = new Socket(to.getHost(), to.getPort())) {
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                Pair pair = new Pair(client, server);
                open.add(pair);
                try {
                    Thread requests = Thread.ofVirtual().start(() -> pump(client, server, Way.REQUESTS));
                    pump(server, client, Way.ANSWERS);
                    requests.join();
                } finally {
                    open.remove(pair);
                }
            }
        } catch (IOException e) {
            // no such server, or one of the two has hung up
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean isRefusing() {
        if (refusing) {
            hits.incrementAndGet();
        }
        return refusing;
    }

    private void pump(Socket from, Socket to, Way way) {
        byte[] bytes = new byte[1 << 14];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                pass(way);
                out.write(bytes, 0, read);
            }
            pass(way);
            to.shutdownOutput();
        } catch (IOException e) {
            close(from);
            close(to);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns when bytes of that direction may be passed on. */
    private void pass(Way way) throws InterruptedException {
        Duration time;
        synchronized (this) {
            time = delay;
        }
        if (time.isPositive()) {
            hits.incrementAndGet();
            Lapse.of(time);
        }
        synchronized (this) {
            if (held.contains(way)) {
                hits.incrementAndGet();
            }
            while (held.contains(way)) {
                wait();
            }
        }
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // one of its ends has closed it
        }
        close(socket);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is not used any more
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
        heal();
        for (Pair each : open) {
            close(each.client);
            close(each.server);
        }
    }
}
