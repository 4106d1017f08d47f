package io.keelson.server.engine.store.read;

import io.keelson.core.plan.Flow;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the tasks of a run's attempt as nodes, and their dependencies. */
public final class GraphReader {

    private static final String RUN = """
            select r.attempt_number, r.plan_version from orchestration_runs r
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""";

    private static final String NODES = """
            select t.id, t.key, t.title, t.state, t.group_id, t.policy ->> 'flow' as flow from orchestration_tasks t
             where t.run_id = ? and t.attempt = ? and not t.superseded
             order by t.sequence_number, coalesce(t.item_index, -1), t.id""";

    private static final String EDGES = """
            select d.depends_on_id, d.task_id
              from orchestration_tasks t join orchestration_task_dependencies d on d.task_id = t.id
             where t.run_id = ? and t.attempt = ? and not t.superseded""";

    /**
     * @param attempt the run's attempt
     * @param version of the plan in force; 0 before there is one
     */
    public record Run(int attempt, int version) {}

    /**
     * @param group the task whose items this one is of
     * @param flow its place in the switches and groups of the plan; null outside of any
     */
    public record Node(UUID id, String key, String title, String state, @Nullable UUID group, @Nullable Flow flow) {}

    private GraphReader() {}

    /** Empty for an unknown run. */
    public static Optional<Run> run(Connection c, UUID workspace, UUID run) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(RUN)) {
            statement.setObject(1, workspace);
            statement.setObject(2, run);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(new Run(row.getInt("attempt_number"), row.getInt("plan_version")))
                        : Optional.empty();
            }
        }
    }

    /** In plan order. */
    public static List<Node> nodes(Connection c, UUID run, int attempt) throws SQLException {
        List<Node> nodes = new ArrayList<>();
        try (PreparedStatement statement = c.prepareStatement(NODES)) {
            statement.setObject(1, run);
            statement.setInt(2, attempt);
            statement.setFetchSize(1000);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String flow = row.getString("flow");
                    nodes.add(new Node(ViewLoader.uuid(row, "id"), row.getString("key"), row.getString("title"),
                            row.getString("state"), ViewLoader.uuidOrNull(row, "group_id"),
                            flow == null ? null : Json.MAPPER.readValue(flow, Flow.class)));
                }
            }
        }
        return nodes;
    }

    /** Pairs of places in the list of nodes: the upstream and the task that depends on it. */
    public static int[][] edges(Connection c, UUID run, int attempt, List<Node> nodes) throws SQLException {
        Map<UUID, Integer> places = new HashMap<>();
        nodes.forEach(node -> places.put(node.id(), places.size()));
        List<int[]> edges = new ArrayList<>();
        try (PreparedStatement statement = c.prepareStatement(EDGES)) {
            statement.setObject(1, run);
            statement.setInt(2, attempt);
            statement.setFetchSize(1000);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    Integer up = places.get(ViewLoader.uuid(row, "depends_on_id"));
                    Integer down = places.get(ViewLoader.uuid(row, "task_id"));
                    if (up != null && down != null) {
                        edges.add(new int[] {up, down});
                    }
                }
            }
        }
        edges.sort((a, b) -> a[0] == b[0] ? Integer.compare(a[1], b[1]) : Integer.compare(a[0], b[0]));
        return edges.toArray(int[][]::new);
    }
}
