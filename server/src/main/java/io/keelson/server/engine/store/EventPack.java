package io.keelson.server.engine.store;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Event;
import io.keelson.server.engine.store.sql.FlatJson;
import io.keelson.server.engine.store.sql.TextColumns;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive events of a run that have the run attempt and the time in common: a row of {@code run_event_packs}. The
 * schema describes the layout of the body, and {@code keelson_unpack} reads it.
 */
final class EventPack {
    /** The maximum of events; readers by number ask for packs from as many numbers before. */
    static final int MAX_EVENTS = 100;

    /**
     * Before and after a task's id in a body, in place of a member with the number of the task's board row. JSON text has
     * no such character; {@link EventPacksTable} knows it as {@code chr(1)}.
     */
    private static final char BOARD_TASK = 1;

    private static final int MAX_ACTOR_ID = 255;

    private final Event first;
    private final StringBuilder body = new StringBuilder(256);
    private int events;
    private boolean assigns;

    private EventPack(Event first) {
        this.first = first;
        add(first);
    }

    /** Packs events of several runs; events of one run follow each other without a gap. */
    static List<EventPack> of(Collection<Event> events) {
        List<EventPack> packs = new ArrayList<>();
        Map<UUID, EventPack> last = new HashMap<>();
        for (Event event : events) {
            EventPack pack = last.get(event.runId());
            if (pack != null && pack.takes(event)) {
                pack.add(event);
            } else {
                EventPack next = new EventPack(event);
                packs.add(next);
                last.put(event.runId(), next);
            }
        }
        return packs;
    }

    private boolean takes(Event event) {
        return events < MAX_EVENTS && event.attempt() == first.attempt() && event.at().equals(first.at());
    }

    private void add(Event event) {
        body.append(events++ == 0 ? '[' : ',');
        assigns |= event.type() == EventType.TASK_ASSIGNED;
        FlatJson json = new FlatJson().put("e", event.type().wire());
        if (event.stepId() != null) {
            json.put("s", event.stepId());
        }
        if (!Objects.equals(event.agentId(), first.agentId())) {
            json.put("agent", Objects.toString(event.agentId(), ""));
        }
        if (!Objects.equals(event.taskId(), first.taskId())) {
            json.put("task", Objects.toString(event.taskId(), ""));
        }
        if (!event.actor().equals(first.actor())) {
            json.put("actor_type", event.actor().type().wire());
            String id = actorId(event.actor());
            if (id != null) {
                json.put("actor_id", id);
            }
        }
        body.append(json.putJson("p", payload(event)));
    }

    private static @Nullable String actorId(Actor actor) {
        return TextColumns.clip(TextColumns.storable(actor.id()), MAX_ACTOR_ID);
    }

    private static String payload(Event event) {
        FlatJson json = new FlatJson();
        if (event.to() != null) {
            json.put("from", event.from()).put("to", event.to());
        }
        event.payload().write(json::put);
        String text = Objects.requireNonNull(TextColumns.storableJson(json.toString()));
        return event.type() != EventType.TASK_ASSIGNED ? text
                : text.substring(0, text.length() - 1) + BOARD_TASK + event.taskId() + BOARD_TASK + '}';
    }

    UUID runId() {
        return first.runId();
    }

    long firstSeq() {
        return first.seq();
    }

    int attempt() {
        return first.attempt();
    }

    @Nullable UUID agentId() {
        return first.agentId();
    }

    @Nullable UUID taskId() {
        return first.taskId();
    }

    String actorType() {
        return first.actor().type().wire();
    }

    @Nullable String actorId() {
        return actorId(first.actor());
    }

    Instant at() {
        return first.at();
    }

    /** True when the body has places of {@link #BOARD_TASK}. */
    boolean assigns() {
        return assigns;
    }

    /** JSON text, but for the places of {@link #BOARD_TASK}. */
    String body() {
        return body + "]";
    }
}
