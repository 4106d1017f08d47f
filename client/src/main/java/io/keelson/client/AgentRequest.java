package io.keelson.client;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A description of an agent; omitted members are absent. */
public final class AgentRequest {

    private final ObjectNode body;

    private AgentRequest(ObjectNode body) {
        this.body = body;
    }

    /** @param slug 1 to 100 small letters, digits and {@code -} */
    public static AgentRequest of(String slug) {
        return new AgentRequest(Json.object().put("slug", slug));
    }

    /** A document as the API takes it. */
    public static AgentRequest of(JsonNode document) {
        return new AgentRequest(((ObjectNode) document).deepCopy());
    }

    /** Name for people; by default the slug. */
    public AgentRequest name(String value) {
        body.put("name", value);
        return this;
    }

    /** Description for people and for agent selection. */
    public AgentRequest description(String value) {
        body.put("description", value);
        return this;
    }

    /** Model of its turns; by default that of the run. */
    public AgentRequest model(String value) {
        body.put("model", value);
        return this;
    }

    /** Instructions that the model gets with each turn. */
    public AgentRequest instructions(String value) {
        body.put("instructions", value);
        return this;
    }

    /** All that its turns may call. */
    public AgentRequest tools(Iterable<String> values) {
        ArrayNode tools = body.putArray("tools");
        values.forEach(tools::add);
        return this;
    }

    /** The types of tasks that it is good at. */
    public AgentRequest capabilities(Iterable<String> values) {
        ArrayNode capabilities = body.putArray("capabilities");
        values.forEach(capabilities::add);
        return this;
    }

    /** Turns of one task at most, the first included. */
    public AgentRequest maxTurns(int value) {
        body.withObjectProperty("limits").put("max_turns", value);
        return this;
    }

    /**
     * Which calls of a tool wait for a person: {@code always}, {@code never}, {@code effects} or {@code tainted}. Without a rule
     * the tool's effects decide.
     *
     * @param tool its name, or {@code *} for tools without rules of their own
     */
    public AgentRequest approval(String tool, String rule) {
        body.withObjectProperty("limits").withObjectProperty("approvals").put(tool, rule);
        return this;
    }

    /** Calls of a tool wait for a person if this jq expression over their input holds or fails. */
    public AgentRequest approvalWhen(String tool, String condition) {
        body.withObjectProperty("limits").withObjectProperty("approvals").putObject(tool).put("when", condition);
        return this;
    }

    /** The executor of its turns: {@code server} or {@code workers}. Without it, its model decides. */
    public AgentRequest runsOn(String value) {
        body.put("runs_on", value);
        return this;
    }

    ObjectNode body() {
        return body;
    }
}
