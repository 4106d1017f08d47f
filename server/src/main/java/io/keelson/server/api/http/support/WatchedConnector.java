package io.keelson.server.api.http.support;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;

/** A connector whose connections can be asked whether their client is still there while a request is served. */
public final class WatchedConnector extends ServerConnector {

    public WatchedConnector(Server server, ConnectionFactory factory) {
        super(server, factory);
    }

    @Override
    protected SocketChannelEndPoint newEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key) {
        SocketChannelEndPoint endPoint = new EndPoint(channel, selector, key, getScheduler());
        endPoint.setIdleTimeout(getIdleTimeout());
        return endPoint;
    }

    /** To know whether the client has closed it must be read from; a byte of the next request is kept for its reader. */
    static final class EndPoint extends SocketChannelEndPoint {
        private final ByteBuffer ahead = ByteBuffer.allocate(1);

        private EndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler) {
            super(channel, selector, key, scheduler);
        }

        /** True when the client has closed its side. Only to be asked while a request is served whose body was read. */
        boolean clientGone() {
            synchronized (ahead) {
                if (!isOpen()) {
                    return true;
                }
                if (ahead.position() > 0) {
                    return false;
                }
                try {
                    return getChannel().read(ahead) < 0;
                } catch (IOException e) {
                    return true;
                }
            }
        }

        /** Bounds the bytes that the system takes for a client that does not read them; else megabytes for each. */
        void boundSendBuffer(int bytes) throws IOException {
            getChannel().setOption(StandardSocketOptions.SO_SNDBUF, bytes);
        }

        @Override
        public int fill(ByteBuffer buffer) throws IOException {
            synchronized (ahead) {
                if (ahead.position() == 0 || BufferUtil.space(buffer) == 0) {
                    return super.fill(buffer);
                }
                int taken = BufferUtil.append(buffer, ahead.flip());
                ahead.clear();
                return taken + Math.max(0, super.fill(buffer));
            }
        }

        @Override
        protected void needsFillInterest() {
            synchronized (ahead) {
                if (ahead.position() == 0) {
                    super.needsFillInterest();
                    return;
                }
            }
            getFillInterest().fillable();
        }
    }
}
