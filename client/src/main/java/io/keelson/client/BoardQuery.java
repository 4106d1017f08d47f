package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * Which tasks of the work board, newest first. Without a parent, a run or a source they are those at the top: runs, and
 * what people made.
 *
 * @param parentTaskId only the parts of this task
 * @param runId only this run's tasks
 * @param status only this column's
 * @param sourceType only those from there
 * @param cursor the start of the page; null for the beginning
 * @param limit at most so many; null for the server's default
 */
public record BoardQuery(@Nullable Long parentTaskId, @Nullable String runId, @Nullable String status,
        @Nullable String assignee, @Nullable String sourceType, @Nullable String tag, @Nullable String cursor,
        @Nullable Integer limit) {

    public static BoardQuery all() {
        return new BoardQuery(null, null, null, null, null, null, null, null);
    }

    public BoardQuery parent(long value) {
        return new BoardQuery(value, runId, status, assignee, sourceType, tag, cursor, limit);
    }

    public BoardQuery run(String value) {
        return new BoardQuery(parentTaskId, value, status, assignee, sourceType, tag, cursor, limit);
    }

    public BoardQuery status(String value) {
        return new BoardQuery(parentTaskId, runId, value, assignee, sourceType, tag, cursor, limit);
    }

    public BoardQuery assignee(String value) {
        return new BoardQuery(parentTaskId, runId, status, value, sourceType, tag, cursor, limit);
    }

    public BoardQuery source(String value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, value, tag, cursor, limit);
    }

    public BoardQuery tag(String value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, sourceType, value, cursor, limit);
    }

    public BoardQuery from(@Nullable String value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, sourceType, tag, value, limit);
    }

    public BoardQuery limit(int value) {
        return new BoardQuery(parentTaskId, runId, status, assignee, sourceType, tag, cursor, value);
    }

    RequestPath on(RequestPath route) {
        return route.with("parent_task_id", parentTaskId).with("run_id", runId).with("assignee", assignee)
                .with("source_type", sourceType).with("tag", tag).with("limit", limit);
    }
}
