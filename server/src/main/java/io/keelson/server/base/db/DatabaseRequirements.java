package io.keelson.server.base.db;

import io.keelson.server.base.db.DatabaseException.Code;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import org.postgresql.PGConnection;

/** Conditions that a database meets before a server uses it. */
final class DatabaseRequirements {

    private static final int OLDEST_MAJOR_VERSION = 15;

    /** Enough to detect a pooler that changes sessions, also a pooler that gives its idle sessions out in turn. */
    private static final int TRIES = 3;

    private DatabaseRequirements() {}

    /**
     * Connects and checks all conditions.
     *
     * @param properties of the driver, with user and password
     * @throws DatabaseException DATABASE_UNREACHABLE, DATABASE_REFUSED, DATABASE_TOO_OLD, DATABASE_NOT_UTF8,
     *         DATABASE_READ_ONLY or DATABASE_POOLED
     */
    static void check(DatabaseUrl url, Properties properties) {
        properties.setProperty("preferQueryMode", "simple"); // a prepared statement is lost with its session
        try (Connection connection = url.connect(properties)) {
            requireNewEnough(url, connection.getMetaData().getDatabaseMajorVersion());
            String encoding = text(connection, "show server_encoding");
            if (!encoding.equals("UTF8")) {
                throw new DatabaseException(Code.DATABASE_NOT_UTF8,
                        "The database " + url + " has the encoding " + encoding
                                + "; Keelson needs UTF8. Make one with: create database " + url.database()
                                + " encoding 'UTF8' template template0");
            }
            if (text(connection, "show transaction_read_only").equals("on")) {
                throw new DatabaseException(Code.DATABASE_READ_ONLY, "The database " + url + " is read-only, such as a"
                        + " standby. Name the primary in KEELSON_DATABASE_URL; with several hosts, add"
                        + " targetServerType=primary.");
            }
            if (!pid(connection).equals(Integer.toString(connection.unwrap(PGConnection.class).getBackendPID()))) {
                requireOwnSessions(url, connection, properties);
            }
        } catch (SQLException e) {
            String state = String.valueOf(e.getSQLState());
            if (state.startsWith("28") || state.startsWith("3D")) {
                throw new DatabaseException(Code.DATABASE_REFUSED, "The database server at " + url.hosts()
                        + " refuses us: " + e.getMessage() + ". Check user, password and database name.", e);
            }
            throw new DatabaseException(Code.DATABASE_UNREACHABLE, "No database answers at " + url.hosts() + ": "
                    + e.getMessage() + " Check the address, and that PostgreSQL runs there.", e);
        }
    }

    static void requireNewEnough(DatabaseUrl url, int majorVersion) {
        if (majorVersion < OLDEST_MAJOR_VERSION) {
            throw new DatabaseException(Code.DATABASE_TOO_OLD, "The database at " + url.hosts() + " is PostgreSQL "
                    + majorVersion + "; Keelson needs " + OLDEST_MAJOR_VERSION + " or newer.");
        }
    }

    private static void requireOwnSessions(DatabaseUrl url, Connection connection, Properties properties)
            throws SQLException {
        try (Connection other = url.connect(properties)) {
            if (sharesSessions(connection, other)) {
                throw new DatabaseException(Code.DATABASE_POOLED, "A pooler at " + url.hosts()
                        + " gives each transaction"
                        + " another session. Keelson keeps the workspace of a request and prepared statements in its"
                        + " sessions: set the pooler to session mode (pool_mode = session), or name PostgreSQL itself.");
            }
        }
    }

    /** Whether the second connection's transaction takes the session of the first one. */
    static boolean sharesSessions(Connection first, Connection second) throws SQLException {
        boolean changed = false;
        for (int i = 0; i < TRIES && !changed; i++) {
            String before = pid(first);
            second.setAutoCommit(false);
            pid(second);
            changed = !pid(first).equals(before);
            second.rollback();
            second.setAutoCommit(true);
        }
        return changed;
    }

    private static String pid(Connection connection) throws SQLException {
        return text(connection, "select pg_backend_pid()");
    }

    private static String text(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
