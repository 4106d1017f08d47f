package io.keelson.server.web;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.HashSet;
import java.util.Set;

/** Passes connections on to one server, and to another one when the first is dead, as a load balancer does. */
final class SwitchingProxy implements AutoCloseable {

    private final ServerSocket door;
    private final Set<Socket> open = new HashSet<>();
    private URI target;

    SwitchingProxy(URI target) throws IOException {
        this.target = target;
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + door.getLocalPort());
    }

    /** Cuts all connections. Later ones lead to this server. */
    synchronized void switchTo(URI other) throws IOException {
        target = other;
        for (Socket each : open) {
            each.close();
        }
        open.clear();
    }

    private void accept() {
        try {
            while (true) {
                connect(door.accept());
            }
        } catch (IOException e) {
            // closed
        }
    }

    private synchronized void connect(Socket client) throws IOException {
        Socket server = new Socket(target.getHost(), target.getPort());
        open.add(client);
        open.add(server);
        Thread.ofVirtual().start(() -> carry(client, server));
        Thread.ofVirtual().start(() -> carry(server, client));
    }

    private static void carry(Socket from, Socket to) {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // one of the two has hung up
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
        switchTo(target);
    }
}
