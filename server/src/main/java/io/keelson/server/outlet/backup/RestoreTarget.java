package io.keelson.server.outlet.backup;

import io.keelson.server.base.db.Sql;
import io.keelson.server.outlet.backup.BackupException.Code;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;

/**
 * The database that a backup is restored into, and how far the restore is. While rows are loaded, the tables have no foreign keys and
 * no triggers; the statements that create them again are rows of {@code keelson_restore}, like the names of the loaded files.
 */
final class RestoreTarget {

    private static final Sql LOCK =
            Sql.of("select pg_try_advisory_lock(hashtextextended('keelson_restore', 0)) as locked");

    private static final Sql STATE = Sql.of("""
            select to_regclass('keelson_restore') is not null as begun, coalesce(bool_or(to_regclass(name) is not null), false) as used
              from unnest(:tables::text[]) t (name)""");

    private static final String CREATE =
            """
            create table keelson_restore (id bigint generated always as identity primary key, kind text not null, value text not null)""";

    private static final Sql ADD = Sql.of("insert into keelson_restore (kind, value) values (:kind, :value)");

    private static final Sql VALUES = Sql.of("select value from keelson_restore where kind = :kind order by id");

    private static final Sql FORGET = Sql.of("delete from keelson_restore where kind = :kind");

    /** A statement before the load, and the statement after it that undoes it. */
    private record Change(String before, String after) {}

    private static final Sql FOREIGN_KEYS = Sql.of("""
            select format('alter table %s drop constraint %I', t.name, k.conname) as before,
                format('alter table %s add constraint %I %s', t.name, k.conname, pg_get_constraintdef(k.oid)) as after
              from pg_constraint k join unnest(:tables::text[]) t (name) on to_regclass(t.name) = k.conrelid
             where k.contype = 'f' and k.conparentid = 0
             order by t.name, k.conname""");

    private static final Sql TRIGGERS = Sql.of("""
            select format('alter table %s disable trigger %I', t.name, g.tgname) as before,
                format('alter table %s enable %s trigger %I', t.name,
                    case g.tgenabled when 'A' then 'always' when 'R' then 'replica' else '' end, g.tgname) as after
              from pg_trigger g join unnest(:tables::text[]) t (name) on to_regclass(t.name) = g.tgrelid
             where not g.tgisinternal and g.tgenabled <> 'D'
             order by t.name, g.tgname""");

    /** COPY does not write to a table whose policies apply to its user. */
    private static final Sql ROW_SECURITY = Sql.of("""
            select format('alter table %s no force row level security', t.name) as before,
                format('alter table %s force row level security', t.name) as after
              from pg_class c join unnest(:tables::text[]) t (name) on to_regclass(t.name) = c.oid
             where c.relforcerowsecurity
             order by t.name""");

    private static final String BACKUP = "backup";
    private static final String FILE = "file";
    private static final String AFTER = "after";
    private static final String STAGE = "stage";

    private final Connection c;
    private final List<String> tables;

    RestoreTarget(Connection c, List<String> tables) {
        this.c = c;
        this.tables = tables;
    }

    /**
     * Begins or continues the restore of a backup.
     *
     * @throws BackupException RESTORE_IN_PROGRESS or RESTORE_TARGET_NOT_EMPTY
     */
    void begin(UUID backup) throws SQLException {
        if (!LOCK.on(c).one(row -> row.getBoolean("locked"))) {
            throw new BackupException(Code.RESTORE_IN_PROGRESS, "Another process restores a backup to this database.");
        }
        record State(boolean begun, boolean used) {}
        State state = STATE.on(c).setTexts("tables", tables)
                .one(row -> new State(row.getBoolean("begun"), row.getBoolean("used")));
        if (!state.begun) {
            if (state.used) {
                throw new BackupException(Code.RESTORE_TARGET_NOT_EMPTY, "The database has tables of Keelson already."
                        + " Restore into an empty database, or for the embedded one into a new data directory (KEELSON_DATA_DIR).");
            }
            inTransaction(() -> {
                execute(CREATE);
                add(BACKUP, backup.toString());
            });
        } else if (!values(BACKUP).equals(List.of(backup.toString()))) {
            throw new BackupException(Code.RESTORE_TARGET_NOT_EMPTY,
                    "The restore of another backup into this database has begun. Restore into an empty database.");
        }
        c.commit();
    }

    /** Empties the tables, and removes their foreign keys and triggers; once. */
    void prepare() throws SQLException {
        if (at("prepared")) {
            return;
        }
        inTransaction(() -> {
            for (Sql changes : List.of(FOREIGN_KEYS, TRIGGERS, ROW_SECURITY)) {
                for (Change change : changes.on(c).setTexts("tables", tables)
                        .all(row -> new Change(row.getString("before"), row.getString("after")))) {
                    execute(change.before);
                    add(AFTER, change.after);
                }
            }
            execute("truncate " + String.join(", ", tables));
            add(STAGE, "prepared");
        });
    }

    List<String> loaded() throws SQLException {
        return values(FILE);
    }

    /** Loads a file and notes it, in one transaction. */
    void load(String file, Step work) throws SQLException {
        inTransaction(() -> {
            work.run();
            add(FILE, file);
        });
    }

    /** Sets the sequences and creates again what {@link #prepare} removed; once. Foreign keys are checked by this. */
    void complete(List<Manifest.Sequence> sequences) throws SQLException {
        if (at("complete")) {
            return;
        }
        inTransaction(() -> {
            for (Manifest.Sequence sequence : sequences) {
                Sql.of("select setval(:name::regclass, :value, :called)").on(c).set("name", sequence.name())
                        .set("value", sequence.value()).set("called", sequence.called()).exists();
            }
            for (String statement : values(AFTER)) {
                execute(statement);
            }
            FORGET.on(c).set("kind", AFTER).update();
            add(STAGE, "complete");
        });
        c.setAutoCommit(true);
        execute("analyze");
        c.setAutoCommit(false);
    }

    /** After this, servers start on the database. */
    void end() throws SQLException {
        inTransaction(() -> execute("drop table keelson_restore"));
    }

    /** Work in a transaction. */
    @FunctionalInterface
    interface Step {
        void run() throws SQLException;
    }

    private void inTransaction(Step step) throws SQLException {
        try {
            step.run();
            c.commit();
        } catch (SQLException | RuntimeException e) {
            c.rollback();
            throw e;
        }
    }

    private boolean at(String stage) throws SQLException {
        return values(STAGE).contains(stage);
    }

    private List<String> values(String kind) throws SQLException {
        return VALUES.on(c).set("kind", kind).all(row -> row.getString("value"));
    }

    private void add(String kind, String value) throws SQLException {
        ADD.on(c).set("kind", kind).set("value", value).update();
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }
}
