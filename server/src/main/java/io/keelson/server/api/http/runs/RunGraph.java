package io.keelson.server.api.http.runs;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.api.run.PlanPicture;
import io.keelson.core.plan.Flow;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.picture.Layout;
import io.keelson.server.api.picture.TaskGraph;
import io.keelson.server.api.picture.TaskGraph.Box;
import io.keelson.server.api.picture.TaskGraph.Picture;
import io.keelson.server.api.picture.TaskGraph.Task;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.GraphReader;
import io.keelson.server.engine.store.read.GraphReader.Node;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.plan.StoredPlans;
import io.keelson.server.tenant.auth.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A run's tasks as boxes with places. The layout depends on the tasks and their dependencies, not on states, so one serves until the
 * plan grows or changes.
 */
final class RunGraph {

    private static final int MAX_KEPT = 64;

    /** @param tasks their number, which rises when a fan-out begins */
    private record Key(UUID run, int attempt, int version, int tasks, String expanded) {}

    /** @param flow places of the tasks in switches and groups, null for others */
    private record Drawn(Picture picture, List<@Nullable Flow> flow) {}

    private final Reads reads;
    private final Cache<Key, Drawn> kept =
            Caffeine.newBuilder().maximumSize(MAX_KEPT).executor(Runnable::run).build();

    RunGraph(Reads reads) {
        this.reads = reads;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/runs/{id}/graph", this::graph);
    }

    private ApiResponse graph(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        Query query = request.query();
        Long attempt = query.integer("attempt");
        Long version = query.integer("version");
        Set<String> expanded = new HashSet<>(query.texts("expand"));
        return ApiResponse.resource(reads.read((runs, c) -> {
            GraphReader.Run now = Reads.found(GraphReader.run(c, request.workspace(), run), IdKind.RUN, run);
            int shown = attempt == null ? now.attempt() : attempt.intValue();
            int of = version == null ? now.version() : version.intValue();
            List<Node> nodes = of == now.version() ? GraphReader.nodes(c, run, shown) : List.of();
            Key key = new Key(run, shown, of, nodes.size(), TaskGraph.key(expanded));
            Drawn drawn = kept.getIfPresent(key);
            if (drawn == null) {
                drawn = nodes.isEmpty() ? planned(plan(runs, c, request.workspace(), run, of), expanded)
                        : new Drawn(TaskGraph.picture(tasks(nodes), GraphReader.edges(c, run, shown, nodes), expanded),
                                flow(nodes));
                kept.put(key, drawn);
            }
            return document(run, shown, of, drawn, nodes);
        }));
    }

    private static List<@Nullable Flow> flow(List<Node> nodes) {
        List<@Nullable Flow> flow = new ArrayList<>(nodes.size());
        nodes.forEach(node -> flow.add(node.flow()));
        return flow;
    }

    private static List<Task> tasks(List<Node> nodes) {
        Map<UUID, Integer> places = new HashMap<>();
        nodes.forEach(node -> places.put(node.id(), places.size()));
        return nodes.stream().map(node -> new Task(node.key(), node.title(),
                node.group() == null ? -1 : places.getOrDefault(node.group(), -1))).toList();
    }

    /** An empty plan where there is none yet. */
    private static JsonNode plan(RunReader runs, Connection c, UUID workspace, UUID run, int version)
            throws SQLException {
        if (version == 0) {
            return Json.object();
        }
        return runs.plan(c, workspace, run, version).orElseThrow(
                () -> ApiProblem.of(ErrorCode.INVALID_PARAMETER, "the run has no plan of version " + version));
    }

    private static Drawn planned(JsonNode plan, Set<String> expanded) {
        List<Task> tasks = new ArrayList<>();
        List<@Nullable Flow> flow = new ArrayList<>();
        Map<String, Integer> places = new HashMap<>();
        Map<String, Integer> groups = new HashMap<>();
        for (JsonNode task : plan.path("tasks")) {
            String key = task.path("id").asString("");
            places.put(key, tasks.size());
            tasks.add(new Task(key, task.path("title").asString(""), groups.getOrDefault(key, -1)));
            for (JsonNode name : task.path("repeat").path("tasks")) {
                groups.put(key + "." + name.asString(""), places.get(key));
            }
            flow.add(task.path("flow").isObject() ? StoredPlans.flow(task.path("flow")) : null);
        }
        List<int[]> edges = new ArrayList<>();
        int at = 0;
        for (JsonNode task : plan.path("tasks")) {
            for (JsonNode each : task.path("depends_on")) {
                Integer up = places.get(each.isString() ? each.stringValue() : each.path("task").asString(""));
                if (up != null) {
                    edges.add(new int[] {up, at});
                }
            }
            at++;
        }
        return new Drawn(TaskGraph.picture(tasks, edges.toArray(int[][]::new), expanded), flow);
    }

    /** @param nodes empty for a plan that has no tasks of its own */
    private static ObjectNode document(UUID run, int attempt, int version, Drawn drawn, List<Node> nodes) {
        Picture picture = drawn.picture();
        Layout layout = picture.layout();
        List<Box> boxes = picture.boxes();
        PlanPicture.Boxes shown = new PlanPicture.Boxes(boxes.stream().map(Box::id).toList(),
                boxes.stream().map(Box::title).toList(), boxes.stream().map(Box::kind).toList(),
                boxes.stream().map(box -> mark(box, drawn.flow())).toList(),
                boxes.stream().map(Box::expandable).toList(), boxes.stream().map(box -> box.tasks().length).toList(),
                boxes.stream().map(box -> states(box, nodes)).toList(), list(layout.x()), list(layout.y()));
        PlanPicture.Edges edges = new PlanPicture.Edges(Stream.of(picture.edges()).map(edge -> edge[0]).toList(),
                Stream.of(picture.edges()).map(edge -> edge[1]).toList(),
                Stream.of(layout.bends()).map(RunGraph::list).toList(), Stream.of(picture.edges())
                        .map(edge -> branch(boxes.get(edge[0]), boxes.get(edge[1]), drawn.flow())).toList());
        return Json.document(new PlanPicture(run.toString(), attempt, version, layout.width(), layout.height(),
                Layout.BOX_WIDTH, Layout.BOX_HEIGHT, shown, edges));
    }

    private static String mark(Box box, List<@Nullable Flow> flow) {
        Flow own = box.tasks().length == 1 ? flow.get(box.tasks()[0]) : null;
        return own == null ? "" : own.chooses() != null ? "choice" : own.ends() != null ? "end" : "";
    }

    /** The branch of all tasks of a box behind the task that chooses it; empty if absent. */
    private static String branch(Box from, Box to, List<@Nullable Flow> flow) {
        Flow chooser = from.tasks().length == 1 ? flow.get(from.tasks()[0]) : null;
        if (chooser == null || chooser.chooses() == null) {
            return "";
        }
        List<String> branches = IntStream.of(to.tasks()).mapToObj(flow::get)
                .map(each -> each == null ? "" : each.branchOf(chooser.chooses())).distinct().toList();
        return branches.size() == 1 ? branches.getFirst() : "";
    }

    private static Map<String, Integer> states(Box box, List<Node> nodes) {
        Map<String, Integer> counts = new TreeMap<>();
        for (int task : box.tasks()) {
            @Nullable Node node = task < nodes.size() ? nodes.get(task) : null;
            if (node != null) {
                counts.merge(node.state(), 1, Integer::sum);
            }
        }
        return counts;
    }

    private static List<Integer> list(int[] numbers) {
        return IntStream.of(numbers).boxed().toList();
    }
}
