package io.keelson.client;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Members of a board task; null for the server's default, or for no change. An empty description, assignee or result
 * clears the member.
 */
public record BoardTaskRequest(@Nullable String title, @Nullable String description, @Nullable String status,
        @Nullable String priority, @Nullable String assignee, @Nullable Long parentTaskId,
        @Nullable List<String> tags, @Nullable String result) {

    /** A board task with this title. */
    public static BoardTaskRequest titled(String title) {
        return new BoardTaskRequest(title, null, null, null, null, null, null, null);
    }

    /** Nothing; for changes. */
    public static BoardTaskRequest change() {
        return new BoardTaskRequest(null, null, null, null, null, null, null, null);
    }

    /** Sets the title. */
    public BoardTaskRequest title(String value) {
        return new BoardTaskRequest(value, description, status, priority, assignee, parentTaskId, tags, result);
    }

    /** Sets the description. */
    public BoardTaskRequest description(String value) {
        return new BoardTaskRequest(title, value, status, priority, assignee, parentTaskId, tags, result);
    }

    /** Sets the column, such as {@code in_progress}. */
    public BoardTaskRequest status(String value) {
        return new BoardTaskRequest(title, description, value, priority, assignee, parentTaskId, tags, result);
    }

    /** Sets the priority: {@code low}, {@code medium}, {@code high} or {@code urgent}. */
    public BoardTaskRequest priority(String value) {
        return new BoardTaskRequest(title, description, status, value, assignee, parentTaskId, tags, result);
    }

    /** Sets the assignee. */
    public BoardTaskRequest assignee(String value) {
        return new BoardTaskRequest(title, description, status, priority, value, parentTaskId, tags, result);
    }

    /** Only for a new task. */
    public BoardTaskRequest parent(long value) {
        return new BoardTaskRequest(title, description, status, priority, assignee, value, tags, result);
    }

    /** Sets the tags. */
    public BoardTaskRequest tags(String... values) {
        return new BoardTaskRequest(title, description, status, priority, assignee, parentTaskId, List.of(values),
                result);
    }

    /** Only for a change. */
    public BoardTaskRequest result(String value) {
        return new BoardTaskRequest(title, description, status, priority, assignee, parentTaskId, tags, value);
    }

    ObjectNode document() {
        ObjectNode document = Json.object();
        put(document, "title", title);
        put(document, "description", description);
        put(document, "status", status);
        put(document, "priority", priority);
        put(document, "assignee", assignee);
        put(document, "result", result);
        if (parentTaskId != null) {
            document.put("parent_task_id", parentTaskId);
        }
        if (tags != null) {
            tags.forEach(document.putArray("tags")::add);
        }
        return document;
    }

    private static void put(ObjectNode document, String name, @Nullable String value) {
        if (value != null) {
            document.put(name, value);
        }
    }
}
