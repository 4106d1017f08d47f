package io.keelson.server.base.db;

import io.keelson.server.base.db.DatabaseException.Code;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Tables that Keelson shares with the platform of PRD-101 and that may exist before its first start, with rows in them.
 * They are checked before every start. {@link Adoption} adds missing columns. Tables of others are not touched.
 */
final class Neighbours {

    /**
     * The columns that Keelson reads and writes: types that it can use, the first of which a new column has; the least length
     * of a text; the default of a new column; and whether every row must have a value that only its writer knows.
     */
    static final String OURS = """
            ours (place, name, types, length, standard, required) as (values
                ('workspaces', 'id', '{uuid}', null, 'gen_random_uuid()', true),
                ('workspaces', 'name', '{varchar,text}', 255, null, true),
                ('workspaces', 'created_at', '{timestamptz}', null, 'now()', false),
                ('workspaces', 'closed_at', '{timestamptz}', null, null, false),
                ('workspaces', 'purge_asked_at', '{timestamptz}', null, null, false),
                ('workspaces', 'purged_at', '{timestamptz}', null, null, false),
                ('workspaces', 'purged_rows', '{int8}', null, '0', false),
                ('workspaces', 'allowed_folders', '{_text}', null, null, false),
                ('workspaces', 'allowed_models', '{_text}', null, null, false),
                ('workspaces', 'allowed_tools', '{_text}', null, null, false),
                ('workspaces', 'denied_tools', '{_text}', null, null, false),
                ('workspaces', 'default_autonomy', '{varchar,text}', 20, null, false),
                ('api_keys', 'id', '{uuid}', null, 'gen_random_uuid()', true),
                ('api_keys', 'workspace_id', '{uuid}', null, null, true),
                ('api_keys', 'name', '{varchar,text}', 255, null, true),
                ('api_keys', 'key_hash', '{bytea}', null, null, true),
                ('api_keys', 'prefix', '{varchar,text}', 40, null, true),
                ('api_keys', 'created_at', '{timestamptz}', null, 'now()', false),
                ('api_keys', 'expires_at', '{timestamptz}', null, null, false),
                ('api_keys', 'revoked_at', '{timestamptz}', null, null, false),
                ('api_keys', 'last_used_at', '{timestamptz}', null, null, false),
                ('api_keys', 'principal_id', '{uuid}', null, null, false),
                ('api_keys', 'scopes', '{_text}', null,
                    '''{runs:read,runs:write,approve,work,credits:read,credits:grant,admin}''', false),
                ('api_keys', 'created_by', '{varchar,text}', 255, null, false),
                ('api_keys', 'replaced_by', '{uuid}', null, null, false),
                ('agents', 'id', '{int4}', null, null, true),
                ('agents', 'workspace_id', '{uuid}', null, null, true),
                ('agents', 'slug', '{varchar,text}', 100, '''agent-'' || left(gen_random_uuid()::text, 8)', false),
                ('agents', 'name', '{varchar,text}', 255, null, true),
                ('agents', 'created_at', '{timestamptz}', null, 'now()', false),
                ('agents', 'description', '{text,varchar}', null, null, false),
                ('agents', 'model', '{varchar,text}', 200, null, false),
                ('agents', 'instructions', '{text,varchar}', null, null, false),
                ('agents', 'tools', '{jsonb}', null, '''[]''', false),
                ('agents', 'capabilities', '{jsonb}', null, '''[]''', false),
                ('agents', 'limits', '{jsonb}', null, '''{}''', false),
                ('agents', 'runs_on', '{varchar,text}', 7, null, false),
                ('agents', 'created_by', '{varchar,text}', 255, null, false),
                ('agents', 'updated_at', '{timestamptz}', null, 'now()', false),
                ('board_tasks', 'id', '{int4,int8}', null, null, true),
                ('board_tasks', 'workspace_id', '{uuid}', null, null, true),
                ('board_tasks', 'title', '{varchar,text}', 500, null, true),
                ('board_tasks', 'description', '{text}', null, null, false),
                ('board_tasks', 'status', '{varchar,text}', 11, '''inbox''', false),
                ('board_tasks', 'parent_task_id', '{int4,int8}', null, null, false),
                ('board_tasks', 'source_type', '{varchar,text}', 18, '''user''', false),
                ('board_tasks', 'source_id', '{varchar,text}', 36, null, false),
                ('board_tasks', 'created_at', '{timestamptz}', null, 'now()', false),
                ('board_tasks', 'updated_at', '{timestamptz}', null, 'now()', false),
                ('board_tasks', 'priority', '{varchar,text}', 6, '''medium''', false),
                ('board_tasks', 'review_mode', '{varchar,text}', 6, '''auto''', false),
                ('board_tasks', 'assigned_agent_id', '{int4}', null, null, false),
                ('board_tasks', 'assignee', '{varchar,text}', 255, null, false),
                ('board_tasks', 'created_by_type', '{varchar,text}', 13, '''user''', false),
                ('board_tasks', 'created_by_id', '{varchar,text}', 255, null, false),
                ('board_tasks', 'tags', '{jsonb}', null, '''[]''', false),
                ('board_tasks', 'planning_data', '{jsonb}', null, null, false),
                ('board_tasks', 'run_id', '{uuid}', null, null, false),
                ('board_tasks', 'result', '{text}', null, null, false),
                ('board_tasks', 'error_message', '{text}', null, null, false),
                ('board_tasks', 'started_at', '{timestamptz}', null, null, false),
                ('board_tasks', 'completed_at', '{timestamptz}', null, null, false),
                ('agent_reports', 'id', '{uuid}', null, 'gen_random_uuid()', true),
                ('agent_reports', 'workspace_id', '{uuid}', null, null, true),
                ('agent_reports', 'report_type', '{varchar,text}', 8, null, true),
                ('agent_reports', 'title', '{varchar,text}', 500, null, true),
                ('agent_reports', 'created_at', '{timestamptz}', null, 'now()', false),
                ('agent_reports', 'orchestration_task_id', '{uuid}', null, null, false),
                ('agent_reports', 'subject_id', '{uuid}', null, null, false),
                ('agent_reports', 'run_id', '{uuid}', null, null, false),
                ('agent_reports', 'run_attempt', '{int4}', null, null, false),
                ('agent_reports', 'agent', '{varchar,text}', 255, null, false),
                ('agent_reports', 'state', '{varchar,text}', 9, null, false),
                ('agent_reports', 'tokens', '{int8}', null, '0', false),
                ('agent_reports', 'cost', '{numeric}', null, '0', false),
                ('agent_reports', 'duration_ms', '{int8}', null, null, false),
                ('agent_reports', 'content', '{text}', null, '''''', false),
                ('workflow_recipes', 'id', '{int4,int8}', null, null, true),
                ('workflow_recipes', 'workspace_id', '{uuid}', null, null, true),
                ('workflow_recipes', 'name', '{varchar,text}', 255, null, true),
                ('workflow_recipes', 'execution_config', '{jsonb}', null, '''{}''', false),
                ('workflow_recipes', 'created_at', '{timestamptz}', null, 'now()', false),
                ('workflow_recipes', 'recipe_id', '{uuid}', null, 'gen_random_uuid()', false),
                ('workflow_recipes', 'description', '{text}', null, null, false),
                ('workflow_recipes', 'steps', '{jsonb}', null, '''[]''', false),
                ('workflow_recipes', 'template_id', '{varchar,text}', 31, null, false),
                ('workflow_recipes', 'template_definition', '{jsonb}', null, '''{}''', false),
                ('workflow_recipes', 'owner_type', '{varchar,text}', 9, '''workspace''', false),
                ('workflow_recipes', 'tags', '{jsonb}', null, '''[]''', false),
                ('workflow_recipes', 'created_by', '{varchar,text}', 255, null, false),
                ('workflow_recipes', 'version', '{int4}', null, '1', false),
                ('workflow_recipes', 'updated_by', '{varchar,text}', 255, null, false),
                ('workflow_recipes', 'updated_at', '{timestamptz}', null, 'now()', false)),
            places as (
                select c.oid, c.relname as place from pg_class c
                 where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
                   and c.relname in (select place from ours)),
            found as (
                select p.oid, p.place, a.attname as name, t.typname as type, a.attnotnull as required,
                    case when t.typname = 'varchar' and a.atttypmod > 4 then a.atttypmod - 4 end as length,
                    a.atthasdef or a.attidentity <> '' as defaulted, pg_get_expr(d.adbin, d.adrelid) as standard, exists (select from pg_constraint k
                        where k.conrelid = p.oid and k.contype = 'f' and a.attnum = any (k.conkey)) as refers
                  from places p join pg_attribute a on a.attrelid = p.oid join pg_type t on t.oid = a.atttypid
                  left join pg_attrdef d on d.adrelid = p.oid and d.adnum = a.attnum
                 where a.attnum > 0 and not a.attisdropped)
            """;

