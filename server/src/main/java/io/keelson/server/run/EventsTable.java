package io.keelson.server.run;

import static io.keelson.server.run.sql.Column.bigint;
import static io.keelson.server.run.sql.Column.integer;
import static io.keelson.server.run.sql.Column.json;
import static io.keelson.server.run.sql.Column.text;
import static io.keelson.server.run.sql.Column.time;
import static io.keelson.server.run.sql.Column.uuid;
import static io.keelson.server.run.sql.Column.word;

import io.keelson.core.run.Event;
import io.keelson.server.run.sql.FlatJson;
import io.keelson.server.run.sql.RowSetStatement;

/**
 * {@code orchestration_events}: written in the order of the decisions, never changed. The board's row number is added
 * here, because the board assigns it.
 */
final class EventsTable {
    static final RowSetStatement<Event> INSERT = new RowSetStatement<>("keelson_event_new", """
            insert into orchestration_events (run_id, seq, attempt, agent_id, task_id, step_id, event_type, payload,
                actor_type, actor_id, created_at)
            select run_id, seq, attempt, agent_id, task_id, step_id, event_type,
                case when event_type = 'task_assigned' then payload || coalesce(
                    (select jsonb_build_object('board_task_id', t.board_task_id) from orchestration_tasks t
                      where t.id = u.task_id and t.board_task_id is not null), '{}') else payload end,
                actor_type, actor_id, at
              from {rows}""",
            uuid("run_id", Event::runId), bigint("seq", Event::seq), integer("attempt", Event::attempt),
            uuid("agent_id", Event::agentId), uuid("task_id", Event::taskId), uuid("step_id", Event::stepId),
            word("event_type", e -> e.type().wire()), json("payload", EventsTable::payload),
            word("actor_type", e -> e.actor().type().wire()), text("actor_id", 255, e -> e.actor().id()),
            time("at", Event::at));

    private EventsTable() {}

    private static String payload(Event event) {
        FlatJson json = new FlatJson();
        if (event.to() != null) {
            json.put("from", event.from()).put("to", event.to());
        }
        event.payload().write(json::put);
        return json.toString();
    }
}
