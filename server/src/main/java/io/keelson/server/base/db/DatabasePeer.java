package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * The PostgreSQL at the other end of a connection.
 *
 * @param server its address and the time of its start, which no two have in common
 * @param session the process that serves the connection
 * @param standby whether it accepts no changes
 */
public record DatabasePeer(String server, int session, boolean standby) {

    private static final Sql READ = Sql.of("""
            select concat_ws(' ', inet_server_addr(), inet_server_port(), pg_postmaster_start_time()) as server,
                pg_backend_pid() as session, pg_is_in_recovery() as standby""");

    private static final Sql WORKS =
            Sql.of("select from pg_stat_activity where pid = :session and state = 'active'");

    /** Reads it. */
    public static DatabasePeer of(Connection c) throws SQLException {
        return READ.on(c).one(row -> new DatabasePeer(row.getString("server"), row.getInt("session"),
                row.getBoolean("standby")));
    }

    /** Whether its session executes a statement at the moment, as another connection to the same server sees it. */
    public boolean isBusy(Connection other) throws SQLException {
        return WORKS.on(other).set("session", session).exists();
    }
}
