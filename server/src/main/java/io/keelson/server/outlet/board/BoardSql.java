package io.keelson.server.outlet.board;

import io.keelson.server.base.db.Sql;

/**
 * SQL over {@code board_tasks}. The table may be the platform's: its rows may have no values where Keelson's always have one,
 * and a new row has every value, because its columns may have no defaults.
 */
final class BoardSql {
    private static final String COLUMNS = """
            b.id, b.title, b.description, coalesce(b.status, 'inbox') as status, coalesce(b.priority, 'medium') as priority,
            coalesce(b.review_mode, 'auto') as review_mode, b.assignee, b.assigned_agent_id,
            coalesce(b.created_by_type, 'user') as created_by_type, b.created_by_id, b.parent_task_id::bigint as parent_task_id,
            coalesce(b.source_type, 'user') as source_type, b.source_id, b.run_id, coalesce(b.tags, '[]') as tags,
            b.planning_data, b.result, b.error_message, b.started_at, b.completed_at,
            coalesce(b.created_at, to_timestamp(0)) as created_at,
            coalesce(b.updated_at, b.created_at, to_timestamp(0)) as updated_at,
            (select count(*) from (select from board_tasks k where k.parent_task_id = b.id limit %d) k) as children"""
            .formatted(BoardTasks.COUNTED + 1);

    /** Columns of lists, with the beginning of a description. */
    private static final String LISTED = COLUMNS.replace("b.description", "left(b.description, 4000) as description");

    /** One range of the index for each column and source, so that no other task is read. */
    private static final String BY_COLUMN = """
            select %s
              from unnest(:statuses::text[]) as s (status) cross join %s
             cross join lateral (
                select * from board_tasks b
                 where b.workspace_id = :workspace and b.status = s.status and %s and b.id < :before
                   and case when :assignee::text is null then true else b.assignee = :assignee end
                   and case when :tag::jsonb is null then true else b.tags @> :tag::jsonb end
                 order by b.id desc limit :each) b
             order by b.id desc limit :limit""";

    private static final String EACH_SOURCE = "unnest(:sources::text[]) as k (source)";
    private static final String ANY_SOURCE = "(values (:sources::text[])) as k (sources)";
    private static final String AT_LARGE = "b.source_type = k.source";
    private static final String BELOW = "b.source_type = any (k.sources) and b.parent_task_id = :parent";

    static final Sql LIST = Sql.of(BY_COLUMN.formatted(LISTED, EACH_SOURCE, AT_LARGE));
    static final Sql CHILDREN = Sql.of(BY_COLUMN.formatted(LISTED, ANY_SOURCE, BELOW));

    private static final String COUNT = """
            select s.status, least(sum(n.count), %d) as count
              from unnest(:statuses::text[]) as s (status) cross join %s
             cross join lateral (
                select count(*) from (
                    select from board_tasks b
                     where b.workspace_id = :workspace and b.status = s.status and %s
                     limit %d) few) n
             group by s.status""";

    static final Sql COUNTS =
            Sql.of(COUNT.formatted(BoardTasks.COUNTED + 1, EACH_SOURCE, AT_LARGE, BoardTasks.COUNTED + 1));
    static final Sql COUNTS_OF_CHILDREN =
            Sql.of(COUNT.formatted(BoardTasks.COUNTED + 1, ANY_SOURCE, BELOW, BoardTasks.COUNTED + 1));

    static final Sql ONE =
            Sql.of("select " + COLUMNS + " from board_tasks b where b.workspace_id = :workspace and b.id = :id");

    static final Sql LOCK =
            Sql.of("select from board_tasks where workspace_id = :workspace and id = :id for update");

    /** A parent, which stays until its child is there. */
    static final Sql HELD =
            Sql.of("select from board_tasks where workspace_id = :workspace and id = :id for key share");

    static final Sql OF_RUN = Sql.of("""
            select id from board_tasks where workspace_id = :workspace and source_type = 'orchestration'
               and source_id = :run""");

    static final Sql INSERT = Sql.of("""
            insert into board_tasks as b (workspace_id, title, description, status, priority, assignee, parent_task_id,
                tags, created_by_id, review_mode, created_by_type, source_type, created_at, updated_at, started_at,
                completed_at)
            select keelson_held_workspace(:workspace), :title, :description, :status, :priority, :assignee, :parent,
                :tags::jsonb, :by, 'auto', 'user', 'user', now, now, case when :status = 'in_progress' then now end,
                case when :status = 'done' then now end
              from clock_timestamp() as now
            returning """ + " " + COLUMNS);

    /** People change only the priority of a run's board tasks. An empty text clears the column. */
    static final Sql UPDATE = Sql.of("""
            with w as (
                select b.id, coalesce(b.source_type, 'user') in ('orchestration', 'orchestration_task') as fixed,
                    u.*, clock_timestamp() as now
                  from board_tasks b
                 cross join (values (:workspace::uuid, :id::bigint, :title::text, :description::text, :status::text,
                        :assignee::text, :tags::jsonb, :result::text, :priority::text))
                    as u (workspace, task, title, description, status, assignee, tags, result, priority)
                 where b.workspace_id = u.workspace and b.id = u.task
                   for no key update of b)
            update board_tasks b
               set priority = coalesce(w.priority, b.priority), updated_at = w.now,
                   title = case when w.fixed then b.title else coalesce(w.title, b.title) end,
                   description = case when w.fixed or w.description is null then b.description
                       else nullif(w.description, '') end,
                   assignee = case when w.fixed or w.assignee is null then b.assignee else nullif(w.assignee, '') end,
                   tags = case when w.fixed or w.tags is null then b.tags else w.tags end,
                   result = case when w.fixed or w.result is null then b.result else nullif(w.result, '') end,
                   status = case when w.fixed or w.status is null then b.status else w.status end,
                   started_at = case when not w.fixed and w.status = 'in_progress'
                       then coalesce(b.started_at, w.now) else b.started_at end,
                   completed_at = case when w.fixed or w.status is null then b.completed_at
                       when w.status = 'done' then coalesce(b.completed_at, w.now) end
              from w
             where b.id = w.id
            returning """ + " " + COLUMNS);

    static final Sql DELETE = Sql.of("""
            delete from board_tasks
             where workspace_id = :workspace and id = :id
               and coalesce(source_type, 'user') not in ('orchestration', 'orchestration_task')""");

    private BoardSql() {}
}
