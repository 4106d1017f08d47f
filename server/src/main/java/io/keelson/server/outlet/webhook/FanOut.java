package io.keelson.server.outlet.webhook;

import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.RecordColumns.Column;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.engine.store.read.FeedWatermark;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates deliveries from events: on one node at a time, in chunks, once for each event and matching endpoint. Each
 * transaction commits deliveries with their progress. Not thread-safe.
 */
final class FanOut {

    /** Event ids in a transaction: the ids of 2,000 packs, which have 3 events each on average. */
    private static final int CHUNK_SIZE = 2_000_000;
    /** Event ids that are read at a time: the ids of 50 packs, with 5,000 events at most. */
    private static final int BATCH_SIZE = 50_000;
    /** Characters of bodies that are buffered before they are written. */
    private static final long MAX_BATCH_CHARS = 4 << 20;

    private static final Sql FROM = Sql.of("select last_id from webhook_feed for update skip locked");

    private static final Sql RECEIVERS = Sql.of("""
            select id, workspace_id, events, channel, from_id, replay_after, replay_to, replay_since
              from webhook_endpoints where enabled order by id""");

    private static final String MADE = """
            insert into webhook_deliveries as d (id, workspace_id, endpoint_id, event_id, position, type, body,
                traceparent)
            select made.id, made.workspace_id, made.endpoint_id, made.event_id, made.event_id, made.type, made.body,
                made.traceparent
              from unnest(:ids::uuid[], :workspaces::uuid[], :endpoints::uuid[], :events::bigint[], :types::text[],
                    :bodies::text[], :traceparents::text[])
                as made (id, workspace_id, endpoint_id, event_id, type, body, traceparent)
            on conflict (id) do
            """;

    private static final Sql MADE_ONCE = Sql.of(MADE + "nothing");

    private static final Sql MADE_AGAIN = Sql.of(MADE + """
            update set state = 'pending', attempts = 0, completed_at = null
             where d.state <> 'pending'""");

    /** Runs before the insertion of deliveries, because the sender locks endpoints first, too. */
    private static final Sql WAKE = Sql.of("""
            update webhook_endpoints e set due_at = coalesce(e.due_at, clock_timestamp())
              from (select id from webhook_endpoints where id = any (:ids) order by id for no key update) woken
             where e.id = woken.id""");

    private static final Sql TO = Sql.of("update webhook_feed set last_id = :to");

    /** Another replay may have been requested meanwhile. */
    private static final Sql REPLAYED = Sql.of("""
            update webhook_endpoints set replay_after = case when done then null else reached end,
                replay_to = case when done then null else replay_to end,
                replay_since = case when done then null else replay_since end
              from (select :reached::bigint as reached, :done::boolean as done) now
             where id = :id and replay_after = :replay_after and replay_to = :replay_to""");

    private record Replay(@Column("replay_after") long after, @Column("replay_to") long to,
            @Column("replay_since") Instant since) {}

    private record Receiver(UUID id, @Column("workspace_id") UUID workspace, List<String> events,
            @Nullable String channel,
            @Column("from_id") long from, @Nullable Replay replay) {

        boolean matches(ObjectNode event) {
            return workspace.toString().equals(event.get("workspace_id").stringValue())
                    && Topics.matches(events, channel, event);
        }
    }

    private record NewDelivery(Receiver receiver, long event, String type, String body, @Nullable String traceparent) {}

    /** Selects the receivers of an event. */
    private interface Filter {
        boolean of(Receiver receiver, ObjectNode event);
    }

    private final Database database;
    private final Function<RunTrace, @Nullable TraceParent> traceContexts;
    private final FeedWatermark marks = new FeedWatermark();

    /** @param traceContexts trace positions of runs; null if absent */
    FanOut(Database database, Function<RunTrace, @Nullable TraceParent> traceContexts) {
        this.database = database;
        this.traceContexts = traceContexts;
    }

    /** Continues up to the settled events, for at most one chunk; true when there is more. */
    boolean next() {
        long settled = database.withConnection(marks::look);
        return settled >= 0 && database.inTransaction(c -> next(c, settled));
    }

    private boolean next(Connection c, long settled) throws SQLException {
        Long from = from(c);
        if (from == null) {
            return false;
        }
        List<Receiver> receivers = receivers(c);
        boolean more = from < settled && onwards(c, receivers, from, settled);
        for (Receiver receiver : receivers) {
            Replay replay = receiver.replay;
            if (replay != null) {
                return replayed(c, receiver, replay, settled) || more;
            }
        }
        return more;
    }