    private static final String PROBLEMS = "with " + OURS + """
            select problem from (
                select o.place, o.name, format('%1$s has no column %2$s, which each of its rows must have in Keelson. '
                        'Add and fill it, or set the table aside: %3$s', o.place, o.name, format('create schema if not exists set_aside; '
                        'alter table %1$I set schema set_aside', o.place))
                            as problem
                  from ours o join places p on p.place = o.place
                  left join found f on f.place = o.place and f.name = o.name
                 where o.required and f.name is null
                union all
                select o.place, o.name, format('%1$s.%2$s has the type %3$s, Keelson needs %4$s: '
                        'alter table %1$s alter column %2$s type %4$s using %2$s::%4$s', o.place, o.name, f.type,
                        (o.types::text[])[1])
                  from ours o join found f on f.place = o.place and f.name = o.name
                 where not f.type = any (o.types::text[])
                union all
                select o.place, o.name, format('%1$s.%2$s is too short with %3$s characters: '
                        'alter table %1$s alter column %2$s type varchar(%4$s)', o.place, o.name, f.length, o.length)
                  from ours o join found f on f.place = o.place and f.name = o.name
                 where f.length < o.length
                union all
                select f.place, f.name, format('%1$s.%2$s is NOT NULL without a default, so Keelson cannot add rows: '
                        'alter table %1$s alter column %2$s %3$s', f.place, f.name,
                        case when f.name = 'id' then 'set default …' when f.refers then 'drop not null'
                            else 'drop not null (or set default …)' end)
                  from found f left join ours o on o.place = f.place and o.name = f.name
                 where f.required and not f.defaulted and (o.name is null or o.name = 'id' and o.standard is null)
                union all
                select f.place, f.name, format('%1$s.%2$s is NOT NULL, but Keelson leaves it empty in some rows: '
                        'alter table %1$s alter column %2$s drop not null', f.place, f.name)
                  from found f join ours o on o.place = f.place and o.name = f.name
                 where f.required and o.standard is null and not o.required
                ) problems
             order by place, name""";

