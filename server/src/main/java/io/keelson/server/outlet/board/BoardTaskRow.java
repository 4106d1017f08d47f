package io.keelson.server.outlet.board;

import io.keelson.server.base.db.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 *
 * A task on the board.
 *
 * @param reviewMode {@code auto} or {@code manual}
 * @param assignee the name of the run's agent, or any text of a person; null if absent
 * @param assignedAgentId of the roster; null if absent
 * @param parentTaskId null at the top
 * @param sourceType {@code user}, {@code recipe}, {@code orchestration} (a run) or {@code orchestration_task}
 * @param sourceId the run's or the run's task's id; null for what people made
 * @param tags JSON text, an array of texts
 * @param children how many it has, counted to {@link BoardTasks#COUNTED} and one more
 */
public record BoardTaskRow(long id, String title, @Nullable String description, String status, String priority,
        String reviewMode, @Nullable String assignee, @Nullable Integer assignedAgentId, String createdByType,
        @Nullable String createdById, @Nullable Long parentTaskId, String sourceType, @Nullable String sourceId,
        @Nullable UUID runId, String tags, @Nullable String planningData, @Nullable String result,
        @Nullable String errorMessage,
        @Nullable Instant startedAt, @Nullable Instant completedAt, Instant createdAt, Instant updatedAt,
        int children) {

    /** Whether a run created the board task. */
    public boolean orchestrated() {
        return sourceType.equals("orchestration") || sourceType.equals("orchestration_task");
    }

    static BoardTaskRow of(ResultSet row) throws SQLException {
        return new BoardTaskRow(row.getLong("id"), row.getString("title"), row.getString("description"),
                row.getString("status"), row.getString("priority"), row.getString("review_mode"),
                row.getString("assignee"), row.getObject("assigned_agent_id", Integer.class),
                row.getString("created_by_type"), row.getString("created_by_id"),
                row.getObject("parent_task_id", Long.class), row.getString("source_type"), row.getString("source_id"),
                row.getObject("run_id", UUID.class), row.getString("tags"), row.getString("planning_data"),
                row.getString("result"), row.getString("error_message"), Rows.optionalTime(row, "started_at"),
                Rows.optionalTime(row, "completed_at"), Rows.time(row, "created_at"), Rows.time(row, "updated_at"),
                row.getInt("children"));
    }
}
