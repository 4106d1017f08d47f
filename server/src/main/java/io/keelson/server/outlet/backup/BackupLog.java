package io.keelson.server.outlet.backup;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;

/** Records finished backups in the database, so that its servers can report their age. */
public final class BackupLog {

    /** An older latest backup needs an operator. */
    public static final long OLD_SECONDS = 2L * 24 * 60 * 60;

    private static final Sql PRESENT = Sql.of("select where to_regclass('installation_backups') is not null");

    private static final Sql RECORD = Sql.of("""
            insert into installation_backups (tool, place) values ('keelson', left(:place, 1024))""");

    private static final Sql FORGET = Sql.of("""
            delete from installation_backups where ended_at < clock_timestamp() - interval '400 days'""");

    private static final Sql AGE =
            Sql.of("""
            select max(ended_at) is null as absent, greatest(0, extract(epoch from clock_timestamp() - max(ended_at)))::float8 as age
              from installation_backups""");

    private BackupLog() {}

    /**
     * Records a finished backup of {@code keelson backup}. Does nothing if the schema has no place for it yet.
     *
     * @throws SQLException if the user may only read, for example
     */
    public static void record(DatabaseUrl url, String place) throws SQLException {
        try (Connection c = url.connect()) {
            if (PRESENT.on(c).exists()) {
                RECORD.on(c).set("place", place).update();
                FORGET.on(c).update();
            }
        }
    }

    /** Age of the latest backup in seconds; NaN without one. */
    public static double age(Connection c) throws SQLException {
        return PRESENT.on(c).exists()
                ? AGE.on(c).one(row -> row.getBoolean("absent") ? Double.NaN : row.getDouble("age"))
                : Double.NaN;
    }
}
