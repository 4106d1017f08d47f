package io.keelson.devmodel;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * HTTP/1.1 on a socket of its own, a virtual thread for each connection. The HTTP servers of the JDK and of Jetty hide what
 * this one is for: to see a client close the connection, and to end an answer after any byte.
 */
final class HttpListener implements AutoCloseable {

    private static final int BACKLOG = 1_000;

    /** Answers one request; an {@link IOException} ends the connection. */
    interface Handler {
        void handle(WireRequest request, WireResponse response) throws IOException;
    }

    private final ServerSocket server = new ServerSocket();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final Handler handler;

    /** @throws IOException where the address is taken, or no address of this machine */
    HttpListener(InetSocketAddress address, Handler handler) throws IOException {
        this.handler = handler;
        try {
            server.bind(address, BACKLOG);
        } catch (IOException e) {
            server.close();
            throw e;
        }
        Thread.ofVirtual().name("dev-model").start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                connections.add(socket);
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                // closed, or a connection that ended before it was accepted
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            BufferedInputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = new BufferedOutputStream(socket.getOutputStream());
            boolean more = true;
            while (more) {
                more = answer(socket, in, out);
            }
        } catch (IOException | UncheckedIOException e) {
            // the client has gone, or the script has cut the answer: closing says so
        } finally {
            connections.remove(socket);
        }
    }

    /** @return whether the connection remains */
    private boolean answer(Socket socket, BufferedInputStream in, OutputStream out) throws IOException {
        WireResponse response = new WireResponse(socket, in, out);
        try {
            WireRequest request = WireRequest.read(in, () -> proceed(out));
            if (request != null) {
                handler.handle(request, response);
            }
            return request != null && request.keepsAlive();
        } catch (BadRequestException e) {
            response.send(e.status(), "text/plain; charset=utf-8",
                    String.valueOf(e.getMessage()).getBytes(StandardCharsets.UTF_8));
            return false;
        }
    }

    private static void proceed(OutputStream out) {
        try {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends all connections. */
    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : connections) {
            socket.close();
        }
    }
}
