package io.keelson.server.engine.store.archive;

import io.keelson.server.base.db.Sql;

/** The statements of {@link RunArchive}. */
final class ArchiveQueries {

    /**
     * The condition on a run {@code r} that may be archived. A run waits for timers, work, answers of people, open parents and
     * children, its undo, forks, commands to the world outside and webhooks that have not seen its events.
     */
    private static final String DUE = """
                   r.state_type = 'terminal' and r.deleted_at is null
               and r.completed_at <= {now} - :age * interval '1 millisecond'
               and not exists (select from restored_runs b
                    where b.run_id = r.id and b.restored_at > {now} - :age * interval '1 millisecond')
               and not exists (select from timers t where t.run_id = r.id)
               and not exists (select from work_queue q where q.run_id = r.id)
               and not exists (select from escalation_tickets e where e.run_id = r.id and e.resolution is null)
               and not exists (select from proposals p
                    where p.run_id = r.id and p.state = 'pending' and coalesce(p.expires_at > {now}, true))
               and not exists (select from gateway_requests g where g.run_id = r.id and g.state = 'open')
               and not exists (select from execution_commands x where x.run_id = r.id and x.completed_at is null)
               and not exists (select from run_parents p join orchestration_runs o on o.id = p.parent_run_id
                    where p.run_id = r.id and o.state_type <> 'terminal')
               and not exists (select from run_children k join orchestration_runs o on o.id = k.child_run_id
                    where k.run_id = r.id and o.state_type <> 'terminal')
               and not exists (select from run_undos u where u.run_id = r.id and u.state in ('requested', 'running'))
               and not exists (select from orchestration_runs f where f.forked_from = r.id and f.deleted_at is null)
               and not exists (select from webhook_endpoints w
                    where w.workspace_id = r.workspace_id and w.enabled and (w.replay_after is not null
                        or (select max(k.id) from run_event_packs k where k.run_id = r.id)
                            > (select f.last_id from webhook_feed f)))""".replace("{now}", "(select at from moment)");

    private static final String MOMENT =
            "with moment as materialized (select {now} as at) ";

    static final Sql WORKSPACES = Sql.of("select id from workspaces where purge_asked_at is null order by id");

    static final Sql LAST_MOVE = Sql.of("select max(created_at) as last from archive_objects having count(*) > 0");

    /** By the time of creation, which has an index; a run ends later than that. */
    static final Sql RUNS_DUE = Sql.of(MOMENT + """
            select r.id, r.created_at
              from orchestration_runs r
             where r.workspace_id = :workspace
               and r.created_at <= (select at from moment) - :age * interval '1 millisecond'
               and (r.created_at, r.id) > (:created, :after) and
            """ + DUE + " order by r.created_at, r.id limit :limit");

    static final Sql STILL_DUE =
            Sql.of(MOMENT + "select r.id from orchestration_runs r where r.id = :run and " + DUE);

    static final Sql LOCK = Sql.of("select last_seq from run_heads where run_id = :run for update");

    static final Sql ADD_OBJECT = Sql.of(MOMENT + """
            insert into archive_objects (id, workspace_id, storage_key, size_bytes, sha256, runs, created_at)
            select :id, :workspace, :key, :size, :sha256, :runs, at from moment""");

    static final Sql ADD_RUN = Sql.of(MOMENT + """
            insert into archived_runs (id, workspace_id, object_id, first_byte, size_bytes, sha256, external_id, title, goal,
                state, state_type, trigger, tags, origin, error_code, parent_run_id, total_tokens, total_cost, created_at,
                started_at, completed_at, last_seq, document, parts, reads_from, archived_at)
            select r.id, r.workspace_id, :object, :first, :size, :sha256, r.external_id, r.title, left(r.goal, 500), r.state,
                r.state_type, r.trigger, r.tags, r.origin, r.error_code,
                (select p.parent_run_id from run_parents p where p.run_id = r.id), h.total_tokens, h.total_cost, r.created_at,
                r.started_at, r.completed_at, h.last_seq, :document::jsonb, :parts::uuid[], r.forked_from, moment.at
              from moment cross join orchestration_runs r join run_heads h on h.run_id = r.id where r.id = :run""");

