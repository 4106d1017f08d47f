package io.keelson.bench.lab;

import io.keelson.server.db.DatabaseUrl;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Fills Keelson's tables with copies of one run that was really done, set-wise: every row of every table that belongs to
 * it, under ids of their own that are older than any real one. What tables and columns there are is asked of the
 * database.
 */
public final class RunCopies {
    private static final int AT_ONCE = 20_000;

    /** Tables that name a run, and the one that they refer to, with the column that holds the run's id. */
    private static final String TABLES = """
            select c.table_name, 'run_id' as run_column from information_schema.columns c
             where c.table_schema = 'public' and c.column_name = 'run_id'
            union
            select k.confrelid::regclass::text, 'id' from pg_constraint k
              join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey)
             where k.contype = 'f' and a.attname = 'run_id'""";

    /** Columns that are copied: not those that number themselves. */
    private static final String COLUMNS = """
            select column_name, data_type from information_schema.columns
             where table_schema = 'public' and table_name = ? and coalesce(column_default, '') not like 'nextval%'
             order by ordinal_position""";

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
            Map<String, String> tables = new LinkedHashMap<>();
            try (ResultSet row = statement.executeQuery(TABLES)) {
                while (row.next()) {
                    tables.put(row.getString(1), row.getString(2));
                }
            }
            for (String table : tables.keySet()) {
                String kept = "copied_" + table;
                statement.execute("create table " + kept + " as table " + table);
                inserts.put(table, insert(connection, table, kept));
            }
        }
        return new RunCopies(url, inserts);
    }

    private static String insert(Connection connection, String table, String kept) throws SQLException {
        List<String> names = new ArrayList<>();
        List<String> values = new ArrayList<>();
        try (PreparedStatement columns = connection.prepareStatement(COLUMNS)) {
            columns.setString(1, table);
            try (ResultSet row = columns.executeQuery()) {
                while (row.next()) {
                    names.add(row.getString(1));
                    values.add(value(row.getString(1), row.getString(2)));
                }
            }
        }
        return "insert into " + table + " (" + String.join(", ", names) + ") select " + String.join(", ", values)
                + " from generate_series(?, ?) n cross join " + kept;
    }

    /** Ids are ordered by time: the copy's number takes the place of the time, the rest tells a run's rows apart. */
    private static String value(String column, String type) {
        if (type.equals("uuid") && !column.equals("workspace_id")) {
            return "(lpad(to_hex(n), 12, '0') || substr(replace(" + column + "::text, '-', ''), 13))::uuid";
        }
        return column.equals("queued_at") ? column + " + n * interval '1 microsecond'" : column;
    }

    /** Adds so many copies, then looks after the tables as autovacuum would in time. */
    public void insert(int count) throws SQLException {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            // Neither foreign keys nor the guards of append-only tables: what is copied has passed them.
            statement.execute("set session_replication_role = replica");
            for (int from = 1; from <= count; from += AT_ONCE) {
                for (String insert : inserts.values()) {
                    try (PreparedStatement copy = connection.prepareStatement(insert)) {
                        copy.setInt(1, from);
                        copy.setInt(2, Math.min(count, from + AT_ONCE - 1));
                        copy.executeUpdate();
                    }
                }
            }
            statement.execute("vacuum analyze");
            statement.execute("checkpoint");
        }
    }
}
