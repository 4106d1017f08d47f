package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * The time in SQL: one parameter, the database's clock in production and the test's in tests.
 * A statement writes {@link #SQL} where it needs the time and binds its one parameter with {@link #bind}.
 */
@FunctionalInterface
public interface DbClock {

    /** The time in SQL; one parameter. */
    String SQL = "coalesce(?::timestamptz, clock_timestamp())";

    /** The database's own clock, the same for all nodes. */
    DbClock DATABASE = () -> null;

    /** The time that replaces the database's clock; null to use the database's. */
    @Nullable Instant override();

    /** The database's time. */
    static Instant now(Connection c) throws SQLException {
        return Sql.of("select clock_timestamp() as now").on(c).one(row -> Rows.time(row, "now"));
    }

    /** Binds the parameter of {@link #SQL} at this position, counted from 1. */
    default void bind(PreparedStatement statement, int position) throws SQLException {
        Instant instant = override();
        if (instant == null) {
            statement.setNull(position, Types.TIMESTAMP_WITH_TIMEZONE);
        } else {
            statement.setObject(position, instant.atOffset(ZoneOffset.UTC));
        }
    }
}
