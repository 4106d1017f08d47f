package io.keelson.server.annex.s3;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** Passes connections on to another address. A file's socket connects network namespaces. */
final class SocketRelay implements AutoCloseable {

    private final ServerSocketChannel door;
    private final SocketAddress target;

    private SocketRelay(ServerSocketChannel door, SocketAddress target) {
        this.door = door;
        this.target = target;
        Thread.ofPlatform().name("relay").start(this::accept);
    }

    /** A port of loopback that leads to the socket of a file. */
    static SocketRelay toFile(Path socket) throws IOException {
        return new SocketRelay(
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                UnixDomainSocketAddress.of(socket));
    }

    /** Listens at the socket of a file, which leads to a port of loopback. */
    public static void main(String... arguments) throws IOException {
        new SocketRelay(
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(arguments[0])),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[1])));
    }

    URI url() throws IOException {
        return URI.create("http://127.0.0.1:" + ((InetSocketAddress) door.getLocalAddress()).getPort());
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel client = door.accept();
                Thread.ofVirtual().start(() -> join(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void join(SocketChannel client) {
        try {
            SocketChannel server = SocketChannel.open(target);
            Thread.ofVirtual().start(() -> pass(client, server));
            pass(server, client);
        } catch (IOException e) {
            close(client);
        }
    }

    private static void pass(SocketChannel from, SocketChannel to) {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        try {
            while (from.read(buffer.clear()) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
            }
        } catch (IOException e) {
            // one side has closed the connection
        } finally {
            close(from);
            close(to);
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // closed
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
    }
}
