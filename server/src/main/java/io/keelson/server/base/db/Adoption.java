package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes of tables that exist before Keelson's first start. Existing definitions stay: columns with their types,
 * nullability and defaults, references, checks and rows. Columns that are missing are added, each table by one
 * statement that rewrites no row. The migrations and {@link SharedIndexes} do the rest.
 */
public final class Adoption {

    /**
     * A statement on a table that exists.
     *
     * @param lock the mode of PostgreSQL in which the statement locks the table
     */
    public record Change(String table, String statement, String lock, String reason) {}

    /**
     * Columns of {@link Neighbours#OURS} that a table lacks. A default that differs from row to row would rewrite the table,
     * so it is set for later rows, and {@link #FILLS} gives it to the others. References to Keelson's and other shared tables
     * are added with their columns by the migrations.
     */
    private static final String LACKING = "with " + Neighbours.OURS + SharedIndexes.SHARED + """
            , lacking as (
                select o.*, o.standard like '%gen_random_uuid()%' as varies, case
                        when o.length is not null then format('varchar(%s)', greatest(o.length, 30))
                        when o.types = '{numeric}' then 'numeric(20, 6)' else (o.types::text[])[1] end as type
                  from ours o join places p on p.place = o.place
                 where o.place <> 'api_keys'
                   and (o.place, o.name) not in (('board_tasks', 'assigned_agent_id'), ('agent_reports', 'orchestration_task_id'))
                   and not exists (select from found f where f.place = o.place and f.name = o.name)),
            added as (
                select place, format('alter table %I ', place) || string_agg(
                        format('add column %I %s', name, type) || case when standard is null then ''
                            when varies then format(', alter column %I set default %s', name, standard)
                            else format(' not null default %s', standard) end, ', ' order by name) as statement
                  from lacking group by place)
            """;

    private static final String COLUMNS = LACKING + "select statement from added order by place";

    /** A thousand rows at a time. */
    private static final String FILLS = "with " + Neighbours.OURS + """
            select format('update %1$I set %2$I = %3$s where %2$I is null and ctid = any (array('
                    'select ctid from %1$I where %2$I is null limit 1000))', o.place, o.name, o.standard)
              from ours o join found f on f.place = o.place and f.name = o.name
             where (o.place, o.name) in (('agents', 'slug'), ('workflow_recipes', 'recipe_id'))
               and not f.required and f.standard like '%gen_random_uuid()%'
             order by o.place""";

    private static final String CHANGES = LACKING + """
            , triggers (place, name, reason) as (values
                ('workspaces', 'workspaces_drop_board', 'a workspace that is deleted takes its board and reports with it'),
                ('workspaces', 'workspaces_open_balances', 'a workspace has its accounts from the beginning'),
                ('board_tasks', 'board_tasks_leave_children', 'a task whose parent is deleted has none')),
            referrers (place, reason) as (values
                ('workspaces', 'Keelson''s own tables refer to workspaces'), ('agents', 'runs and tasks refer to agents'),
                ('board_tasks', 'tasks of runs refer to their board task'))
            select place, statement, lock, reason from (
                select 1 as step, place, statement, 'ACCESS EXCLUSIVE' as lock,
                    'Keelson reads and writes these columns; no row is rewritten' as reason from added
                union all
                select 2, place, format('update %1$I set %2$I = %3$s where %2$I is null', place, name, standard),
                    'ROW EXCLUSIVE', 'rows that exist get a value in the new column, 1,000 rows in a transaction'
                  from lacking where varies
                union all
                select 3, 'api_keys', 'alter table api_keys add column …, add constraint ck_api_keys_operator',
                    'ACCESS EXCLUSIVE', 'keys have scopes and a principal' from places where place = 'api_keys'
                   and not exists (select from pg_constraint where conrelid = places.oid and conname = 'ck_api_keys_operator')
                union all
                select 3, place, format('alter table %I add column if not exists %I', place, name) || reference,
                    'ACCESS EXCLUSIVE', 'the column and its reference; no row is looked at'
                  from (values
                    ('board_tasks', 'assigned_agent_id', ' integer references agents (id) on delete set null'),
                    ('agent_reports', 'orchestration_task_id', ' uuid references orchestration_tasks (id) on delete set null'))
                        as referring (place, name, reference)
                  join places using (place)
                 where not exists (select from found f where f.place = referring.place and f.name = referring.name)
                union all
                select 4, place, 'create table … references ' || place, 'SHARE ROW EXCLUSIVE', reason
                  from referrers join places using (place) where to_regclass('orchestration_tasks') is null
                union all
                select 5, place, format('create trigger %I on %I', name, place), 'SHARE ROW EXCLUSIVE', reason
                  from triggers join places using (place)
                 where not exists (select from pg_trigger t where t.tgrelid = places.oid and t.tgname = name)
                union all
                select 6, place, format('create policy workspace on %1$I; alter table %1$I enable row level security, '
                        'force row level security', place), 'ACCESS EXCLUSIVE',
                    'connections that serve requests see rows of their workspace only, all others all rows'
                  from places join pg_class c using (oid) where not c.relforcerowsecurity
                union all
                select 7, place,\s""" + SharedIndexes.BUILD + """
            , 'SHARE UPDATE EXCLUSIVE', purpose from missing) changes
             order by place, step, statement""";

    /** More than half of the numbers of INTEGER are used. */
    private static final String FEW_IDS_LEFT = "with " + Neighbours.OURS + """
            select format('board_tasks.id is an INTEGER and %s of 2,147,483,647 numbers are used; each run takes one and one '
                    'for each of its tasks. Change its type while there is time: docs/operate/adoption.md',
                    to_char(used, 'FM999,999,999,999'))
              from found f cross join pg_sequence_last_value(pg_get_serial_sequence(f.oid::regclass::text, f.name)) as used
             where f.place = 'board_tasks' and f.name = 'id' and f.type = 'int4' and used > 1073741823""";

    private Adoption() {}

    /** Lists the changes that the next start makes to tables that exist; changes nothing. Empty for a database of Keelson's own. */
    static List<Change> changes(DatabaseUrl url) throws SQLException {
        try (Connection connection = url.connect(); PreparedStatement read = connection.prepareStatement(CHANGES);
                ResultSet row = read.executeQuery()) {
            List<Change> changes = new ArrayList<>();
            while (row.next()) {
                changes.add(new Change(row.getString("place"), row.getString("statement"), row.getString("lock"),
                        row.getString("reason")));
            }
            return changes;
        }
    }

    /**
     * Adds the columns that the tables lack. Each statement is a transaction; a repetition skips completed statements.
     */
    static void addColumns(DatabaseUrl url, TableLocks locks) throws SQLException {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute(TableLocks.SESSION_SQL);
            for (String each : Neighbours.texts(connection, COLUMNS)) {
                locks.await(() -> statement.executeUpdate(each));
            }
            for (String each : Neighbours.texts(connection, FILLS)) {
                while (locks.await(() -> statement.executeUpdate(each)) > 0) {
                    // the next rows
                }
            }
        }
    }

    /** Whether ids of the board run out; empty while they do not. */
    static List<String> warnings(Connection connection) throws SQLException {
        return Neighbours.texts(connection, FEW_IDS_LEFT);
    }
}
