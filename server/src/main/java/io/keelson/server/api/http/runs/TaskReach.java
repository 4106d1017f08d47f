package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.Detail;
import io.keelson.server.tenant.auth.Scope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** All tasks that a task waits for, and all that wait for it, however far away. */
final class TaskReach {

    private static final int MAX = 1_000;

    private final Reads reads;

    TaskReach(Reads reads) {
        this.reads = reads;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/tasks/{id}/dependencies", this::dependencies);
    }

    private ApiResponse dependencies(ApiRequest request) {
        UUID id = request.id("id", IdKind.TASK);
        return ApiResponse.resource(reads.read((runs, c) -> {
            String group =
                    Reads.found(runs.task(c, request.workspace(), id, Detail.LIGHT), IdKind.TASK, id).get("group_id")
                            .stringValueOpt().orElse(null);
            // an item has the dependencies of the task that fanned out
            UUID planned = group == null ? id : UUID.fromString(group);
            Map<UUID, List<UUID>> ups = runs.dependencies(c, request.workspace(), id);
            Map<UUID, Integer> before = reach(planned, ups);
            Map<UUID, Integer> behind = reach(planned, reversed(ups));
            before.remove(id);
            behind.remove(id);
            Set<UUID> all = new HashSet<>(before.keySet());
            all.addAll(behind.keySet());
            Map<UUID, ObjectNode> named = new LinkedHashMap<>();
            runs.taskNames(c, request.workspace(), all)
                    .forEach(row -> named.put(UUID.fromString(row.get("id").stringValue()), row));
            ObjectNode document = Json.object();
            add(document, "waits_for", named, before);
            add(document, "blocks", named, behind);
            return document;
        }));
    }

    private static void add(ObjectNode document, String member, Map<UUID, ObjectNode> named,
            Map<UUID, Integer> reached) {
        ArrayNode list = document.putObject(member).put("count", reached.keySet().stream().filter(named::containsKey)
                .count()).putArray("items");
        reached.entrySet().stream().filter(each -> named.containsKey(each.getKey()))
                .sorted(Comparator.comparing((Map.Entry<UUID, Integer> each) -> each.getValue())
                        .thenComparing(Map.Entry::getKey))
                .limit(MAX)
                .forEach(each -> Optional.ofNullable(named.get(each.getKey()))
                        .ifPresent(row -> list.add(row.deepCopy().put("distance", each.getValue()))));
    }

    private static Map<UUID, List<UUID>> reversed(Map<UUID, List<UUID>> upstreams) {
        Map<UUID, List<UUID>> downstreams = new HashMap<>();
        upstreams.forEach((task, ups) -> ups
                .forEach(up -> downstreams.computeIfAbsent(up, _ -> new ArrayList<>()).add(task)));
        return downstreams;
    }

    /** Each reachable task with the least number of dependencies on the way. */
    private static Map<UUID, Integer> reach(UUID from, Map<UUID, List<UUID>> next) {
        Map<UUID, Integer> reached = new HashMap<>();
        Deque<UUID> open = new ArrayDeque<>(List.of(from));
        while (!open.isEmpty()) {
            UUID at = open.removeFirst();
            int distance = reached.getOrDefault(at, 0) + 1;
            for (UUID each : next.getOrDefault(at, List.of())) {
                if (reached.putIfAbsent(each, distance) == null) {
                    open.addLast(each);
                }
            }
        }
        return reached;
    }
}
