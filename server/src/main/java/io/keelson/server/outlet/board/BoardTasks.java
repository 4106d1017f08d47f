package io.keelson.server.outlet.board;

import io.keelson.api.outlet.BoardTask;
import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Reads {@code board_tasks}; writes people's tasks. Another workspace's do not exist here. */
public final class BoardTasks {

    /** Counts go no further. */
    public static final int COUNTED = 1_000;
    /** The board's columns in their order. */
    public static final List<String> STATUSES = Arrays.stream(BoardStatus.values()).map(BoardStatus::wire).toList();
    public static final List<String> PRIORITIES = List.of("low", "medium", "high", "urgent");
    /** Sources of tasks; tasks of runs are below their run. */
    public static final List<String> SOURCES = List.of("user", "recipe", "orchestration", "orchestration_task");

    /**
     * Selects board tasks. Without parent and run, all tasks of the workspace match.
     *
     * @param parent the parent of the tasks
     * @param run the run of the tasks
     * @param sources accepted sources
     * @param tag JSON text, an array of one text
     */
    public record Filter(@Nullable Long parent, @Nullable UUID run, @Nullable String status,
            @Nullable String assignee, List<String> sources, @Nullable String tag) {}

    /**
     * A column.
     *
     * @param count of its tasks, at most {@link #COUNTED} and one more
     * @param newest its first tasks
     * @param next the id below which the column continues; null at its end
     */
    public record Column(String status, int count, List<BoardTask> newest, @Nullable Long next) {}

    /** A task created by a person. */
    public record New(String title, @Nullable String description, String status, String priority,
            @Nullable String assignee, @Nullable Long parent, String tags, @Nullable String by) {}

    /** The changes; null keeps a value, an empty text removes it. */
    public record Change(@Nullable String title, @Nullable String description, @Nullable String status,
            @Nullable String priority, @Nullable String assignee, @Nullable String tags, @Nullable String result) {

        /** True when it is about no more than what people may change of a run's tasks. */
        public boolean ofPriorityOnly() {
            return title == null && description == null && status == null && assignee == null && tags == null
                    && result == null;
        }
    }

    private final Database database;

    public BoardTasks(Database database) {
        this.database = database;
    }

    /** Newest first, those with a smaller id than {@code before}. */
    public Page<BoardTask> list(UUID workspace, Filter filter, long before, int limit) {
        return database.withConnection(c -> {
            List<String> statuses = filter.status() == null ? STATUSES : List.of(filter.status());
            return read(c, workspace, filter, parent(c, workspace, filter), statuses, before, limit + 1, limit);
        });
    }

    /** All columns, each with its first {@code limit} tasks, or fewer when tasks are large. */
    public List<Column> columns(UUID workspace, Filter filter, int limit) {
        return database.withConnection(c -> {
            Long parent = parent(c, workspace, filter);
            int most = STATUSES.size() * filter.sources().size() * (limit + 1);
            Page<BoardTask> page = read(c, workspace, filter, parent, STATUSES, Long.MAX_VALUE, limit + 1, most);
            Map<String, Integer> counts = counts(c, workspace, filter, parent);
            return STATUSES.stream().map(status -> column(status, counts.getOrDefault(status, 0), page, limit))
                    .toList();
        });
    }

    /** @param page the newest tasks of all columns; all that it lacks are older */
    private static Column column(String status, int count, Page<BoardTask> page, int limit) {
        List<BoardTask> own = page.items().stream().filter(task -> task.status().equals(status)).toList();
        List<BoardTask> newest = own.stream().limit(limit).toList();
        Long next = own.size() > limit ? Long.valueOf(newest.getLast().id())
                : page.more() && count > own.size() ? Long.valueOf(page.last().id()) : null;
        return new Column(status, count, newest, next);
    }

    public Optional<BoardTask> find(UUID workspace, long id) {
        return database.withConnection(c -> find(c, workspace, id));
    }

    /** In that transaction; empty when the workspace has no task that is to be its parent. */
    public Optional<BoardTask> create(Connection c, UUID workspace, New made) throws SQLException {
        if (made.parent() != null && !held(c, workspace, made.parent())) {
            return Optional.empty();
        }
        return Optional.of(BoardSql.INSERT.on(c).set("workspace", workspace).set(made).one(BoardTasks::task));
    }

