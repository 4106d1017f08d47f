package io.keelson.server.base.outbound;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import javax.net.SocketFactory;

/**
 * Sockets that check the address they actually connect to. This covers names that resolve differently the second time,
 * literal addresses, and redirects.
 */
final class GuardedSockets extends SocketFactory {

    private static final class GuardedSocket extends Socket {
        @Override
        public void connect(SocketAddress endpoint) throws IOException {
            connect(endpoint, 0);
        }

        @Override
        public void connect(SocketAddress endpoint, int timeout) throws IOException {
            InetAddress address = endpoint instanceof InetSocketAddress inet ? inet.getAddress() : null;
            if (address == null || !PublicAddresses.contains(address)) {
                throw new OutboundRefusedException("OUTBOUND_ADDRESS_REFUSED",
                        (address == null ? endpoint : address.getHostAddress())
                                + " is not a public address; KEELSON_ALLOW_PRIVATE_ADDRESSES=true of the server allows it");
            }
            super.connect(endpoint, timeout);
        }
    }

    @Override
    public Socket createSocket() {
        return new GuardedSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return createSocket(InetAddress.getByName(host), port);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return createSocket(InetAddress.getByName(host), port, localHost, localPort);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        Socket socket = createSocket();
        socket.connect(new InetSocketAddress(host, port));
        return socket;
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) throws IOException {
        Socket socket = createSocket();
        socket.bind(new InetSocketAddress(localHost, localPort));
        socket.connect(new InetSocketAddress(host, port));
        return socket;
    }
}
