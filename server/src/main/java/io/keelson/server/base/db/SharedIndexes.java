package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Indexes of the tables that Keelson shares with the platform, of which some may be large and in use. Each is built
 * concurrently, outside of a transaction, so that others read and write meanwhile. A start builds each that is missing and
 * each again whose build was interrupted, for PostgreSQL leaves such an index invalid under its name.
 */
final class SharedIndexes {

    /**
     * The required indexes, and the existing ones. A definition is what {@code pg_get_indexdef} returns from the access
     * method on, without casts to text types, as the platform's columns may have either. Continues the CTEs of
     * {@link Neighbours#OURS}.
     */
    static final String SHARED = """
            , shared (place, name, uniq, definition, purpose) as (values
                ('workspaces', 'ix_workspaces_purge', false,
                    'btree (purge_asked_at) WHERE ((purge_asked_at IS NOT NULL) AND (purged_at IS NULL))',
                    'finds workspaces that are to be purged'),
                ('api_keys', 'ix_api_keys_workspace', false, 'btree (workspace_id)', 'lists keys'),
                ('api_keys', 'ix_api_keys_principal', false, 'btree (principal_id) WHERE (principal_id IS NOT NULL)',
                    'finds the keys of a principal'),
                ('agents', 'ux_agents_slug', true, 'btree (workspace_id, slug)', 'plans name agents by it'),
                ('board_tasks', 'uq_board_tasks_orchestration_run', true,
                    'btree (source_id) WHERE (source_type = ''orchestration'')', 'one board task for each run'),
                ('board_tasks', 'uq_board_tasks_orchestration_task', true,
                    'btree (source_id) WHERE (source_type = ''orchestration_task'')',
                    'one board task for each task of a run'),
                ('board_tasks', 'ix_board_tasks_column', false, 'btree (workspace_id, status, source_type, id)',
                    'lists a column of the board'),
                ('board_tasks', 'ix_board_tasks_parent', false,
                    'btree (parent_task_id, status, id) WHERE (parent_task_id IS NOT NULL)', 'lists the tasks below a task'),
                ('board_tasks', 'ix_board_tasks_agent', false,
                    'btree (assigned_agent_id) WHERE (assigned_agent_id IS NOT NULL)',
                    'finds the tasks of an agent that is deleted'),
                ('agent_reports', 'uq_agent_reports_subject', true,
                    'btree (run_id, run_attempt, subject_id) WHERE (run_id IS NOT NULL)',
                    'one report for each task and attempt of a run'),
                ('agent_reports', 'ix_agent_reports_ws', false, 'btree (workspace_id, created_at, id)', 'lists reports'),
                ('agent_reports', 'ix_agent_reports_orch_task', false,
                    'btree (orchestration_task_id) WHERE (orchestration_task_id IS NOT NULL)',
                    'finds the report of a task'),
                ('workflow_recipes', 'ux_workflow_recipes_id', true, 'btree (recipe_id)', 'finds a recipe by its id'),
                ('workflow_recipes', 'ux_workflow_recipes_name', true, 'btree (workspace_id, name)',
                    'finds a recipe by its name')),
            present as (
                select p.place, c.relname as name, i.indisunique as uniq, i.indisvalid as valid, replace(regexp_replace(
                        substring(pg_get_indexdef(c.oid) from ' USING (.*)$'), '::(text|character varying)', '', 'g'),
                        '(source_type)', 'source_type') as definition
                  from places p join pg_index i on i.indrelid = p.oid join pg_class c on c.oid = i.indexrelid),
            missing as (
                select s.* from shared s join places p on p.place = s.place
                 where not exists (select from present i
                    where i.place = s.place and i.valid and (i.name = s.name
                        or s.name = 'ux_agents_slug' and i.uniq and i.definition = s.definition)))
            """;

    /** The statement that builds an index of {@code missing}. */
    static final String BUILD = "format('create %1$sindex concurrently if not exists %2$I on %3$I using %4$s',"
            + " case when uniq then 'unique ' else '' end, name, place, definition)";

    private static final String STATEMENTS = "with " + Neighbours.OURS + SHARED + """
            , possible as (
                select m.* from missing m join found f
                    on f.place = m.place and f.name = substring(m.definition from '\\((\\w+)'))
            select statement from (
                select place, m.name, 1 as step, format('drop index concurrently if exists %I', m.name) as statement
                  from possible m join present i using (place, name)
                union all
                select place, name, 2,\s""" + BUILD + """
             from possible) statements
             order by place, name, step""";

    private SharedIndexes() {}

    /** Builds missing indexes whose first column exists; returns the statements that were executed. */
    static List<String> build(DatabaseUrl url) throws SQLException {
        List<String> done = new ArrayList<>();
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute(DatabaseOptions.UNLIMITED.sessionSql());
            for (String each : Neighbours.texts(connection, STATEMENTS)) {
                statement.execute(each);
                done.add(each);
            }
        }
        return done;
    }
}
