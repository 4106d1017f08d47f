package io.keelson.server.db;

import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * What a look at a database tells, with nothing changed.
 *
 * @param version of PostgreSQL, such as {@code 18.6}
 * @param pendingMigrations files that a server would apply when it starts
 * @param skew how far its clock is from ours at least; never negative
 */
public record DatabaseProbe(String version, int pendingMigrations, Duration skew) {

    /** @throws DatabaseException where it cannot be used as it stands */
    public static DatabaseProbe of(DatabaseUrl url, Clock clock) {
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(1))) {
            String version = database.withConnection(connection -> connection.getMetaData()
                    .getDatabaseProductVersion());
            return new DatabaseProbe(version, Migrations.pending(url), skew(database, clock));
        }
    }

    /** The database's time should lie between ours before and after asking. */
    private static Duration skew(Database database, Clock clock) {
        Instant before = clock.instant();
        Instant there = database.withConnection(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("select clock_timestamp()")) {
                row.next();
                return row.getObject(1, OffsetDateTime.class).toInstant();
            }
        });
        Instant after = clock.instant();
        if (there.isBefore(before)) {
            return Duration.between(there, before);
        }
        return there.isAfter(after) ? Duration.between(after, there) : Duration.ZERO;
    }
}
