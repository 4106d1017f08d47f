package io.keelson.bench.lab;

import io.keelson.server.base.db.DatabaseUrl;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Fills Keelson's tables with copies of one run that was really done, set-wise: every row of every table that belongs to
 * it, under ids of their own that are older than any real one. What tables and columns there are is asked of the
 * database.
 */
public final class RunCopies {
    private static final int AT_ONCE = 10_000;
    private static final int CONNECTIONS = 2;

    /** Tables with runs' ids, and the table that they refer to. */
    private static final String TABLES = """
            select c.table_name from information_schema.columns c
              join information_schema.tables t using (table_schema, table_name)
             where c.table_schema = 'public' and c.column_name = 'run_id' and t.table_type = 'BASE TABLE'
            union
            select k.confrelid::regclass::text from pg_constraint k
              join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey)
             where k.contype = 'f' and a.attname = 'run_id'""";

    /** Columns that are copied: without identity columns and generated columns. */
    private static final String COLUMNS = """
            select column_name, data_type from information_schema.columns
             where table_schema = 'public' and table_name = ? and coalesce(column_default, '') not like 'nextval%'
               and is_generated = 'NEVER' and is_identity = 'NO'
             order by ordinal_position""";

    /** Non-unique indexes. Rebuilding them costs a fraction of updating them for each row. */
    private static final String INDEXES = """
            select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i
             where i.indrelid = ?::regclass and not i.indisunique""";

    private final DatabaseUrl url;
    private final Map<String, String> inserts;

    private RunCopies(DatabaseUrl url, Map<String, String> inserts) {
        this.url = url;
        this.inserts = inserts;
    }

    /** Remembers the only run that the database holds, as it is now. */
    public static RunCopies ofTheOnlyRun(DatabaseUrl url) throws SQLException {
        Map<String, String> inserts = new LinkedHashMap<>();
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            for (String table : pairs(connection, TABLES, null, 1).keySet()) {
                inserts.put(table, keep(connection, statement, table));
            }
        }
        return new RunCopies(url, inserts);
    }

    /** Keeps a table's rows aside, ids without their time, and says how copies of them are inserted. */
    private static String keep(Connection connection, Statement statement, String table) throws SQLException {
        List<String> names = new ArrayList<>();
        List<String> kept = new ArrayList<>();
        List<String> copied = new ArrayList<>();
        try (PreparedStatement columns = connection.prepareStatement(COLUMNS)) {
            columns.setString(1, table);
            try (ResultSet row = columns.executeQuery()) {
                while (row.next()) {
                    String name = row.getString(1);
                    boolean id = row.getString(2).equals("uuid") && !name.equals("workspace_id");
                    names.add(name);
                    boolean text = name.equals("source_id"); // a run's or a task's id, on the board
                    kept.add(id || text ? "substr(replace(" + name + "::text, '-', ''), 13) as " + name : name);
                    copied.add(id ? "(time || " + name + ")::uuid"
                            : switch (name) {
                                case "queued_at" -> name + " + n * interval '1 microsecond'";
                                case "source_id" -> "(time || source_id)::uuid::text";
                                case "idempotency_key" -> name + " || '/' || n";
                                default -> name;
                            });
                }
            }
        }
        statement.execute("create table copied_" + table + " as select " + String.join(", ", kept) + " from " + table);
        // Ids are ordered by time: the copy's number takes the time's place, the rest tells a run's rows apart.
        return "insert into " + table + " (" + String.join(", ", names) + ") select " + String.join(", ", copied)
                + " from (select n, lpad(to_hex(n), 12, '0') as time from generate_series(?, ?) n) each"
                + " cross join copied_" + table;
    }

    /** Maps the first column's values to the values of another column. */
    private static Map<String, String> pairs(Connection connection, String sql, @Nullable String parameter,
            int other) throws SQLException {
        Map<String, String> found = new LinkedHashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            if (parameter != null) {
                statement.setString(1, parameter);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.put(row.getString(1), row.getString(other));
                }
            }
        }
        return found;
    }

    /** Adds so many copies, then looks after the tables as autovacuum would in time. */
    public void insert(int count) throws Exception {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            Map<String, String> indexes = new LinkedHashMap<>();
            for (String table : inserts.keySet()) {
                indexes.putAll(pairs(connection, INDEXES, table, 2));
            }
            for (String index : indexes.keySet()) {
                statement.execute("drop index " + index);
            }
            insertAll(count);
            for (String index : indexes.values()) {
                statement.execute(index);
            }
            statement.execute("vacuum analyze");
            statement.execute("checkpoint");
        }
    }

    private void insertAll(int count) throws Exception {
        AtomicInteger next = new AtomicInteger(1);
        try (ExecutorService writers = Executors.newFixedThreadPool(CONNECTIONS)) {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                ends.add(writers.submit(() -> {
                    write(next, count);
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        }
    }

    private void write(AtomicInteger next, int count) throws SQLException {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            // Neither foreign keys nor the guards of append-only tables: copied rows have passed them.
            statement.execute("set session_replication_role = replica; set synchronous_commit = off");
            for (int from = next.getAndAdd(AT_ONCE); from <= count; from = next.getAndAdd(AT_ONCE)) {
                for (String insert : inserts.values()) {
                    try (PreparedStatement copy = connection.prepareStatement(insert)) {
                        copy.setInt(1, from);
                        copy.setInt(2, Math.min(count, from + AT_ONCE - 1));
                        copy.executeUpdate();
                    }
                }
            }
        }
    }
}
