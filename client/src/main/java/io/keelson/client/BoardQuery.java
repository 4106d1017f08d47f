package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * A filter of board tasks, which are listed newest first. Without a parent, a run or a source: the top level, that is
 * runs and tasks that people created.
 *
 * @param parentTaskId selects parts of this task
 * @param runId selects tasks of this run
 * @param status selects tasks of this column
 * @param assignee selects tasks of this assignee
 * @param sourceType selects tasks from this source
 * @param tag selects tasks with this tag
 * @param cursor the start of the page; null for the beginning
 * @param limit maximum number; null for the server's default
 */
public record BoardQuery(@Nullable Long parentTaskId, @Nullable String runId, @Nullable String status,
        @Nullable String assignee, @Nullable String sourceType, @Nullable String tag, @Nullable String cursor,
        @Nullable Integer limit) {

    /** No filter. */
    public static BoardQuery all() {
        return new BoardQuery(null, null, null, null, null, null, null, null);
    }

    /** Only the parts of this board task. */
    public BoardQuery parent(long value) {
        return new BoardQuery(value, runId, status, assignee, sourceType, tag, cursor, limit);
    }

    /** Selects tasks of this run. */
    public BoardQuery run(String value) {
        return new BoardQuery(parentTaskId, value, status, assignee, sourceType, tag, cursor, limit);
    }

    /** Only this column, such as {@code in_progress}. */
    public BoardQuery status(String value) {
        return new BoardQuery(parentTaskId, runId, value, assignee, sourceType, tag, cursor, limit);
    }

    /** Selects tasks of this assignee. */
    public BoardQuery assignee(String value) {
        return new BoardQuery(parentTaskId, runId, status, value, sourceType, tag, cursor, limit);
    }

    /** Only those from this source, such as {@code orchestration}. */
    public BoardQuery source(String value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, value, tag, cursor, limit);
    }

    /** Only those with this tag. */
    public BoardQuery tag(String value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, sourceType, value, cursor, limit);
    }

    /** Begins at a {@link Page#nextCursor()}; null for the first page. */
    public BoardQuery from(@Nullable String value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, sourceType, tag, value, limit);
    }

    /** Maximum rows of a page. */
    public BoardQuery limit(int value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, sourceType, tag, cursor, value);
    }

    RequestPath on(RequestPath route) {
        return route.with("parent_task_id", parentTaskId).with("run_id", runId).with("assignee", assignee)
                .with("source_type", sourceType).with("tag", tag).with("limit", limit);
    }
}
