package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Rules of others over the columns that Keelson writes: references to other tables than Keelson's own, and CHECK
 * constraints that refuse values of Keelson's. A row that breaks one would fail the transaction of a run.
 */
final class NeighbourRules {

    /** A table that is moved away keeps the references to it. */
    private static final String REFERENCES = "with " + Neighbours.OURS + """
            , targets (place, name, target) as (values
                ('api_keys', 'workspace_id', 'workspaces'), ('api_keys', 'principal_id', 'principals'),
                ('agents', 'workspace_id', 'workspaces'), ('board_tasks', 'workspace_id', 'workspaces'),
                ('board_tasks', 'parent_task_id', 'board_tasks'), ('board_tasks', 'assigned_agent_id', 'agents'),
                ('agent_reports', 'workspace_id', 'workspaces'),
                ('agent_reports', 'orchestration_task_id', 'orchestration_tasks'),
                ('workflow_recipes', 'workspace_id', 'workspaces')),
            writes as (
                select k.oid, k.conname, p.place, f.name, k.confrelid::regclass as refers,
                    (select target from targets t where t.place = p.place and t.name = f.name) as target
                  from pg_constraint k join places p on p.oid = k.conrelid
                  join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey)
                  join found f on f.oid = p.oid and f.name = a.attname
                  join ours o on o.place = p.place and o.name = f.name
                 where k.contype = 'f')
            select distinct on (place, conname) format('%1$s.%2$s refers to %3$s, but Keelson writes %4$s there: '
                    'alter table %1$s drop constraint %5$I', place, name, refers,
                    coalesce('ids of its own ' || target, 'what is in no other table'), conname)
              from writes
             where target is null
                or refers is distinct from to_regclass(format('%I.%I', current_schema(), target))
                or refers::oid not in (select oid from places) and to_regclass('flyway_schema_history') is null
             order by place, conname, name""";

    /** Rows as Keelson writes them, in each of its values; a constraint over a column with a default of others is theirs. */
    private static final String CHECKS = "with " + Neighbours.OURS + """
            select p.place, format('%I', k.conname), pg_get_expr(k.conbin, k.conrelid),
                (select string_agg(format('concat(%L, %I)', a.attname || ' ', a.attname), ', ')
                   from pg_attribute a where a.attrelid = p.oid and a.attnum = any (k.conkey))
              from pg_constraint k join places p on p.oid = k.conrelid
             where k.contype = 'c' and p.place in ('board_tasks', 'agent_reports', 'workflow_recipes')
               and exists (select from found f join ours o on o.place = f.place and o.name = f.name
                    join pg_attribute a on a.attrelid = p.oid and a.attname = f.name
                    where f.oid = p.oid and a.attnum = any (k.conkey))
               and not exists (select from pg_attribute a
                    where a.attrelid = p.oid and a.attnum = any (k.conkey) and a.atthasdef
                      and not exists (select from ours o where o.place = p.place and o.name = a.attname))
             order by p.place, k.conname""";

    private static final String REFUSED = """
            select concat_ws(', ', %3$s) from jsonb_populate_recordset(null::%1$s, (
                select jsonb_agg(sample) from (%4$s) samples (sample))) as %1$s
             where not (%2$s) limit 1""";

    private static final String BOARD_TASKS = """
            select jsonb_build_object('id', 2, 'workspace_id', gen_random_uuid(), 'title', 'Mission: report',
                'description', 'Describe it', 'status', status, 'priority', priority, 'review_mode', kind.review,
                'parent_task_id', kind.parent, 'source_type', kind.source, 'source_id', gen_random_uuid(),
                'assignee', 'writer', 'created_by_type', kind.by, 'created_by_id', 'system', 'tags', '["mission"]'::jsonb,
                'planning_data', '{}'::jsonb, 'run_id', gen_random_uuid(), 'created_at', now(), 'updated_at', now(),
                'started_at', case when status not in ('inbox', 'assigned') then now() end,
                'completed_at', case when status = 'done' then now() end)
              from (values ('orchestration', 'orchestration', null, 'manual'),
                    ('orchestration_task', 'orchestration', 1, 'auto'),
                    ('orchestration_task', 'orchestration', 1, 'manual'), ('user', 'user', null, 'auto'))
                        as kind (source, by, parent, review),
                unnest('{inbox,assigned,in_progress,review,done}'::text[]) status,
                unnest('{low,medium,high,urgent}'::text[]) priority""";

    private static final String AGENT_REPORTS = """
            select jsonb_build_object('id', gen_random_uuid(), 'workspace_id', gen_random_uuid(), 'title', 'Write',
                'orchestration_task_id', gen_random_uuid(), 'subject_id', gen_random_uuid(), 'run_id', gen_random_uuid(),
                'run_attempt', 1, 'agent', 'writer', 'tokens', 0, 'cost', 0, 'duration_ms', 0, 'content', '# Write',
                'report_type', type, 'state', state, 'created_at', now())
              from unnest('{research,audit,summary,delivery,incident}'::text[]) type,
                unnest('{completed,failed,cancelled,skipped}'::text[]) state""";

    private static final String WORKFLOW_RECIPES = """
            select jsonb_build_object('id', 1, 'workspace_id', gen_random_uuid(), 'name', 'report', 'owner_type', 'workspace',
                'template_id', template, 'template_definition', '{}'::jsonb, 'steps', '[]'::jsonb,
                'execution_config', '{}'::jsonb, 'tags', '[]'::jsonb, 'recipe_id', gen_random_uuid(), 'version', 1,
                'created_by', 'owner', 'updated_by', 'owner', 'created_at', now(), 'updated_at', now())
              from unnest('{NULL,mission-0a1b2c3d-20260314120000}'::text[]) template""";

    private NeighbourRules() {}

    /** The rules that must be dropped, with the statements that do it. */
    static List<String> problems(Connection connection) throws SQLException {
        List<String> problems = new ArrayList<>(Neighbours.texts(connection, REFERENCES));
        try (PreparedStatement read = connection.prepareStatement(CHECKS); ResultSet row = read.executeQuery()) {
            while (row.next()) {
                String place = row.getString(1);
                String constraint = row.getString(2);
                Neighbours.texts(connection,
                        REFUSED.formatted(place, row.getString(3).replace("?", "??"),
                                row.getString(4), samples(place)))
                        .stream()
                        .map(refused -> "%1$s has the rule %2$s, which refuses %3$s: alter table %1$s drop constraint %2$s"
                                .formatted(place, constraint, refused))
                        .forEach(problems::add);
            }
        }
        return problems;
    }

    private static String samples(String place) {
        return switch (place) {
            case "board_tasks" -> BOARD_TASKS;
            case "agent_reports" -> AGENT_REPORTS;
            default -> WORKFLOW_RECIPES;
        };
    }
}
