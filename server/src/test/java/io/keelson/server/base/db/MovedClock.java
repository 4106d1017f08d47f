package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** The clocks of a database and of its server, which a test moves forward. Is the server's steady clock. */
public final class MovedClock implements LongSupplier {
    private final DatabaseUrl url;
    private final AtomicLong nanos = new AtomicLong();

    /** @param url of a database of the test's own to which nothing is connected */
    public MovedClock(DatabaseUrl url) throws SQLException {
        this.url = url;
        execute("""
                create schema moved;
                create table moved.clock as select interval '0' as ahead;
                grant usage on schema moved to public;
                grant select on moved.clock to public;
                create function public.clock_timestamp() returns timestamptz language sql as
                    'select pg_catalog.clock_timestamp() + ahead from moved.clock';
                alter database %s set search_path = public, pg_catalog""".formatted(url.database()));
    }

    /** Moves both clocks forward. */
    public void move(Duration time) throws SQLException {
        execute("update moved.clock set ahead = ahead + interval '%d ms'".formatted(time.toMillis()));
        nanos.addAndGet(time.toNanos());
    }

    @Override
    public long getAsLong() {
        return System.nanoTime() + nanos.get();
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
