package io.keelson.client;

import tools.jackson.databind.node.ObjectNode;

/**
 * Members of a board task; absent members have the server's default, or stay unchanged. An empty description, assignee or
 * result removes the member.
 */
public final class BoardTaskRequest {

    private final ObjectNode body = Json.object();

    private BoardTaskRequest() {}

    /** A board task with this title. */
    public static BoardTaskRequest titled(String title) {
        return change().title(title);
    }

    /** No members yet; for changes. */
    public static BoardTaskRequest change() {
        return new BoardTaskRequest();
    }

    /** Sets the title. */
    public BoardTaskRequest title(String value) {
        return with("title", value);
    }

    /** Sets the description. */
    public BoardTaskRequest description(String value) {
        return with("description", value);
    }

    /** Sets the column, such as {@code in_progress}. */
    public BoardTaskRequest status(String value) {
        return with("status", value);
    }

    /** Sets the priority: {@code low}, {@code medium}, {@code high} or {@code urgent}. */
    public BoardTaskRequest priority(String value) {
        return with("priority", value);
    }

    /** Sets the assignee. */
    public BoardTaskRequest assignee(String value) {
        return with("assignee", value);
    }

    /** Only for a new task. */
    public BoardTaskRequest parent(long value) {
        return with("parent_task_id", value);
    }

    /** Sets the tags. */
    public BoardTaskRequest tags(String... values) {
        return with("tags", values);
    }

    /** Only for a change. */
    public BoardTaskRequest result(String value) {
        return with("result", value);
    }

    private BoardTaskRequest with(String member, Object value) {
        body.set(member, Json.of(value));
        return this;
    }

    ObjectNode body() {
        return body;
    }
}
