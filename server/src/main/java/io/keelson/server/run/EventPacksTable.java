package io.keelson.server.run;

import static io.keelson.server.run.sql.Column.bigint;
import static io.keelson.server.run.sql.Column.integer;
import static io.keelson.server.run.sql.Column.time;
import static io.keelson.server.run.sql.Column.uuid;
import static io.keelson.server.run.sql.Column.word;

import io.keelson.server.run.sql.RowSetStatement;

/**
 * {@code run_event_packs}: written in the order of the decisions, never changed. The board's row numbers are added here,
 * because the board assigns them.
 */
final class EventPacksTable {
    static final RowSetStatement<EventPack> INSERT = new RowSetStatement<>("keelson_event_pack", """
            insert into run_event_packs (run_id, first_seq, attempt, agent_id, task_id, actor_type, actor_id,
                created_at, body)
            select run_id, first_seq, attempt, agent_id, task_id, actor_type, actor_id, at,
                (case when strpos(body, chr(1)) = 0 then body else (
                    select string_agg(case when place % 2 = 1 then part else coalesce((
                            select ',"board_task_id":' || t.board_task_id from orchestration_tasks t
                             where t.id = part::uuid), '') end, '' order by place)
                      from string_to_table(body, chr(1)) with ordinality as cut (part, place)) end)::json
              from {rows}""",
            uuid("run_id", EventPack::runId), bigint("first_seq", EventPack::firstSeq),
            integer("attempt", EventPack::attempt),
            uuid("agent_id", EventPack::agentId), uuid("task_id", EventPack::taskId),
            word("actor_type", EventPack::actorType), word("actor_id", EventPack::actorId),
            time("at", EventPack::at), word("body", EventPack::body));

    private EventPacksTable() {}
}
