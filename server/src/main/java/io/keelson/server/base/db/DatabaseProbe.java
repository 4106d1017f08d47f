package io.keelson.server.base.db;

import io.keelson.server.base.db.DatabaseException.Code;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;

/**
 * The result of a read-only check of a database.
 *
 * @param version of PostgreSQL, such as {@code 18.6}
 * @param pendingMigrations files that a server would apply when it starts
 * @param skew minimum difference between its clock and ours; never negative
 * @param connections maximum that this user may have to it at a time
 * @param rlsPossible whether row-level security can hold the connections that serve requests
 * @param changes what the next start of a server changes of tables of others that Keelson shares
 * @param state its condition
 * @param warnings what its operator should know of those tables
 */
public record DatabaseProbe(String version, int pendingMigrations, Duration skew, int connections,
        boolean rlsPossible, List<Adoption.Change> changes, DatabaseState state,
        List<String> warnings) {

    private static final String RLS_POSSIBLE = """
            select rolsuper or rolcreaterole or not rolbypassrls
                or coalesce(pg_has_role(to_regrole('keelson_request')::oid, 'member'), false)
              from pg_roles where rolname = current_user""";

    /** Least ignores null; limits of roles and databases do not hold for superusers. */
    private static final String CONNECTIONS = """
            select case when rolsuper then most
                else least(most - current_setting('superuser_reserved_connections')::integer, nullif(rolconnlimit, -1),
                    nullif(datconnlimit, -1)) end
              from pg_roles, pg_database, (select current_setting('max_connections')::integer most) settings
             where rolname = current_user and datname = current_database()""";

    /** @throws DatabaseException where it is unusable */
    public static DatabaseProbe of(DatabaseUrl url, Clock clock) {
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(1))) {
            String version = database.withConnection(connection -> connection.getMetaData()
                    .getDatabaseProductVersion());
            return new DatabaseProbe(version, Migrations.pending(url), skew(database, clock), connections(database),
                    rlsPossible(database), Adoption.changes(url),
                    database.withConnection(DatabaseState::read), Neighbours.warnings(url));
        } catch (SQLException e) {
            throw new DatabaseException(Code.DATABASE_REFUSED, "The tables of " + url + " cannot be looked at: "
                    + e.getMessage(), e);
        }
    }

    private static int connections(Database database) {
        return database.withConnection(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(CONNECTIONS)) {
                row.next();
                return row.getInt(1);
            }
        });
    }

    private static boolean rlsPossible(Database database) {
        return database.withConnection(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(RLS_POSSIBLE)) {
                return row.next() && row.getBoolean(1);
            }
        });
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
