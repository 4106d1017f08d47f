package io.keelson.server.run;

import static io.keelson.server.run.Column.bigint;
import static io.keelson.server.run.Column.integer;
import static io.keelson.server.run.Column.json;
import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.time;
import static io.keelson.server.run.Column.uuid;

import io.keelson.core.run.Event;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** {@code orchestration_events}: written in the order of the decisions, never changed. */
final class EventsTable {
    private static final SetStatement<Event> INSERT = new SetStatement<>("""
            insert into orchestration_events (run_id, seq, attempt, agent_id, task_id, step_id, event_type, payload,
                actor_type, actor_id, created_at)
            select run_id, seq, attempt, agent_id, task_id, step_id, event_type, payload, actor_type, actor_id, at
              from {rows}""",
            uuid("run_id", Event::runId), bigint("seq", Event::seq), integer("attempt", Event::attempt),
            uuid("agent_id", Event::agentId), uuid("task_id", Event::taskId), uuid("step_id", Event::stepId),
            text("event_type", Event::type), json("payload", EventsTable::payload),
            text("actor_type", e -> e.actor().type()), text("actor_id", 255, e -> e.actor().id()),
            time("at", Event::at));

    private EventsTable() {}

    static void insert(Connection c, Collection<Event> events) throws SQLException {
        INSERT.execute(c, events, null);
    }

    private static String payload(Event event) {
        Map<String, Object> payload = new LinkedHashMap<>();
        if (event.to() != null) {
            payload.put("from", event.from());
            payload.put("to", event.to());
        }
        payload.putAll(event.detail());
        return Texts.payload(payload);
    }
}
