package io.keelson.server.engine.upkeep;

import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabasePeer;
import io.keelson.server.base.db.SqlFailure;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a slow statement from a dead peer. If a small statement takes long, a new connection finds the primary: if it is another
 * PostgreSQL, or the statement's session has nothing to do, no answer will come, and all connections from before are
 * ended. A frozen or cut-off primary stops the server no longer than until there is a new one. Thread-safe.
 */
final class PeerWatch {
    private static final Logger LOG = LoggerFactory.getLogger(PeerWatch.class);
    private static final Duration PERIOD = Duration.ofMillis(500);
    private static final Duration SLOW = Duration.ofSeconds(1);
    /** An answer that is on its way longer is lost. */
    private static final Duration LOST = Duration.ofSeconds(5);
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(2);

    private final Database database;
    private final BackgroundTask task = BackgroundTask.every("database-peer", PERIOD, this::look);
    private volatile @Nullable DatabasePeer peer;
    /** The begin of the statement at work, by the monotonic clock; null if absent. */
    private volatile @Nullable Long begun;

    PeerWatch(Database database) {
        this.database = database;
    }

    BackgroundTask task() {
        return task;
    }

    /** A connection was opened, whose statements are watched. */
    void open(Connection c) throws SQLException {
        peer = DatabasePeer.of(c);
    }

    /** Address and start of the PostgreSQL at the other end; empty before the first connection. */
    String server() {
        DatabasePeer found = peer;
        return found == null ? "" : found.server();
    }

    /** A statement begins. */
    void begin() {
        begun = System.nanoTime();
    }

    /** The statement has ended. */
    void end() {
        begun = null;
    }

    void look() {
        Long statement = begun;
        DatabasePeer before = peer;
        long now = System.nanoTime();
        if (statement == null || before == null || now - statement < SLOW.toNanos()) {
            return;
        }
        try {
            String reason = database.<@Nullable String>probe(PROBE_TIMEOUT,
                    c -> reason(c, before, now - statement > LOST.toNanos()));
            // another statement may have begun meanwhile
            if (reason != null && statement.equals(begun)) {
                LOG.warn("DATABASE_PEER_LOST: {}; {} connections are ended", reason, database.abandon(now));
            }
        } catch (SqlFailure e) {
            LOG.debug("no database answers", e);
        }
    }

    private static @Nullable String reason(Connection c, DatabasePeer before, boolean lost) throws SQLException {
        DatabasePeer found = DatabasePeer.of(c);
        if (found.standby()) {
            return null;
        }
        if (!found.server().equals(before.server())) {
            return "another PostgreSQL is the primary: " + found.server() + " instead of " + before.server();
        }
        return lost && !before.isBusy(c) ? "an answer of PostgreSQL was lost" : null;
    }
}
