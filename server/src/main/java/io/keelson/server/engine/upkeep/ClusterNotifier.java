package io.keelson.server.engine.upkeep;

import io.keelson.server.db.Database;
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
 * What nodes of one database call to each other, so that none waits for its next look (specification, engine §1). Only a
 * hint, by NOTIFY on connections of its own: what is lost with one, or does not come through a proxy, is found by polling.
 * At most 50 calls a second are sent and 10 acted upon, and a node that is alone neither calls nor listens.
 */
public final class ClusterNotifier implements AutoCloseable {
    /** What has happened. */
    public enum Notification {
        /** Work was put in the queue that the caller does not take itself. */
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
    private static final Duration BETWEEN_CALLS = Duration.ofMillis(20);
    private static final Duration AFTER_HEARING = Duration.ofMillis(100);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);
    private static final Duration STILL_THERE = Duration.ofSeconds(20);
    private static final int SLICE_MS = 500;

    private final Database database;
    private final String node;
    private final Consumer<Set<Notification>> heard;
    private final Duration stillThere;
    private final Set<Notification> calls = EnumSet.noneOf(Notification.class);
    private final List<Thread> threads = new ArrayList<>();
    private boolean peersPresent;
    private boolean closing;

    /**
     * @param node what others know this node by
     * @param heard is told what others call, on a thread of the bell's; returns soon
     */
    public ClusterNotifier(Database database, String node, Consumer<Set<Notification>> heard) {
        this(database, node, heard, STILL_THERE);
    }

    /** @param stillThere how often to see whether the connection it listens on is alive: silence does not tell */
    ClusterNotifier(Database database, String node, Consumer<Set<Notification>> heard, Duration stillThere) {
        this.database = database;
        this.node = node;
        this.heard = heard;
        this.stillThere = stillThere;
    }

    /** Says whether there are other nodes; nobody is thought to be there before. */
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

    /** Calls, if there is anybody to hear it. Returns at once. */
    public synchronized void ring(Notification notification) {
        if (peersPresent && calls.add(notification)) {
            notifyAll();
        }
    }

    private interface Turn {
        /** Goes on for as long as there is company. */
        void take(Connection connection) throws SQLException, InterruptedException;
    }

    private void again(Turn turn) {
        Thread self = Thread.currentThread();
        try {
            while (mine(self)) {
                try (Connection connection = database.dedicatedConnection()) {
                    turn.take(connection);
                } catch (SQLException | RuntimeException e) {
                    LOG.debug("calls between nodes are interrupted", e);
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
                pause(BETWEEN_CALLS);
            }
        }
    }

    /** What is to be said; null when nobody is there to hear it. */
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
        heard.accept(EnumSet.allOf(Notification.class));
        long seen = System.nanoTime();
        while (mine(Thread.currentThread())) {
            Set<Notification> others = understood(ear.getNotifications(SLICE_MS));
            if (!others.isEmpty()) {
                heard.accept(others);
                pause(AFTER_HEARING);
            }
            if (System.nanoTime() - seen > stillThere.toNanos()) {
                listening(connection);
                seen = System.nanoTime();
            }
        }
    }

    /** Once more changes nothing, but is answered. */
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

    /** Less when it closes meanwhile. */
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