    static final Sql ADD_FILES =
            Sql.of("""
            insert into archived_files (storage_key, workspace_id, run_id, size_bytes, sha256, expires_at)
            select storage_key, workspace_id, run_id, size_bytes, sha256, expires_at from artifacts
             where run_id = :run and deleted_at is null
            union all
            select storage_key, workspace_id, run_id, size_bytes, sha256, null from event_exports where run_id = :run""");

    static final Sql DELETE_EVENTS = Sql.of("select keelson_export_events(:run) as gone");

    private static final String PLACE = """
            select a.id, a.workspace_id, a.first_byte, a.size_bytes, a.sha256, a.archived_at, a.reads_from,
                o.id as object_id, o.storage_key
              from archived_runs a join archive_objects o on o.id = a.object_id
            """;

    static final Sql RUN = Sql.of(PLACE + " where (a.workspace_id = :workspace) is true and a.id = :run");

    static final Sql OF_PART =
            Sql.of(PLACE + " where (a.workspace_id = :workspace) is true and a.parts @> array[:part]::uuid[] limit 1");

    static final Sql PAGE = Sql.of(PLACE + """
             where a.workspace_id = :workspace and a.id > :after order by a.id limit :limit""");

    static final Sql LOCK_RUN = Sql.of(PLACE + """
             where (a.workspace_id = :workspace) is true and a.id = :run for update of a, o""");

    static final Sql FORGET_RUN = Sql.of("delete from archived_runs where id = :run");

    static final Sql NOTE_RESTORED = Sql.of(MOMENT + """
            insert into restored_runs (run_id, workspace_id, restored_at, restored_by)
            select :run, :workspace, at, :by from moment""");

    static final Sql FORGET_OBJECT = Sql.of("""
            delete from archive_objects o
             where o.id = :object and not exists (select from archived_runs a where a.object_id = o.id)""");

    /** Runs whose forks are in the archive stay with them. */
    static final Sql EXPIRED = Sql.of(MOMENT + """
            select a.id, a.object_id, a.completed_at from archived_runs a
             where a.workspace_id = :workspace and a.completed_at <= (select at from moment) - :age * interval '1 millisecond'
               and not exists (select from archived_runs f where f.reads_from = a.id)
             order by a.completed_at limit :limit""");

    static final Sql LOCK_OBJECTS = Sql.of("""
            select id from archive_objects where id = any (:objects) order by id for update""");

    static final Sql FORGET_RUNS = Sql.of("delete from archived_runs where id = any (:runs)");

    static final Sql FORGET_OBJECTS = Sql.of("""
            delete from archive_objects o
             where o.id = any (:objects) and not exists (select from archived_runs a where a.object_id = o.id)""");

    static final Sql NOTE_EXPIRED =
            Sql.of("""
            insert into archive_deletions as d (workspace_id, ended_before) values (:workspace, :before)
            on conflict (workspace_id) do update set ended_before = greatest(d.ended_before, excluded.ended_before)""");

    /** An hour later than the artifact itself: a download may be under way. */
    static final Sql EXPIRED_FILES = Sql.of(MOMENT + """
            delete from archived_files where storage_key = any (array(
                select storage_key from archived_files
                 where expires_at <= (select at from moment) - interval '1 hour' limit :limit))""");

    static final Sql USE = Sql.of("""
            select count(*) as runs, count(distinct object_id)::int as objects, coalesce(sum(size_bytes), 0)::bigint as bytes,
                min(completed_at) as oldest, max(completed_at) as newest
              from archived_runs where workspace_id = :workspace""");

    private ArchiveQueries() {}
}
