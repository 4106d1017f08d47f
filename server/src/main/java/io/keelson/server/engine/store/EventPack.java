package io.keelson.server.engine.store;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Event;
import io.keelson.core.run.Payload;
import io.keelson.server.engine.store.sql.FlatJson;
import io.keelson.server.engine.store.sql.TextColumns;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
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

    /** Whom an event is about, and who caused it. */
    private record Parties(@Nullable UUID agentId, @Nullable UUID taskId, Actor actor) {
        static Parties of(Event event) {
            return new Parties(event.agentId(), event.taskId(), event.actor());
        }
    }

    /** Events of which only the first is written out. */
    private record Likeness(EventType type, Parties parties, String payload) {}

    /** Members from which the text of a payload is made, the task's apart. Comparing them takes less time than writing them. */
    private record Content(@Nullable String from, @Nullable String to, Payload payload) {
        static Content of(Event event) {
            return new Content(event.from(), event.to(), event.payload());
        }
    }

    private final Event first;
    private final Parties usual;
    private final boolean assigns;
    private final String body;

    private EventPack(List<Event> events) {
        first = events.getFirst();
        usual = mostFrequent(events);
        assigns = events.stream().anyMatch(event -> event.type() == EventType.TASK_ASSIGNED);
        body = body(events);
    }

    /** Packs events of several runs; events of one run follow each other without a gap. */
    static List<EventPack> of(Collection<Event> events) {
        List<List<Event>> packs = new ArrayList<>();
        Map<UUID, List<Event>> last = new HashMap<>();
        for (Event event : events) {
            List<Event> pack = last.get(event.runId());
            if (pack == null || !takes(pack, event)) {
                pack = new ArrayList<>();
                packs.add(pack);
                last.put(event.runId(), pack);
            }
            pack.add(event);
        }
        return packs.stream().map(EventPack::new).toList();
    }

    private static boolean takes(List<Event> pack, Event event) {
        Event first = pack.getFirst();
        return pack.size() < MAX_EVENTS && event.attempt() == first.attempt() && event.at().equals(first.at());
    }

    /** The first ones of equally frequent ones. */
    private static Parties mostFrequent(List<Event> events) {
        Map<Parties, Integer> counts = new LinkedHashMap<>();
        events.forEach(event -> counts.merge(Parties.of(event), 1, Integer::sum));
        int most = Collections.max(counts.values());
        return counts.entrySet().stream().filter(each -> each.getValue() == most).findFirst().orElseThrow().getKey();
    }

    private String body(List<Event> events) {
        StringBuilder text = new StringBuilder(256);
        Map<Likeness, Integer> places = new HashMap<>();
        Map<Content, String> payloads = new HashMap<>();
        UUID stepBefore = null;
        for (int place = 0; place < events.size(); place++) {
            Event event = events.get(place);
            Parties parties = Parties.of(event);
            String payload = event.type() == EventType.TASK_ASSIGNED ? payload(event)
                    : payloads.computeIfAbsent(Content.of(event), _ -> payload(event));
            Integer like = places.putIfAbsent(new Likeness(event.type(), parties, payload), place);
            FlatJson json = like == null ? new FlatJson().put("e", event.type().wire()) : new FlatJson().put("r", like);
            boolean sameStep = event.stepId() != null && event.stepId().equals(stepBefore);
            stepBefore = sameStep ? null : event.stepId();
            if (event.stepId() != null) {
                json.put("s", sameStep ? "" : event.stepId());
            }
            if (like == null) {
                putParties(json, parties);
                json.putJson("p", payload);
            }
            text.append(place == 0 ? '[' : ',').append(json);
        }
        return text.append(']').toString();
    }

    private void putParties(FlatJson json, Parties parties) {
        if (!Objects.equals(parties.agentId(), usual.agentId())) {
            json.put("agent", Objects.toString(parties.agentId(), ""));
        }
        if (!Objects.equals(parties.taskId(), usual.taskId())) {
            json.put("task", Objects.toString(parties.taskId(), ""));
        }
        if (!parties.actor().equals(usual.actor())) {
            json.put("actor_type", parties.actor().type().wire());
            String id = actorId(parties.actor());
            if (id != null) {
                json.put("actor_id", id);
            }
        }
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
        return usual.agentId();
    }

    @Nullable UUID taskId() {
        return usual.taskId();
    }

    String actorType() {
        return usual.actor().type().wire();
    }

    @Nullable String actorId() {
        return actorId(usual.actor());
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
        return body;
    }
}
