package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Tells a database from another one, so that both do not change the same files.
 *
 * @param id of the PostgreSQL and of the database in it. A failover, a base backup and a copy of the data folder keep it; a dump or a
 *            backup that is restored into another database, and {@code pg_upgrade}, do not
 * @param name of the database, for messages
 */
public record DatabaseIdentity(String id, String name) {

    private static final Sql READ = Sql.of("""
            select (select system_identifier from pg_control_system()) || '-' || d.oid as id, d.datname as name
              from pg_database d
             where d.datname = current_database()""");

    public static DatabaseIdentity read(Connection c) throws SQLException {
        return READ.on(c).one(row -> new DatabaseIdentity(row.getString("id"), row.getString("name")));
    }

    @Override
    public String toString() {
        return name + " (" + id + ")";
    }
}
