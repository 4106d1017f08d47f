package io.keelson.devmodel;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * A request for an answer, regardless of its wire. A wire adds the parts in the order of the request; calls without a result
 * and results without a call are refused, as providers refuse them. Not safe for use by several threads.
 */
final class Conversation {

    private final JsonNode body;
    private final Map<String, JsonNode> tools = new LinkedHashMap<>();
    private final Map<String, String> openCalls = new LinkedHashMap<>();
    private final StringBuilder system = new StringBuilder();
    private String last = "";
    private @Nullable String lastTool;
    private int turns;
    private boolean inTurn;
    private JsonNode schema = MissingNode.getInstance();
    private boolean json;
    private @Nullable String forcedTool;

    /** @throws BadRequestException where the body is no object, or names no model */
    Conversation(JsonNode body) throws BadRequestException {
        this.body = body;
        if (!body.path("model").isString()) {
            throw new BadRequestException("you must provide a model parameter");
        }
    }

    void system(String text) {
        system.append(text).append('\n');
    }

    void user(String text) {
        last = text;
        inTurn = false;
    }

    /** A part of an answer; parts in sequence are one turn. */
    void assistant() throws BadRequestException {
        if (!inTurn) {
            requireResults();
            turns++;
            inTurn = true;
        }
    }

    void call(String id, String tool) throws BadRequestException {
        assistant();
        lastTool = tool;
        if (openCalls.put(id, tool) != null) {
            throw new BadRequestException("two calls have the id " + id);
        }
    }

    void result(String id, String text) throws BadRequestException {
        if (openCalls.remove(id) == null) {
            throw new BadRequestException("there is a result of the call " + id + ", but no such call before it");
        }
        user(text);
    }

    void tool(String name, JsonNode parameters) {
        tools.put(name, parameters);
    }

    /** An answer that fits this schema is demanded. */
    void schema(JsonNode demanded) {
        schema = demanded;
    }

    /** Some JSON object is demanded. */
    void json() {
        json = true;
    }

    /** @param tool the tool that must be called, empty for any */
    void forceTool(String tool) {
        forcedTool = tool;
    }

    /** @throws BadRequestException where a call has no result */
    void requireResults() throws BadRequestException {
        if (!openCalls.isEmpty()) {
            throw new BadRequestException("these calls have no result: " + String.join(", ", openCalls.keySet()));
        }
    }

    JsonNode body() {
        return body;
    }

    String model() {
        return body.path("model").asString();
    }

    boolean stream() {
        return body.path("stream").asBoolean(false);
    }

    String systemText() {
        return system.toString();
    }

    /** The last message of a user, or the last result of a tool. */
    String lastText() {
        return last;
    }

    /** The tool that was called last; null before the first call. */
    @Nullable String lastTool() {
        return lastTool;
    }

    /** The number of the turn that is asked for, from 1. */
    int turn() {
        return turns + 1;
    }

    /** Missing where no schema is demanded. */
    JsonNode demandedSchema() {
        return schema;
    }

    boolean demandsJson() {
        return json;
    }

    /** A tool that must be called now, null where none must. */
    @Nullable String demandedTool() {
        return forcedTool == null || !forcedTool.isEmpty() ? forcedTool
                : tools.keySet().stream().findFirst().orElse(null);
    }

    /** The schema of a tool's input; missing where the request has no such tool. */
    JsonNode parameters(String tool) {
        return tools.getOrDefault(tool, MissingNode.getInstance());
    }

    /** The text of a message's content: a string, or parts of which some have a text. */
    static String text(JsonNode content) {
        return content.isString() ? content.stringValue()
                : content.valueStream().map(part -> part.path("text").asString(""))
                        .filter(text -> !text.isEmpty()).collect(Collectors.joining("\n"));
    }
}
