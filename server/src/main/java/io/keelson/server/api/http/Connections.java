package io.keelson.server.api.http;

import io.keelson.server.base.background.BackgroundTask;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.Connection;
import org.jspecify.annotations.Nullable;

/**
 * Bounds what connections hold. The server never stops accepting: when there are too many connections, the oldest ones
 * without an admitted request are closed. A head that takes too long, and a client that does not read its answer, are cut
 * off. No deadline here depends on a further byte.
 */
final class Connections implements Connection.Listener, AutoCloseable {

    /** Bytes per second that a client must read while an answer waits for it. */
    private static final int SLOWEST = 1 << 10;
    private static final int CHECKS_PER_TIMEOUT = 4;
    /** One address has at most three of these four parts. */
    private static final int PARTS = 4;
    /** The part that is closed at a time, and the part that is kept open beyond the limit for probes. */
    private static final int SMALL_PART = 16;

    /** A connection when nothing of a further request had come. */
    private record Rest(long requests, long bytes, long at) {}

    /** A connection whose answer waits to be read. */
    private record Blocked(long bytes, long at) {}

    private static final class Guarded {
        private final Connection connection;
        private final String address;
        private volatile boolean admitted;
        private volatile boolean late;
        private volatile long usedAt;
        private Rest rest;
        private @Nullable Blocked blocked;

        private Guarded(Connection connection, String address, long now) {
            this.connection = connection;
            this.address = address;
            this.usedAt = now;
            this.rest = new Rest(0, 0, now);
        }

        private void close() {
            connection.getEndPoint().close();
        }
    }

    private final int most;
    private final long requestTimeout;
    private final LongSupplier nanoTime;
    private final Map<Connection, Guarded> open = new ConcurrentHashMap<>();
    private final BackgroundTask task;
    private final Map<String, Integer> perAddress = new HashMap<>();

    /**
     * @param most connections at a time
     * @param requestTimeout from the first byte of a request to the last of its head
     */
    Connections(int most, Duration requestTimeout, LongSupplier nanoTime) {
        this.most = most;
        this.requestTimeout = requestTimeout.toNanos();
        this.nanoTime = nanoTime;
        this.task = BackgroundTask.every("connections", requestTimeout.dividedBy(CHECKS_PER_TIMEOUT), this::look);
    }

    @Override
    public void onOpened(Connection connection) {
        Guarded guarded = new Guarded(connection, address(connection), nanoTime.getAsLong());
        synchronized (perAddress) {
            open.put(connection, guarded);
            int ofAddress = perAddress.merge(guarded.address, 1, Integer::sum);
            if (ofAddress > most * (PARTS - 1) / PARTS
                    && !shed(guarded, other -> other.address.equals(guarded.address))) {
                drop(guarded);
            } else if (open.size() > most) {
                shed(guarded, other -> true);
            }
            guarded.late = open.size() > most;
            if (open.size() > most + most / SMALL_PART) {
                drop(guarded);
            }
        }
    }

    BackgroundTask task() {
        return task;
    }

    /** Closes the oldest connections that serve no admitted request; false when there is none. */
    private boolean shed(Guarded newest, Predicate<Guarded> among) {
        List<Guarded> idle = open.values().stream()
                .filter(other -> other != newest && !other.admitted && among.test(other))
                .sorted(Comparator.comparingLong(other -> other.usedAt)).limit(Math.max(1, most / SMALL_PART)).toList();
        idle.forEach(this::drop);
        return !idle.isEmpty();
    }

    /** Stops counting it at once, before it is fully closed. */
    private void drop(Guarded guarded) {
        onClosed(guarded.connection);
        guarded.close();
    }

    @Override
    public void onClosed(Connection connection) {
        Guarded closed = open.remove(connection);
        if (closed != null) {
            synchronized (perAddress) {
                perAddress.computeIfPresent(closed.address, (address, n) -> n == 1 ? null : n - 1);
            }
        }
    }

    private static String address(Connection connection) {
        SocketAddress remote = connection.getEndPoint().getRemoteSocketAddress();
        return remote instanceof InetSocketAddress internet ? internet.getAddress().getHostAddress()
                : String.valueOf(remote);
    }

    /** Keeps a connection open while its request, which has shown a key, is served. */
    void admit(Connection connection) {
        Guarded guarded = open.get(connection);
        if (guarded != null) {
            guarded.admitted = true;
        }
    }

    /** Lets go of a connection whose request was served. */
    void release(Connection connection) {
        Guarded guarded = open.get(connection);
        if (guarded != null) {
            guarded.usedAt = nanoTime.getAsLong();
            guarded.admitted = false;
        }
    }

    /** Whether the connection is beyond the limit, so that it may be used for probes only. */
    boolean isLate(Connection connection) {
        Guarded guarded = open.get(connection);
        return guarded != null && guarded.late && open.size() > most;
    }

    /** Checks the connections a few times within their requestTimeout, until it is closed. */
    void watch() {
        task.start();
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }

    /** Looks at every connection once. */
    void look() {
        long now = nanoTime.getAsLong();
        for (Guarded each : open.values()) {
            if (headTooSlow(each, now) || readerTooSlow(each, now)) {
                each.close();
            }
        }
    }

    private boolean headTooSlow(Guarded each, long now) {
        long requests = each.connection.getMessagesIn();
        long bytes = each.connection.getBytesIn();
        boolean served = requests > each.connection.getMessagesOut();
        if (served || requests != each.rest.requests || bytes == each.rest.bytes) {
            each.rest = new Rest(requests, bytes, now);
            return false;
        }
        return now - each.rest.at > requestTimeout;
    }

    private boolean readerTooSlow(Guarded each, long now) {
        boolean waits = each.connection.getEndPoint() instanceof AbstractEndPoint endPoint
                && endPoint.getWriteFlusher().isPending();
        long bytes = each.connection.getBytesOut();
        Blocked blocked = each.blocked;
        if (!waits) {
            each.blocked = null;
        } else if (blocked == null) {
            each.blocked = new Blocked(bytes, now);
        } else if (now - blocked.at > requestTimeout) {
            each.blocked = new Blocked(bytes, now);
            return bytes - blocked.bytes < SLOWEST * TimeUnit.NANOSECONDS.toSeconds(now - blocked.at);
        }
        return false;
    }
}
