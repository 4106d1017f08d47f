package io.keelson.server.engine.store.archive;

import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Columns of the tables of runs, as the database has them: a table of the platform may have further ones. */
public final class TableColumns {

    private static final Sql COLUMNS = Sql.of("""
            select c.relname as place, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
                (select array_position(i.indkey::smallint[], a.attnum) from pg_index i
                  where i.indrelid = c.oid and i.indisprimary) as key,
                (select k.confrelid::regclass::text from pg_constraint k
                  where k.conrelid = c.oid and k.contype = 'f' and k.confdeltype = 'n' and k.conkey = array[a.attnum]
                  limit 1) as named
              from pg_class c join pg_attribute a on a.attrelid = c.oid
             where c.relname = any (:tables) and c.relnamespace = current_schema()::regnamespace
               and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
             order by c.relname, a.attnum""");

    /**
     * A column.
     *
     * @param type in SQL
     * @param key its place in the primary key; null for other columns
     * @param named the table that it refers to, if the reference becomes null with the row there
     */
    record Column(String name, String type, @Nullable Integer key, @Nullable String named) {

        /** The SQL of its value, of a text column {@code x}. Another run may have taken an external id over. */
        private String value(RunTables.Table table) {
            if (table.name().equals("orchestration_runs") && name.equals("external_id")) {
                return "(select a.external_id from archived_runs a where a.id = x.id::uuid)";
            }
            String text = "x." + name + "::" + type;
            return named == null ? text : "(select n.id from " + named + " n where n.id = " + text + ")";
        }
    }

    private final Map<String, List<Column>> tables;

    private TableColumns(Map<String, List<Column>> tables) {
        this.tables = tables;
    }

    /** Reads the catalogue, which takes as long as reading a run. */
    public static TableColumns of(Connection c) throws SQLException {
        Map<String, List<Column>> tables = new HashMap<>();
        COLUMNS.on(c).setTexts("tables", RunTables.ALL.stream().map(RunTables.Table::name).toList()).all(row -> {
            tables.computeIfAbsent(row.getString("place"), _ -> new ArrayList<>()).add(new Column(
                    row.getString("name"), row.getString("type"), row.getObject("key", Integer.class),
                    named(row.getString("named"))));
            return true;
        });
        return new TableColumns(tables);
    }

    /** A reference within a run is in the archive, too. */
    private static @Nullable String named(@Nullable String table) {
        return table == null || RunTables.ALL.stream().anyMatch(each -> each.name().equals(table)) ? null : table;
    }

    List<Column> of(RunTables.Table table) {
        return Optional.ofNullable(tables.get(table.name())).orElse(List.of());
    }

    List<String> names(RunTables.Table table) {
        return of(table).stream().map(Column::name).toList();
    }

    /** Reads the rows of a run in the order of their keys, each value as text. */
    String select(RunTables.Table table) {
        List<Column> columns = of(table);
        return "select " + columns.stream().map(each -> "t." + each.name() + "::text").collect(Collectors.joining(", "))
                + " from " + table.name() + " t where " + table.condition() + " order by "
                + columns.stream().filter(each -> each.key() != null)
                        .sorted((one, other) -> Integer.compare(key(one), key(other)))
                        .map(each -> "t." + each.name()).collect(Collectors.joining(", "));
    }

    private static int key(Column column) {
        return column.key() == null ? 0 : column.key();
    }

    /** Inserts rows of a run that is still in the archive, of a JSON array, its only parameter; columns that these do not name have their defaults. */
    String insert(RunTables.Table table, List<String> named) {
        List<Column> columns = of(table).stream().filter(each -> named.contains(each.name())).toList();
        return "insert into " + table.name() + " ("
                + columns.stream().map(Column::name).collect(Collectors.joining(", "))
                + ") overriding system value select "
                + columns.stream().map(each -> each.value(table)).collect(Collectors.joining(", "))
                + " from json_to_recordset(?::json) as x ("
                + columns.stream().map(each -> each.name() + " text").collect(Collectors.joining(", ")) + ")";
    }

    /** Names that this database's table does not have. */
    List<String> unknown(RunTables.Table table, List<String> named) {
        List<String> own = names(table);
        return named.stream().filter(name -> !own.contains(name)).toList();
    }
}
