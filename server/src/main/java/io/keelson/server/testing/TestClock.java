package io.keelson.server.testing;

import io.keelson.server.app.Server;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

/**
 * The clock of a test's server: the machine's time, ahead by as much as the test has moved it. SQL of the server calls
 * {@code now()} and {@code clock_timestamp()}; in a test's database functions with these names come before PostgreSQL's
 * and add the difference. So the statements of the product are the tested ones.
 */
public final class TestClock {
    private final DatabaseUrl url;
    private final AfterMove afterMove;
    private volatile Duration ahead = Duration.ZERO;

    /** Has the server act on a move. */
    interface AfterMove {
        void run() throws InterruptedException;
    }

    /** @param url of a database that {@link #install} has prepared */
    TestClock(DatabaseUrl url, AfterMove afterMove) {
        this.url = url;
        this.afterMove = afterMove;
    }

    /** Prepares an empty database, before its schema is created: defaults of columns keep the functions that they find. */
    static void install(DatabaseUrl url) throws SQLException {
        execute(url, """
                create schema moved;
                create table moved.clock as select interval '0' as ahead;
                grant usage on schema moved to public;
                grant select on moved.clock to public;
                create function moved.clock_timestamp() returns timestamptz language sql volatile as
                    'select pg_catalog.clock_timestamp() + ahead from moved.clock';
                create function moved.now() returns timestamptz language sql stable as
                    'select pg_catalog.now() + ahead from moved.clock'""");
        use(url);
    }

    /** Has the sessions of a database find the functions; a copy of a database does not keep this setting. */
    static void use(DatabaseUrl url) throws SQLException {
        execute(url, "alter database " + url.database() + " set search_path = public, moved, pg_catalog");
    }

    /** The clocks of the server: the machine's, moved. */
    Server.Clocks clocks() {
        Server.Clocks machine = Server.Clocks.machine();
        return new Server.Clocks(new Moved(machine.wall()),
                () -> machine.steady().getAsLong() + ahead.toNanos());
    }

    private final class Moved extends Clock {
        private final Clock clock;

        private Moved(Clock clock) {
            this.clock = clock;
        }

        @Override
        public ZoneId getZone() {
            return clock.getZone();
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return new Moved(clock.withZone(zone));
        }

        @Override
        public Instant instant() {
            return clock.instant().plus(ahead);
        }
    }

    /** The server's time. */
    public Instant time() {
        try (Connection connection = url.connect()) {
            return DbClock.now(connection);
        } catch (SQLException e) {
            throw new IllegalStateException("the test's database does not answer", e);
        }
    }

    /**
     * Moves the clock forward. When this returns, the server has executed all background work once at the new time: timers,
     * schedules, leases, timeouts and expiry are due.
     *
     * @param by not negative
     */
    public synchronized void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("the clock moves forward only, not by " + by);
        }
        try {
            execute(url, "update moved.clock set ahead = ahead + interval '" + by.toMillis() + " ms'");
            ahead = ahead.plusMillis(by.toMillis());
            afterMove.run();
        } catch (SQLException e) {
            throw new IllegalStateException("the clock was not moved", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the clock was moved", e);
        }
    }

    private static void execute(DatabaseUrl url, String sql) throws SQLException {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
