package io.keelson.server.engine.store;

import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/**
 * A connection that notes the plan of every statement that is executed on it, those inside triggers included, as
 * PostgreSQL carried it out in that very session: with the session's settings, and with the cached plan where there is
 * one.
 */
final class SeenPlans {

    /**
     * @param sql with {@code ?} for each parameter
     * @param plan the topmost node, as {@code explain (analyze, buffers, format json)} has it
     */
    record Seen(String sql, JsonNode plan) {

        /** All nodes, the topmost first. */
        List<JsonNode> nodes() {
            List<JsonNode> nodes = new ArrayList<>(List.of(plan));
            for (int i = 0; i < nodes.size(); i++) {
                nodes.get(i).path("Plans").forEach(nodes::add);
            }
            return nodes;
        }

        /** Pages that the statement looked at. */
        long pages() {
            return plan.get("Shared Hit Blocks").asLong() + plan.get("Shared Read Blocks").asLong();
        }

        @Override
        public String toString() {
            return sql + "\n" + plan.toPrettyString();
        }
    }

    private final Connection connection;
    private final List<Seen> seen = new ArrayList<>();

    SeenPlans(Connection real) {
        explain(real);
        this.connection = proxy(Connection.class, real, result -> result instanceof PreparedStatement made
                ? proxy(PreparedStatement.class, made, value -> value)
                : result);
    }

    private static void explain(Connection real) {
        try {
            RunFixtures.execute(real, """
                    load 'auto_explain';
                    set auto_explain.log_min_duration = 0;
                    set auto_explain.log_level = 'notice';
                    set auto_explain.log_format = 'json';
                    set auto_explain.log_analyze = on;
                    set auto_explain.log_timing = off;
                    set auto_explain.log_buffers = on;
                    set auto_explain.log_nested_statements = on""");
            if (!real.getAutoCommit()) {
                real.commit();
            }
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }

    Connection connection() {
        return connection;
    }

    /** What has been seen since the last time. */
    List<Seen> take() {
        List<Seen> taken = List.copyOf(seen);
        seen.clear();
        return taken;
    }

    private <T> T proxy(Class<T> type, T real, UnaryOperator<Object> after) {
        return type
                .cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, method, arguments) -> {
                    try {
                        if (method.getName().equals("close") && real instanceof PreparedStatement statement) {
                            note(statement.getWarnings());
                        }
                        return after.apply(method.invoke(real, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private void note(SQLWarning first) {
        for (SQLWarning each = first; each != null; each = each.getNextWarning()) {
            int json = each.getMessage().indexOf('{');
            if (each.getMessage().startsWith("duration:") && json > 0) {
                JsonNode document = Json.read(each.getMessage().substring(json));
                seen.add(new Seen(document.get("Query Text").asString().replaceAll("\\$\\d+", "?").strip(),
                        document.get("Plan")));
            }
        }
    }
}
