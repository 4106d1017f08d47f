package io.keelson.server.engine.history;

import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Times that the database went back, as the database itself records them. Servers claim no work while one is not accepted. */
public final class DatabaseLosses {

    private static final int MAX_LISTED = 100;

    private static final String COLUMNS = """
            id, found_at, found_by, run_id, seq, event_at, commits, read_after, accepted_at, accepted_by""";

    private static final Sql RECORD = Sql.of("insert into database_losses (" + COLUMNS + """
            ) values (:id, :found_at, :found_by, :run_id, :seq, :event_at, :commits, :read_after, :accepted_at,
                :accepted_by)
            on conflict do nothing""");

    private static final Sql OPEN = Sql.of("select " + COLUMNS + """

              from database_losses
             where accepted_at is null
             order by event_at, id
             limit 1""");

    private static final Sql LIST = Sql.of("select " + COLUMNS + """

              from database_losses
             order by found_at desc, id
             limit :limit""");

    private static final Sql ACCEPT = Sql.of("""
            update database_losses set accepted_at = clock_timestamp(), accepted_by = :by
             where accepted_at is null
            returning\s""" + COLUMNS);

    private DatabaseLosses() {}

    public static void record(Connection c, DatabaseLoss loss) throws SQLException {
        RECORD.on(c).set(loss).update();
    }

    /** The loss without an acceptance, and with the earliest event. */
    public static Optional<DatabaseLoss> open(Connection c) throws SQLException {
        return OPEN.on(c).first(RecordColumns.of(DatabaseLoss.class));
    }

    /** The latest losses, newest first. */
    public static List<DatabaseLoss> list(Connection c) throws SQLException {
        return LIST.on(c).set("limit", MAX_LISTED).all(RecordColumns.of(DatabaseLoss.class));
    }

    /** Accepts all losses; returns the newly accepted ones. */
    public static List<DatabaseLoss> accept(Connection c, String by) throws SQLException {
        return ACCEPT.on(c).set("by", by).all(RecordColumns.of(DatabaseLoss.class));
    }
}
