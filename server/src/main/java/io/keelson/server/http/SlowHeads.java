package io.keelson.server.http;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.util.component.AbstractLifeCycle;

/**
 * Closes connections on which the head of a request takes too long to come. The connector only notices who sends nothing
 * at all: a byte now and then would keep a connection open for ever.
 */
final class SlowHeads extends AbstractLifeCycle implements Connection.Listener {

    private static final int LOOKS = 4;

    /** A connection when nothing of a further request had come. */
    private record Seen(long requests, long bytes, long at) {}

    private final AbstractConnector connector;
    private final long patience;
    private final LongSupplier nanoTime;
    private final Map<Connection, Seen> connections = new ConcurrentHashMap<>();

    /** @param patience from the first byte of a request to the last of its head */
    SlowHeads(AbstractConnector connector, Duration patience, LongSupplier nanoTime) {
        this.connector = connector;
        this.patience = patience.toNanos();
        this.nanoTime = nanoTime;
    }

    @Override
    public void onOpened(Connection connection) {
        connections.put(connection, new Seen(0, 0, nanoTime.getAsLong()));
    }

    @Override
    public void onClosed(Connection connection) {
        connections.remove(connection);
    }

    @Override
    protected void doStart() {
        lookLater();
    }

    private void lookLater() {
        connector.getScheduler().schedule(() -> {
            if (isRunning()) {
                look();
                lookLater();
            }
        }, patience / LOOKS, TimeUnit.NANOSECONDS);
    }

    /** Looks at every connection once. */
    void look() {
        long now = nanoTime.getAsLong();
        connections.forEach((connection, seen) -> {
            long requests = connection.getMessagesIn();
            long bytes = connection.getBytesIn();
            boolean served = requests > connection.getMessagesOut();
            if (served || requests != seen.requests || bytes == seen.bytes) {
                connections.replace(connection, seen, new Seen(requests, bytes, now));
            } else if (now - seen.at > patience) {
                connection.getEndPoint().close();
            }
        });
    }
}
