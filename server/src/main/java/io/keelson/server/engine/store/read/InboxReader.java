package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.IdTime;
import io.keelson.server.engine.store.sql.JsonRows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * All items of a workspace that wait for a person, with their assignees. Thread-safe.
 */
public final class InboxReader {

    /**
     * Filter of items.
     *
     * @param kind null for all kinds
     * @param runId null for all runs
     * @param assignee null for all
     * @param unassigned only items without an assignee
     * @param overdue only items past their due time
     * @param each each ticket; otherwise tickets of a run about the same failure are the first of them
     */
    public record Filter(@Nullable String kind, @Nullable UUID runId, @Nullable String assignee, boolean unassigned,
            boolean overdue, boolean each) {
        public static final Filter ALL = new Filter(null, null, null, false, false, false);
    }

    /** The position of an item in the order: due first, then oldest. Times in microseconds since 1970. */
    public record Place(long due, long since, UUID subject) {

        public static Place of(ObjectNode item) {
            return new Place(item.get("sort_due").longValue(), item.get("sort_since").longValue(),
                    UUID.fromString(item.get("subject").stringValue()));
        }

        private OffsetDateTime dueAt() {
            return due == Long.MAX_VALUE ? OffsetDateTime.MAX : IdTime.of(due).atOffset(ZoneOffset.UTC);
        }

        private OffsetDateTime sinceAt() {
            return IdTime.of(since).atOffset(ZoneOffset.UTC);
        }
    }

    /**
     * An item's assignee and due time.
     *
     * @param keepsAssignee whether to keep the current assignee and ignore {@code assignee}
     * @param assignee the name of a principal of the workspace; null if absent
     * @param keepsDue whether to keep the current due time and ignore {@code dueAt}
     * @param dueAt null for the run's rule
     */
    public record Assignment(boolean keepsAssignee, @Nullable String assignee, boolean keepsDue,
            @Nullable Instant dueAt, @Nullable String by) {}

    private final DbClock clock;

    public InboxReader(DbClock clock) {
        this.clock = clock;
    }

    /** @param after where to continue; null to begin with the first */
    public Page<ObjectNode> items(Connection c, UUID workspaceId, Filter filter, @Nullable Place after, int limit)
            throws SQLException {

        try (PreparedStatement statement = c.prepareStatement(InboxSql.PAGE)) {
            statement.setBoolean(1, filter.each());
            int p = waiting(statement, 2, workspaceId);
            statement.setString(p++, filter.kind());
            statement.setString(p++, filter.kind());
            statement.setObject(p++, filter.runId());
            statement.setObject(p++, filter.runId());
            statement.setString(p++, filter.assignee());
            statement.setString(p++, filter.assignee());
            statement.setBoolean(p++, !filter.unassigned());
            statement.setBoolean(p++, !filter.overdue());
            clock.bind(statement, p++);
            statement.setObject(p++, after == null ? null : after.subject());
            statement.setObject(p++, after == null ? null : after.dueAt());
            statement.setObject(p++, after == null ? null : after.sinceAt());
            statement.setObject(p++, after == null ? null : after.subject());
            statement.setInt(p++, limit + 1);
            clock.bind(statement, p);
            return Rows.page(statement, limit, JsonRows::object);
        }
    }

    /** The item with that id. */
    public Optional<ObjectNode> item(Connection c, UUID workspaceId, String kind, UUID subject) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(InboxSql.ITEM)) {
            int p = waiting(statement, 1, workspaceId);
            statement.setString(p++, kind);
            statement.setObject(p++, subject);
            clock.bind(statement, p);
            return JsonRows.list(statement).stream().findFirst();
        }
    }

    /** For each kind with items: {@code kind, count, overdue, unassigned, oldest_at, next_due_at}. */
    public List<ObjectNode> stats(Connection c, UUID workspaceId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(InboxSql.STATS)) {
            clock.bind(statement, 1);
            waiting(statement, 2, workspaceId);
            return JsonRows.list(statement);
        }
    }

    /** False when no item has that id. Assignments of an earlier question about the same subject do not count. */
    public boolean assign(Connection c, UUID workspaceId, String kind, UUID subject, Assignment assignment)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(InboxSql.ASSIGN)) {
            int p = 1;
            statement.setObject(p++, workspaceId);
            statement.setString(p++, assignment.assignee());
            statement.setObject(p++, assignment.dueAt() == null ? null : assignment.dueAt().atOffset(ZoneOffset.UTC));
            statement.setString(p++, assignment.by());
            clock.bind(statement, p++);
            p = waiting(statement, p, workspaceId);
            statement.setString(p++, kind);
            statement.setObject(p++, subject);
            statement.setBoolean(p++, assignment.keepsAssignee());
            statement.setBoolean(p, assignment.keepsDue());
            return statement.executeUpdate() == 1;
        }
    }

    /** Sets the parameters of the subquery; returns the next position. */
    private int waiting(PreparedStatement statement, int first, UUID workspaceId) throws SQLException {
        statement.setObject(first, workspaceId);
        clock.bind(statement, first + 1);
        return first + 2;
    }
}