    /**
     * The changed task; of a run's task only the priority changes. Empty for an unknown task.
     *
     * @param check sees the locked task; an exception leaves the task unchanged
     */
    public Optional<BoardTask> change(UUID workspace, long id, Change change, Consumer<BoardTask> check) {
        return database.inTransaction(c -> {
            if (!locked(c, workspace, id)) {
                return Optional.empty();
            }
            check.accept(find(c, workspace, id).orElseThrow());
            return BoardSql.UPDATE.on(c).set("workspace", workspace).set("id", id).set(change).first(BoardTasks::task);
        });
    }

    /** False when there is none, or a run put it there. Its children stay. */
    public boolean remove(UUID workspace, long id) {
        return database.inTransaction(
                c -> BoardSql.DELETE.on(c).set("workspace", workspace).set("id", id).update() == 1);
    }

    private static boolean held(Connection c, UUID workspace, long id) throws SQLException {
        return BoardSql.HELD.on(c).set("workspace", workspace).set("id", id).exists();
    }

    private static boolean locked(Connection c, UUID workspace, long id) throws SQLException {
        return BoardSql.LOCK.on(c).set("workspace", workspace).set("id", id).exists();
    }

    private static Optional<BoardTask> find(Connection c, UUID workspace, long id) throws SQLException {
        return BoardSql.ONE.on(c).set("workspace", workspace).set("id", id).first(BoardTasks::task);
    }

    /** The parent of the listed tasks: a run's board task if the filter names a run; null if absent, -1 for an unknown run. */
    private static @Nullable Long parent(Connection c, UUID workspace, Filter filter) throws SQLException {
        if (filter.run() == null) {
            return filter.parent();
        }
        long found = BoardSql.OF_RUN.on(c).set("workspace", workspace).set("run", filter.run().toString())
                .first(row -> row.getLong("id")).orElse(-1L);
        return filter.parent() != null && filter.parent() != found ? Long.valueOf(-1) : Long.valueOf(found);
    }

    /** @param each how many tasks of a column and source at most */
    private static Page<BoardTask> read(Connection c, UUID workspace, Filter filter, @Nullable Long parent,
            List<String> statuses, long before, int each, int limit) throws SQLException {
        return of(c, BoardSql.LIST, BoardSql.CHILDREN, workspace, filter, parent).setTexts("statuses", statuses)
                .set("before", before).set("assignee", filter.assignee()).set("tag", filter.tag()).set("each", each)
                .page(limit, BoardTasks::task);
    }

    /** @param below the statement for tasks of a parent */
    private static Sql.Call of(Connection c, Sql all, Sql below, UUID workspace, Filter filter, @Nullable Long parent) {
        Sql.Call call = parent == null ? all.on(c) : below.on(c).set("parent", parent);
        return call.set("workspace", workspace).setTexts("sources", filter.sources());
    }

    private static Map<String, Integer> counts(Connection c, UUID workspace, Filter filter, @Nullable Long parent)
            throws SQLException {
        record Count(String status, int count) {}
        return of(c, BoardSql.COUNTS, BoardSql.COUNTS_OF_CHILDREN, workspace, filter, parent)
                .setTexts("statuses", STATUSES).all(RecordColumns.of(Count.class)).stream()
                .collect(Collectors.toMap(Count::status, Count::count));
    }

    /** Whether a run created the board task. */
    public static boolean orchestrated(BoardTask task) {
        return task.sourceType().equals("orchestration") || task.sourceType().equals("orchestration_task");
    }

    private static BoardTask task(ResultSet row) throws SQLException {
        String data = row.getString("planning_data");
        return new BoardTask(row.getLong("id"), row.getString("title"), row.getString("description"),
                row.getString("status"), row.getString("priority"), row.getString("review_mode"),
                row.getString("assignee"), row.getObject("assigned_agent_id", Integer.class),
                row.getObject("parent_task_id", Long.class), Math.min(row.getInt("children"), COUNTED),
                row.getString("source_type"), row.getString("source_id"), row.getString("run_id"),
                row.getString("created_by_type"), row.getString("created_by_id"),
                Json.read(row.getString("tags")).valueStream().map(tag -> tag.asString("")).toList(),
                data != null && Json.read(data) instanceof ObjectNode object ? object : null, row.getString("result"),
                row.getString("error_message"), Rows.time(row, "created_at"), Rows.time(row, "updated_at"),
                Rows.optionalTime(row, "started_at"), Rows.optionalTime(row, "completed_at"));
    }
}
