package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Standbys of the database, as far as its user may read their state. */
public final class Standbys {

    /** Without the right to read it, the state of a standby is null. Subscribers of logical replication do not count. */
    private static final Sql COUNT = Sql.of("""
            select count(*) filter (where r.sync_state in ('sync', 'quorum'))::integer as synchronous, count(*)::integer as all
              from pg_stat_replication r left join pg_replication_slots s on s.active_pid = r.pid
             where r.state in ('streaming', 'catchup') and s.slot_type is distinct from 'logical'""");

    private Standbys() {}

    /** A warning where no standby is synchronous, so that a failover may lose commits; null where there is no standby. */
    public static @Nullable String warning(Connection c) throws SQLException {
        return COUNT.on(c).<@Nullable String>one(row -> row.getInt("all") == 0 || row.getInt("synchronous") > 0 ? null
                : "none of " + row.getInt("all") + " standbys is synchronous: a failover may lose acknowledged changes;"
                        + " set synchronous_standby_names");
    }
}
