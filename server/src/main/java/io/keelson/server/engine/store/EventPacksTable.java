package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import java.util.List;

/**
 * {@code run_event_packs}: written in the order of the decisions, never changed. The board's row numbers are added here,
 * because the board assigns them.
 */
final class EventPacksTable {
    private static final List<Column<EventPack>> PACK = List.of(uuid("run_id", EventPack::runId),
            bigint("first_seq", EventPack::firstSeq), integer("attempt", EventPack::attempt),
            uuid("agent_id", EventPack::agentId), uuid("task_id", EventPack::taskId),
            word("actor_type", EventPack::actorType), word("actor_id", EventPack::actorId),
            time("at", EventPack::at), word("body", EventPack::body));

    static final RowSetStatement<EventPack> INSERT = new RowSetStatement<>("keelson_event_pack", """
            insert into run_event_packs (run_id, first_seq, attempt, agent_id, task_id, actor_type, actor_id,
                created_at, body)
            select run_id, first_seq, attempt, agent_id, task_id, actor_type, actor_id, at, body::json
              from {rows}""", PACK);

    /** Inserts packs with the board's row numbers. Setting up their look-up costs as much as the rest. */
    static final RowSetStatement<EventPack> INSERT_ASSIGNING = new RowSetStatement<>("keelson_event_pack", """
            insert into run_event_packs (run_id, first_seq, attempt, agent_id, task_id, actor_type, actor_id,
                created_at, body)
            select run_id, first_seq, attempt, agent_id, task_id, actor_type, actor_id, at,
                (case when strpos(body, chr(1)) = 0 then body else (
                    select string_agg(case when place % 2 = 1 then part else coalesce((
                            select ',"board_task_id":' || t.board_task_id from orchestration_tasks t
                             where t.id = part::uuid), '') end, '' order by place)
                      from string_to_table(body, chr(1)) with ordinality as cut (part, place)) end)::json
              from {rows}""", PACK);

    private EventPacksTable() {}

    /** One statement for all packs: ids follow the order of a run's packs. */
    static Part<EventPack> insert(List<EventPack> packs) {
        return (packs.stream().anyMatch(EventPack::assigns) ? INSERT_ASSIGNING : INSERT).of(packs);
    }
}