    /** Whether the table exists with these columns; its rows cannot be looked at otherwise. */
    private static final String HAS_COLUMNS = """
            select count(*) = 2 from information_schema.columns where table_schema = current_schema()
               and table_name = ? and column_name in ('workspace_id', ?)""";

    private static final String TWICE = """
            select format('%1$s: workspace %%s has %%s rows with the %2$s "%%s" (ids %%s). Rename all but one of them.',
                workspace_id, count(*), %2$s, string_agg(id::text, ', ' order by id))
              from %1$s where workspace_id is not null group by workspace_id, %2$s having count(*) > 1
             order by workspace_id, %2$s limit 20""";

    private Neighbours() {}

    /**
     * @throws DatabaseException DATABASE_NOT_ADOPTABLE, with nothing changed
     */
    static void check(DatabaseUrl url) throws SQLException {
        try (Connection connection = url.connect()) {
            List<String> problems = new ArrayList<>(texts(connection, PROBLEMS));
            problems.addAll(twice(connection, "workflow_recipes", "name"));
            problems.addAll(twice(connection, "agents", "slug"));
            problems.addAll(NeighbourNames.problems(connection));
            problems.addAll(NeighbourRules.problems(connection));
            problems.addAll(NeighbourTriggers.problems(connection));
            if (!problems.isEmpty()) {
                throw new DatabaseException(Code.DATABASE_NOT_ADOPTABLE,
                        "Keelson cannot work with tables that exist in "
                                + url + ", and has changed nothing. Correct them, or use another database.\n  - "
                                + String.join("\n  - ", problems));
            }
        }
    }

    /** Warnings for the operator about tables that are shared with other programs. */
    static List<String> warnings(DatabaseUrl url) throws SQLException {
        try (Connection connection = url.connect()) {
            List<String> warnings = new ArrayList<>(NeighbourTriggers.warnings(connection));
            warnings.addAll(Adoption.warnings(connection));
            return warnings;
        }
    }

    private static List<String> twice(Connection connection, String table, String column) throws SQLException {
        return texts(connection, HAS_COLUMNS, table, column).equals(List.of("t"))
                ? texts(connection, TWICE.formatted(table, column))
                : List.of();
    }

    static List<String> texts(Connection connection, String sql, String... parameters) throws SQLException {
        try (var read = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                read.setString(i + 1, parameters[i]);
            }
            List<String> texts = new ArrayList<>();
            try (ResultSet row = read.executeQuery()) {
                while (row.next()) {
                    texts.add(row.getString(1));
                }
            }
            return texts;
        }
    }
}
