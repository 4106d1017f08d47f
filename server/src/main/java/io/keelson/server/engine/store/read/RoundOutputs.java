package io.keelson.server.engine.store.read;

import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads outputs of ended rounds. */
public final class RoundOutputs {
    private static final String OUTPUT = """
            select x.member, x.ended, x.output from (
                select g.id from orchestration_runs r
                  join orchestration_tasks g on g.run_id = r.id and g.attempt = r.attempt_number
                 where (r.workspace_id = ?) is true and r.id = ? and g.key = ? and not g.superseded
                   and g.group_id is null) l
             cross join lateral (
                select f.member, true as ended, f.output from task_rounds f where f.loop_id = l.id and f.round = ?
                union all
                select split_part(t.key, '].', 2), t.state_type = 'terminal', %s from orchestration_tasks g
                  join orchestration_tasks t on t.run_id = g.run_id and t.attempt = g.attempt and t.group_id = g.id
                   and t.item_index = ?
                 where g.id = l.id) x
             order by x.member""".formatted(TaskSql.YIELD);

    private RoundOutputs() {}

    /**
     * The output of a round in the run's current attempt: of a task, null without one; of a group, the outputs of its tasks by
     * their names. Empty if no such round has ended.
     *
     * @param task id of the task or group in the plan
     * @param round its number, from 1
     */
    public static Optional<JsonNode> of(Connection c, UUID workspace, UUID run, String task, int round)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(OUTPUT)) {
            statement.setObject(1, workspace);
            statement.setObject(2, run);
            statement.setString(3, task);
            statement.setInt(4, round);
            statement.setInt(5, round);
            try (ResultSet row = statement.executeQuery()) {
                ObjectNode outputs = Json.object();
                while (row.next()) {
                    if (!row.getBoolean("ended")) {
                        return Optional.empty();
                    }
                    String output = row.getString("output");
                    outputs.set(row.getString("member"),
                            output == null ? NullNode.getInstance() : Json.read(output));
                }
                return outputs.isEmpty() ? Optional.empty()
                        : Optional.of(outputs.has("") ? outputs.get("") : outputs);
            }
        }
    }
}
