package io.keelson.server.annex.trigger;

import io.keelson.core.run.Ids;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.engine.store.read.FeedWatermark;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.submission.RecipeMissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Delivers the ends of runs to triggers whose source is {@code run}: on one server at a time, in the order of the event feed, once for
 * each end and trigger. Each transaction commits deliveries with their progress. Triggers do not receive ends of child runs. Not thread-safe.
 */
final class RunEnds {

    private static final Map<String, String> STATES = Map.of("run_completed", "completed", "run_skipped", "skipped",
            "run_failed", "failed", "run_cancelled", "cancelled");
    /** Event ids in a transaction, of 2,000 packs. */
    private static final int CHUNK_SIZE = 2_000_000;
    /** Event ids that are read at a time, of 50 packs. */
    private static final int BATCH_SIZE = 50_000;

    private static final Sql FROM = Sql.of("select last_id from trigger_feed for update skip locked");

    private static final Sql TO = Sql.of("update trigger_feed set last_id = :to");

    private static final Sql RECEIVERS = Sql.of("""
            select id, workspace_id, run_ends_from from triggers where enabled and run_ends_from is not null""");

    /** A trigger, and the event after which it receives. */
    private record Receiver(UUID id, UUID workspaceId, long runEndsFrom) {}

    private final Database database;
    private final DeliveryStore deliveries;
    private final RunReader reader;
    private final RecipeMissions missions;
    private final Ids ids;
    private final FeedWatermark marks = new FeedWatermark();

    RunEnds(Database database, DeliveryStore deliveries, RunReader reader, RecipeMissions missions, Ids ids) {
        this.database = database;
        this.deliveries = deliveries;
        this.reader = reader;
        this.missions = missions;
        this.ids = ids;
    }

    /** The state after a chunk of events. */
    enum Progress {
        NO_RECEIVER, ALL_DELIVERED, MORE
    }

    /** Continues up to the settled events, for at most one chunk. */
    Progress next() {
        List<Receiver> receivers =
                database.withConnection(c -> RECEIVERS.on(c).all(RecordColumns.of(Receiver.class)));
        if (receivers.isEmpty()) {
            return Progress.NO_RECEIVER;
        }
        long settled = database.withConnection(marks::look);
        return settled >= 0 && database.inTransaction(c -> next(c, receivers, settled)) ? Progress.MORE
                : Progress.ALL_DELIVERED;
    }

    /** True if further events are settled. */
    private boolean next(Connection c, List<Receiver> receivers, long settled) throws SQLException {
        Long from = FROM.on(c).first(row -> row.getLong("last_id")).orElse(null);
        if (from == null || from >= settled) {
            return false;
        }
        // Events before the first trigger have no receiver.
        long first = receivers.stream().mapToLong(Receiver::runEndsFrom).min().orElse(settled);
        long after = Math.max(from, Math.min(first, settled));
        long to = Math.min(settled, after + CHUNK_SIZE);
        Set<UUID> workspaces = receivers.stream().map(Receiver::workspaceId).collect(Collectors.toSet());
        for (long low = after; low < to; low += BATCH_SIZE) {
            List<ObjectNode> events =
                    FeedReader.of(c, workspaces, STATES.keySet(), low, Math.min(to, low + BATCH_SIZE));
            for (Map.Entry<String, List<ObjectNode>> each : events.stream()
                    .collect(Collectors.groupingBy(event -> event.get("workspace_id").stringValue())).entrySet()) {
                deliver(c, UUID.fromString(each.getKey()), receivers, each.getValue());
            }
        }
        TO.on(c).set("to", to).update();
        return to < settled;
    }

    private void deliver(Connection c, UUID workspace, List<Receiver> receivers, List<ObjectNode> events)
            throws SQLException {
        Map<UUID, ObjectNode> runs = reader.ends(c, workspace, events.stream().map(RunEnds::run).toList());
        List<DeliveryStore.Arrived> arrived = new ArrayList<>();
        for (ObjectNode event : events) {
            ObjectNode run = runs.get(run(event));
            if (run == null || run.get("child").booleanValue()) {
                continue;
            }
            ObjectNode body = body(workspace, event, run);
            receivers.stream().filter(each -> each.workspaceId().equals(workspace)
                    && event.get("id").longValue() > each.runEndsFrom())
                    .forEach(each -> arrived.add(new DeliveryStore.Arrived(each.id(), ids.next(), ids.next(),
                            Event.of(event.get("id").asString(), Json.object(), body))));
        }
        deliveries.accept(c, arrived);
    }

    private static UUID run(ObjectNode event) {
        return UUID.fromString(event.get("run_id").stringValue());
    }

    private ObjectNode body(UUID workspace, ObjectNode event, ObjectNode run) {
        ObjectNode body = Json.object().put("run_id", run.get("id").stringValue())
                .put("state", STATES.get(event.get("event_type").stringValue()));
        body.set("attempt", event.get("attempt"));
        JsonNode recipe = run.get("recipe_id");
        body.put("recipe", recipe.isNull() ? null
                : missions.find(workspace, recipe.stringValue()).map(RecipeRow::name).orElse(null));
        for (String member : List.of("name", "recipe_id", "tags", "external_id", "trigger", "error_code",
                "error_message", "output", "depth")) {
            body.set(member, run.get(member));
        }
        return body;
    }
}
