package io.keelson.server.annex.model;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A request to a model, without the shapes of any provider.
 *
 * @param instructions for the whole conversation; empty if absent
 * @param messages the conversation, the oldest first; the last one is to be answered
 * @param tools that the model may call, each name once
 * @param outputSchema JSON Schema that a text answer has to fit; null for any text
 * @param maxOutputTokens of the answer, reasoning included
 */
public record ModelRequest(String instructions, List<Message> messages, List<ToolSchema> tools, ToolChoice toolChoice,
        @Nullable JsonNode outputSchema, int maxOutputTokens) {

    public ModelRequest {
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
    }

    /** A copy with another bound of output. */
    public ModelRequest writing(int tokens) {
        return new ModelRequest(instructions, messages, tools, toolChoice, outputSchema, tokens);
    }

    /** The first of the messages after the model's last one. */
    public int afterLastAnswer() {
        int at = messages.size();
        while (at > 0 && !(messages.get(at - 1) instanceof Message.Assistant)) {
            at--;
        }
        return at;
    }
}
