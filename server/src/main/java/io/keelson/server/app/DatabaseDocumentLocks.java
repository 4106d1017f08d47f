package io.keelson.server.app;

import io.keelson.server.base.artifact.DocumentLocks;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.SqlFailure;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks in one session of the database, which is opened with the first lock. A suspended process keeps its locks. The end of a process
 * releases them at once, that of its machine or network within a minute.
 */
final class DatabaseDocumentLocks implements DocumentLocks, AutoCloseable {

    private static final Sql TAKE = Sql.of("""
            select pg_try_advisory_lock(hashtextextended('keelson documents ' || :run, 0)) as taken""");
    private static final Sql RELEASE = Sql.of("""
            select pg_advisory_unlock(hashtextextended('keelson documents ' || :run, 0)) as released""");
    /** PostgreSQL ends a session whose client is silent for a minute; two hours are the default of Linux. */
    private static final String KEEPALIVE =
            "set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3";
    private static final int VALID_SECONDS = 5;

    private final Supplier<Connection> sessions;
    private final Set<UUID> held = new HashSet<>();
    private @Nullable Connection session;

    /** @param sessions opens a session on which waits for an answer are bounded */
    DatabaseDocumentLocks(Supplier<Connection> sessions) {
        this.sessions = sessions;
    }

    @Override
    public synchronized @Nullable Lock take(UUID run) throws IOException {
        if (held.contains(run)) {
            return null;
        }
        try {
            Connection current = session();
            if (!TAKE.on(current).set("run", run.toString()).one(row -> row.getBoolean("taken"))) {
                return null;
            }
            held.add(run);
            return new Held(run, current);
        } catch (SQLException | SqlFailure e) {
            end();
            throw new IOException("the database gave no lock for the documents of run " + run, e);
        }
    }

    /** Another session after the loss of the first one, whose locks are lost, too. */
    private Connection session() throws SQLException {
        Connection current = session;
        if (current == null || !current.isValid(VALID_SECONDS)) {
            end();
            current = sessions.get();
            session = current;
            try (Statement statement = current.createStatement()) {
                statement.execute(KEEPALIVE);
            }
        }
        return current;
    }

    private void end() {
        Connection current = session;
        session = null;
        if (current != null) {
            try {
                current.close();
            } catch (SQLException e) {
                // lost already
            }
        }
    }

    private synchronized void require(Held lock) throws IOException {
        try {
            if (lock.session == session && lock.session.isValid(VALID_SECONDS)) {
                return;
            }
        } catch (SQLException e) {
            throw new IOException(e);
        }
        throw new IOException("the lock on the documents of run " + lock.run + " was lost with its session");
    }

    private synchronized void release(Held lock) {
        held.remove(lock.run);
        if (lock.session != session) {
            return;
        }
        try {
            RELEASE.on(lock.session).set("run", lock.run.toString()).one(row -> row.getBoolean("released"));
        } catch (SQLException e) {
            end();
        }
    }

    @Override
    public synchronized void close() {
        end();
    }

    private final class Held implements Lock {
        private final UUID run;
        private final Connection session;

        Held(UUID run, Connection session) {
            this.run = run;
            this.session = session;
        }

        @Override
        public void requireHeld() throws IOException {
            require(this);
        }

        @Override
        public void close() {
            release(this);
        }
    }
}
