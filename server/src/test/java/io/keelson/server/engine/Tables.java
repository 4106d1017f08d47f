package io.keelson.server.engine;

import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Event;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.postgresql.util.PGobject;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The rows of a run as a database holds them, in words that can be compared with a simulation's. */
final class Tables {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    /** How to find a run's rows where they have no {@code run_id}, or where replaced ones stay. */
    private static final Map<String, String> OF_RUN = Map.of("orchestration_runs", "id = ?",
            "orchestration_task_dependencies", "task_id in (select id from orchestration_tasks where run_id = ?)",
            "artifacts", "run_id = ? and deleted_at is null");

    private final Connection connection;

    Tables(Connection connection) {
        this.connection = connection;
    }

    void ensureWorkspace(UUID id) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into workspaces (id, name) values (?, 'w') on conflict do nothing")) {
            insert.setObject(1, id);
            insert.execute();
        }
        connection.commit();
    }

    void insert(EngineOutage outage) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into engine_outages (from_at, to_at) values (?, ?) on conflict do nothing")) {
            insert.setObject(1, outage.from().atOffset(ZoneOffset.UTC));
            insert.setObject(2, outage.to().atOffset(ZoneOffset.UTC));
            insert.execute();
        }
        connection.commit();
    }

    /** Those of one story are nothing to the next. */
    void forgetOutages() throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement("delete from engine_outages")) {
            delete.execute();
        }
        connection.commit();
    }

    /** @param like rows whose columns are to be read */
    Set<Map<String, Object>> read(String table, UUID run, List<Map<String, Object>> like) throws SQLException {
        String columns = like.isEmpty() ? "1" : String.join(", ", like.getFirst().keySet());
        return comparable(rows("select " + columns + " from " + table + " where "
                + OF_RUN.getOrDefault(table, "run_id = ?"), run));
    }

    /** A run's events in their order. */
    List<Map<String, Object>> events(UUID run) throws SQLException {
        List<Map<String, Object>> found = rows("""
                select seq, attempt, agent_id, task_id, step_id, event_type, actor_type, actor_id, created_at,
                    payload::text as payload
                  from orchestration_events where run_id = ? order by seq""", run);
        found.forEach(
                event -> event.computeIfPresent("payload", (name, json) -> withoutBoard(JSON.readTree((String) json))));
        return found;
    }

    /** The board numbers its rows itself, and the database adds the number. */
    private static JsonNode withoutBoard(JsonNode payload) {
        return payload instanceof ObjectNode object ? object.without(List.of("board_task_id")) : payload;
    }

    /** Events in the same words. */
    static List<Map<String, Object>> written(List<Event> events) {
        return events.stream().map(event -> {
            Map<String, Object> payload = new LinkedHashMap<>(event.members());
            if (event.to() != null) {
                payload.put("from", event.from());
                payload.put("to", event.to());
            }
            Map<String, Object> columns = new LinkedHashMap<>();
            columns.put("seq", event.seq());
            columns.put("attempt", (long) event.attempt());
            columns.put("agent_id", event.agentId());
            columns.put("task_id", event.taskId());
            columns.put("step_id", event.stepId());
            columns.put("event_type", event.type().wire());
            columns.put("actor_type", event.actor().type().wire());
            columns.put("actor_id", event.actor().id());
            columns.put("created_at", event.at());
            columns.put("payload", JSON.readTree(JSON.writeValueAsString(payload)));
            return columns;
        }).toList();
    }

    private List<Map<String, Object>> rows(String sql, UUID run) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            query.setObject(1, run);
            List<Map<String, Object>> found = new ArrayList<>();
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    found.add(row(row));
                }
            }
            return found;
        }
    }

    private static Map<String, Object> row(ResultSet row) throws SQLException {
        Map<String, Object> columns = new LinkedHashMap<>();
        for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
            boolean time = row.getMetaData().getColumnTypeName(i).equals("timestamptz");
            columns.put(row.getMetaData().getColumnLabel(i),
                    comparable(time ? row.getObject(i, OffsetDateTime.class) : row.getObject(i)));
        }
        return columns;
    }

    static Set<Map<String, Object>> comparable(List<Map<String, Object>> rows) {
        Set<Map<String, Object>> all = new HashSet<>();
        for (Map<String, Object> row : rows) {
            Map<String, Object> columns = new LinkedHashMap<>(row);
            columns.replaceAll((name, value) -> comparable(value));
            if (!all.add(columns)) {
                throw new IllegalArgumentException("twice: " + columns);
            }
        }
        return all;
    }

    private static Object comparable(Object value) {
        return switch (value) {
            case Integer number -> number.longValue();
            case BigDecimal number -> number.stripTrailingZeros();
            case OffsetDateTime time -> time.toInstant();
            case PGobject json -> json.getValue();
            case null, default -> value;
        };
    }
}
