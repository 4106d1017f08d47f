package io.keelson.server.annex.model.wire;

import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A request in the form that every provider takes. Its output schema is in the strict dialect, or is the input of a tool that the
 * model calls instead of answering with text. It has no message of a provider that the provider would refuse.
 *
 * @param outputTool name of that tool; null without
 * @param wrapped whether the output is the member {@code value} of that tool's input, as the schema allows more than objects
 */
record LoweredRequest(ModelRequest request, @Nullable String outputTool, boolean wrapped) {

    private static final String OUTPUT_TOOL = "final";

    static LoweredRequest of(ModelRequest request) {
        JsonNode schema = request.outputSchema();
        JsonNode strict = schema == null ? null : StrictSchema.of(schema);
        if (schema == null || strict != null) {
            return new LoweredRequest(with(request, request.tools(), request.toolChoice(), strict), null, false);
        }
        List<ToolSchema> tools = new ArrayList<>();
        if (request.toolChoice() != ToolChoice.NONE) {
            tools.addAll(request.tools());
        }
        String name = OUTPUT_TOOL;
        while (isTool(tools, name)) {
            name += "_";
        }
        boolean wrapped = !schema.path("type").asString("").equals("object");
        tools.add(new ToolSchema(name, "Gives the final answer.", wrapped ? wrap(schema) : schema));
        return new LoweredRequest(with(request, tools, ToolChoice.REQUIRED, null), name, wrapped);
    }

    private static boolean isTool(List<ToolSchema> tools, String name) {
        return tools.stream().anyMatch(tool -> tool.name().equals(name));
    }

    private static JsonNode wrap(JsonNode schema) {
        ObjectNode wrapper = Json.object().put("type", "object");
        wrapper.putObject("properties").set("value", schema);
        wrapper.putArray("required").add("value");
        return wrapper;
    }

    private static ModelRequest with(ModelRequest request, List<ToolSchema> tools, ToolChoice choice,
            @Nullable JsonNode schema) {
        return new ModelRequest(request.instructions(), history(request.messages()), tools, choice, schema,
                request.maxOutputTokens());
    }

    /** A provider refuses a message of the model without text and calls; the messages around it become one. */
    private static List<Message> history(List<Message> messages) {
        List<Message> history = new ArrayList<>();
        boolean empty = false;
        for (Message message : messages) {
            if (message instanceof Message.Assistant(String text, List<Call> calls, JsonNode _) && text.isBlank()
                    && calls.isEmpty()) {
                empty = true;
                continue;
            }
            if (empty && message instanceof Message.User(String more) && !history.isEmpty()
                    && history.getLast() instanceof Message.User(String text)) {
                history.set(history.size() - 1, new Message.User(text + "\n\n" + more));
            } else {
                history.add(sendable(message));
            }
            empty = false;
        }
        return history;
    }

    /** A provider refuses a message with a call that has no result, or with an input that is no object. */
    private static Message sendable(Message message) {
        return message instanceof Message.Assistant(String text, List<Call> calls, JsonNode raw) && raw != null
                && (calls.stream().anyMatch(call -> call.input() == null)
                        || !callIds(raw.path("message")).equals(calls.stream().map(Call::id).toList()))
                                ? new Message.Assistant(text, calls, null)
                                : message;
    }

    /** The ids of the calls in a provider's message: of a chat completion, or in a list of items or blocks. */
    private static List<String> callIds(JsonNode message) {
        List<String> ids = new ArrayList<>();
        message.path("tool_calls").forEach(call -> ids.add(call.path("id").asString("")));
        if (message.isArray()) {
            for (JsonNode part : message) {
                switch (part.path("type").asString("")) {
                    case "tool_use" -> ids.add(part.path("id").asString(""));
                    case "function_call" -> ids.add(part.path("call_id").asString(""));
                    default -> {}
                }
            }
        }
        return ids;
    }

    /**
     * The answer to the request as it was before: the input of the output tool is the text. Calls of an answer that was cut have no
     * input, as their end may be missing.
     */
    ModelAnswer restored(ModelAnswer answer) {
        boolean cut = answer.finish() == Finish.LENGTH || answer.finish() == Finish.CONTENT_FILTER;
        List<Call> calls = !cut ? answer.calls()
                : answer.calls().stream().map(call -> new Call(call.id(), call.name(), null, call.text())).toList();
        List<Call> others = calls.stream().filter(call -> !call.name().equals(outputTool)).toList();
        if (others.size() == calls.size() || !others.isEmpty()) {
            return with(answer, answer.text(), others, answer.finish());
        }
        Call last = calls.getLast();
        JsonNode value = wrapped && last.input() != null ? last.input().get("value") : null;
        return with(answer, value == null ? last.text() : value.toString(), others,
                answer.finish() == Finish.CALLS ? Finish.STOP : answer.finish());
    }

    private static ModelAnswer with(ModelAnswer answer, String text, List<Call> calls, Finish finish) {
        return new ModelAnswer(text, calls, finish, answer.usage(), answer.modelAnswered(), answer.requestId(),
                answer.raw(), answer.firstTextMillis(), answer.totalMillis(), answer.estimated());
    }
}