    private boolean onwards(Connection c, List<Receiver> receivers, long from, long settled) throws SQLException {
        // without endpoints nothing is created: events before the first endpoint have no receiver
        long first = receivers.stream().mapToLong(Receiver::from).min().orElse(settled);
        long after = Math.max(from, Math.min(first, settled));
        long to = Math.min(settled, after + CHUNK_SIZE);
        make(c, MADE_ONCE, receivers, after, to,
                (receiver, event) -> event.get("id").longValue() > receiver.from && receiver.matches(event));
        TO.on(c).set("to", to).update();
        return to < settled;
    }

    /** Leaves unsettled events for the next call. */
    private boolean replayed(Connection c, Receiver receiver, Replay replay, long settled) throws SQLException {
        long to = Math.min(Math.min(replay.to, settled), replay.after + CHUNK_SIZE);
        if (to < replay.after) {
            return false;
        }
        make(c, MADE_AGAIN, List.of(receiver), replay.after, to, (only, event) -> only.matches(event)
                && !Instant.parse(event.get("created_at").stringValue()).isBefore(replay.since));
        REPLAYED.on(c).set("reached", to).set("done", to >= replay.to).set("id", receiver.id)
                .set("replay_after", replay.after).set("replay_to", replay.to).update();
        return to < settled;
    }

    /** Bounds memory, regardless of the number and size of events. */
    private void make(Connection c, Sql sql, List<Receiver> receivers, long after, long to, Filter filter)
            throws SQLException {
        List<NewDelivery> made = new ArrayList<>();
        long held = 0;
        for (long from = after; from < to; from += BATCH_SIZE) {
            for (ObjectNode event : events(c, receivers, from, Math.min(to, from + BATCH_SIZE))) {
                List<Receiver> its = receivers.stream().filter(receiver -> filter.of(receiver, event)).toList();
                if (its.isEmpty()) {
                    continue;
                }
                String type = Topics.of(event);
                String body = text(type, event);
                String trace = trace(event);
                its.forEach(receiver -> made
                        .add(new NewDelivery(receiver, event.get("id").longValue(), type, body, trace)));
                held += (long) body.length() * its.size();
                if (held >= MAX_BATCH_CHARS) {
                    insert(c, sql, made);
                    made.clear();
                    held = 0;
                }
            }
        }
        insert(c, sql, made);
    }

    private @Nullable String trace(ObjectNode event) {
        TraceParent context = traceContexts.apply(new RunTrace(UUID.fromString(event.get("run_id").stringValue()),
                event.path("attempt").asInt(1), TraceParent.parse(event.path("traceparent").stringValue(null))));
        return context == null ? null : context.text();
    }

    private static List<ObjectNode> events(Connection c, List<Receiver> receivers, long after, long to)
            throws SQLException {
        Set<UUID> workspaces = new HashSet<>();
        Collection<String> wanted = new HashSet<>();
        receivers.forEach(receiver -> {
            workspaces.add(receiver.workspace);
            wanted.addAll(receiver.events);
        });
        return FeedReader.of(c, workspaces, Topics.eventTypes(wanted), after, to);
    }

    /** The body that receivers get: the same text at every attempt, because it is signed. */
    private static String text(String type, ObjectNode event) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("type", type);
        body.set("timestamp", event.get("created_at"));
        ObjectNode data = event.deepCopy();
        data.remove(List.of("notifications", "traceparent"));
        body.set("data", data);
        return Json.MAPPER.writeValueAsString(body);
    }

    private static @Nullable Long from(Connection c) throws SQLException {
        return FROM.on(c).first(row -> row.getLong("last_id")).orElse(null);
    }

    private static List<Receiver> receivers(Connection c) throws SQLException {
        return RECEIVERS.on(c).all(RecordColumns.of(Receiver.class));
    }

    private static void insert(Connection c, Sql sql, List<NewDelivery> made) throws SQLException {
        if (made.isEmpty()) {
            return;
        }
        WAKE.on(c).setUuids("ids", made.stream().map(each -> each.receiver.id).distinct().toList()).update();
        sql.on(c).setUuids("ids", made.stream().map(each -> Deliveries.idOf(each.receiver.id, each.event)).toList())
                .setUuids("workspaces", made.stream().map(each -> each.receiver.workspace).toList())
                .setUuids("endpoints", made.stream().map(each -> each.receiver.id).toList())
                .setLongs("events", made.stream().map(NewDelivery::event).toList())
                .setTexts("types", made.stream().map(NewDelivery::type).toList())
                .setTexts("bodies", made.stream().map(NewDelivery::body).toList())
                .setTexts("traceparents", made.stream().<@Nullable String>map(NewDelivery::traceparent).toList())
                .update();
    }
}
