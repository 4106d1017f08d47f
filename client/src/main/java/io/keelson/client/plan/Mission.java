package io.keelson.client.plan;

import io.keelson.client.Json;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A mission built in code: the same shape as a mission file and as the body of {@code POST /runs}. Values are any that
 * Jackson can write; strings in them may hold <code>${ }</code> expressions, written by {@link #expr}. The server
 * reports all problems of a plan at once. Not safe for use by several threads.
 */
public final class Mission {

    private final ObjectNode body;

    private Mission(ObjectNode body) {
        this.body = body;
    }

    /** A mission of this name, without tasks. */
    public static Mission named(String name) {
        return new Mission(Json.object().put("name", name));
    }

    /** A mission file read as JSON. */
    public static Mission of(ObjectNode document) {
        return new Mission(document.deepCopy());
    }

    /** A jq expression for use in values: {@code expr(".inputs.path")} is <code>${ .inputs.path }</code>. */
    public static String expr(String jq) {
        return "${ " + jq + " }";
    }

    /** Sets the goal from which a planner makes the plan. */
    public Mission goal(String value) {
        body.put("goal", value);
        return this;
    }

    /** Declares an input by its JSON Schema, which may hold a {@code default}. */
    public Mission declare(String name, Object schema) {
        body.withObjectProperty("inputs").set(name, Json.of(schema));
        return this;
    }

    /** The value of an input. */
    public Mission input(String name, @Nullable Object value) {
        body.withObjectProperty("input").set(name, Json.of(value));
        return this;
    }

    /** One member of the run's configuration, such as {@code autonomy}. */
    public Mission config(String name, Object value) {
        body.withObjectProperty("config").set(name, Json.of(value));
        return this;
    }

    /** Lower goes first; 100 when not given. */
    public Mission priority(int value) {
        body.put("priority", value);
        return this;
    }

    /** For finding runs again. */
    public Mission tags(String... values) {
        for (String value : values) {
            body.withArrayProperty("tags").add(value);
        }
        return this;
    }

    /** Sets your own id, unique among the workspace's runs; if another run has it, this one is rejected. */
    public Mission externalId(String value) {
        body.put("external_id", value);
        return this;
    }

    /** Sets your own id with a policy for when another run has it. */
    public Mission externalId(String value, ExternalIdPolicy policy) {
        body.put("external_id_policy", policy.wire());
        return externalId(value);
    }

    /** Starts the run at once; without this it is only created. */
    public Mission start() {
        body.put("start", true);
        return this;
    }

    /** Adds a task; tasks without dependencies on each other run side by side. */
    public Mission task(String id, UnaryOperator<TaskBuilder> build) {
        TaskBuilder task = build.apply(new TaskBuilder(id));
        body.withObjectProperty("plan").withArrayProperty("tasks").add(task.toJson());
        return this;
    }

    /** The output of the completed run. */
    public Mission output(Object value) {
        body.set("output", Json.of(value));
        return this;
    }

    /** A copy of the mission built so far. */
    public JsonNode toJson() {
        return body.deepCopy();
    }

    @Override
    public String toString() {
        return body.toPrettyString();
    }
}
