package io.keelson.server.engine.upkeep;

import io.keelson.server.base.db.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies other nodes of one database, so that they need not wait for their next poll. Best effort, by NOTIFY on
 * connections of its own: polling finds lost notifications. Sends at most 50 notifications a second and handles at most
 * 10. A single node neither sends nor listens. Each thread blocks on its connection, so neither is a background task.
 */
public final class ClusterNotifier implements AutoCloseable {
    /** The kind of the notification. */
    public enum Notification {
        /** Work was queued that the sender does not take itself. */
        WORK,
        /** A run has ended. */
        END,
        /** A lease was taken from another node. */
        STOP,
        /** Prices or limits were changed. */
        SETTINGS;

        private String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static final String CHANNEL = "keelson";

    private static final Logger LOG = LoggerFactory.getLogger(ClusterNotifier.class);
    private static final Duration SEND_INTERVAL = Duration.ofMillis(20);
    private static final Duration RECEIVE_INTERVAL = Duration.ofMillis(100);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);
    private static final Duration STILL_THERE = Duration.ofSeconds(20);
    private static final int SLICE_MS = 500;

    private final Database database;
    private final String node;
    private final Consumer<Set<Notification>> listener;
    private final Duration stillThere;
    private final Set<Notification> calls = EnumSet.noneOf(Notification.class);
    private final List<Thread> threads = new ArrayList<>();
    private boolean peersPresent;
    private boolean closing;

    /**
     * @param node this node's name
     * @param listener receives notifications, on a thread of this class; must return soon
     */
    public ClusterNotifier(Database database, String node, Consumer<Set<Notification>> listener) {
        this(database, node, listener, STILL_THERE);
    }

    /** @param stillThere how often to check the listening connection, which may break silently */
    ClusterNotifier(Database database, String node, Consumer<Set<Notification>> listener, Duration stillThere) {
        this.database = database;
        this.node = node;
        this.listener = listener;
        this.stillThere = stillThere;
    }

    /** Sets whether there are other nodes; initially there are none. */
    synchronized void peersPresent(boolean present) {
        if (closing || peersPresent == present) {
            return;
        }
        peersPresent = present;
        notifyAll();
        if (peersPresent) {
            threads.add(Thread.ofPlatform().daemon().name("notify-listener").start(() -> again(this::listen)));
            threads.add(Thread.ofPlatform().daemon().name("notify-sender").start(() -> again(this::speak)));
        } else {
            threads.clear();
        }
    }

    /** Sends a notification if there are other nodes. Returns at once. */
    public synchronized void ring(Notification notification) {
        if (peersPresent && calls.add(notification)) {
            notifyAll();
        }
    }

    private interface Turn {
        /** Runs while there are other nodes. */
        void take(Connection connection) throws SQLException, InterruptedException;
    }

    private void again(Turn turn) {
        Thread self = Thread.currentThread();
        try {
            while (mine(self)) {
                try (Connection connection = database.dedicatedConnection()) {
                    turn.take(connection);
                } catch (SQLException | RuntimeException e) {
                    LOG.debug("notifications between nodes are interrupted", e);
                    pause(AFTER_FAILURE);
                }
            }
        } catch (InterruptedException e) {
            LOG.debug("{} ends", self.getName(), e);
        }
    }

    private synchronized boolean mine(Thread thread) {
        return threads.contains(thread);
    }

    private void speak(Connection connection) throws SQLException, InterruptedException {
        try (PreparedStatement notify = connection.prepareStatement("select pg_notify(?, ?)")) {
            notify.setString(1, CHANNEL);
            for (String said = next(); said != null; said = next()) {
                notify.setString(2, said);
                notify.execute();
                pause(SEND_INTERVAL);
            }
        }
    }

    /** The next notification; null without other nodes. */
    private synchronized @Nullable String next() throws InterruptedException {
        while (calls.isEmpty() && mine(Thread.currentThread())) {
            wait();
        }
        if (!mine(Thread.currentThread())) {
            calls.clear();
            return null;
        }
        StringBuilder said = new StringBuilder(node);
        calls.forEach(notification -> said.append(' ').append(notification.wire()));
        calls.clear();
        return said.toString();
    }

    private void listen(Connection connection) throws SQLException, InterruptedException {
        PGConnection ear = connection.unwrap(PGConnection.class);
        listening(connection);
        listener.accept(EnumSet.allOf(Notification.class));
        long seen = System.nanoTime();
        while (mine(Thread.currentThread())) {
            Set<Notification> others = understood(ear.getNotifications(SLICE_MS));
            if (!others.isEmpty()) {
                listener.accept(others);
                pause(RECEIVE_INTERVAL);
            }
            if (System.nanoTime() - seen > stillThere.toNanos()) {
                listening(connection);
                seen = System.nanoTime();
            }
        }
    }

    /** A repeated LISTEN changes nothing, but gets an answer. */
    private static void listening(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("listen " + CHANNEL);
        }
    }

    private Set<Notification> understood(PGNotification @Nullable [] notifications) {
        Set<Notification> all = EnumSet.noneOf(Notification.class);
        for (PGNotification each : notifications == null ? new PGNotification[0] : notifications) {
            List<String> said = List.of(each.getParameter().split(" ", -1));
            for (Notification notification : Notification.values()) {
                if (!said.getFirst().equals(node) && said.contains(notification.wire())) {
                    all.add(notification);
                }
            }
        }
        return all;
    }

    /** Shorter when it closes meanwhile. */
    private synchronized void pause(Duration duration) throws InterruptedException {
        long end = System.nanoTime() + duration.toNanos();
        for (long left = duration.toMillis(); left > 0 && mine(Thread.currentThread()); left =
                (end - System.nanoTime()) / 1_000_000) {
            wait(left);
        }
    }

    @Override
    public void close() throws InterruptedException {
        List<Thread> ending;
        synchronized (this) {
            closing = true;
            peersPresent = false;
            ending = List.copyOf(threads);
            threads.clear();
            notifyAll();
        }
        for (Thread thread : ending) {
            thread.join(2L * SLICE_MS);
        }
    }
}
