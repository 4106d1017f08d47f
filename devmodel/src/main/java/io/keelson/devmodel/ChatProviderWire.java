package io.keelson.devmodel;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** OpenAI's chat completions. Input tokens include those read from a cache; thinking has no place. */
final class ChatProviderWire implements ProviderWire {

    @Override
    public String name() {
        return "openai-chat";
    }

    @Override
    public String path() {
        return "/v1/chat/completions";
    }

    @Override
    public String requestIdHeader() {
        return "x-request-id";
    }

    @Override
    public Conversation read(JsonNode body) throws BadRequestException {
        Conversation conversation = new Conversation(body);
        if (body.path("messages").isEmpty()) {
            throw new BadRequestException("'messages' must be a list with at least one message");
        }
        for (JsonNode message : body.get("messages")) {
            String text = Conversation.text(message.path("content"));
            switch (message.path("role").asString("")) {
                case "system", "developer" -> conversation.system(text);
                case "user" -> conversation.user(text);
                case "tool" -> conversation.result(message.path("tool_call_id").asString(""), text);
                case "assistant" -> {
                    conversation.assistant();
                    for (JsonNode call : message.path("tool_calls")) {
                        conversation.call(call.path("id").asString(""), call.at("/function/name").asString(""));
                    }
                }
                default -> throw new BadRequestException("unknown role: " + message.path("role"));
            }
        }
        conversation.requireResults();
        body.path("tools").forEach(tool -> conversation.tool(tool.at("/function/name").asString(""),
                tool.at("/function/parameters")));
        JsonNode choice = body.path("tool_choice");
        if (choice.isObject() || choice.asString("").equals("required")) {
            conversation.forceTool(choice.at("/function/name").asString(""));
        }
        JsonNode format = body.path("response_format");
        switch (format.path("type").asString("")) {
            case "json_schema" -> conversation.schema(format.at("/json_schema/schema"));
            case "json_object" -> conversation.json();
            default -> {}
        }
        return conversation;
    }

    @Override
    public BilledTokens reported(BilledTokens usage) {
        return usage.withoutCacheWrite();
    }

    @Override
    public ObjectNode answer(ModelReply reply) {
        ObjectNode message = Json.object().put("role", "assistant").put("content", reply.text())
                .put("refusal", reply.refusal());
        message.putArray("annotations");
        if (!reply.calls().isEmpty()) {
            ArrayNode calls = message.putArray("tool_calls");
            reply.calls().forEach(call -> calls.add(call(call)));
        }
        ObjectNode choice = Json.object().put("index", 0);
        choice.set("message", message);
        choice.putNull("logprobs").put("finish_reason", finish(reply));
        ObjectNode answer = head(reply, "chat.completion");
        answer.putArray("choices").add(choice);
        answer.set("usage", usage(reply.usage()));
        return answer.put("service_tier", "default");
    }

    @Override
    public List<String> stream(ModelReply reply) {
        EventList events = new EventList();
        boolean usage = reply.request().body().at("/stream_options/include_usage").asBoolean(false);
        events.data(chunk(reply, usage, Json.object().put("role", "assistant").put("content", "").putNull("refusal"),
                null));
        if (reply.text() != null) {
            EventList.pieces(reply.text(),
                    text -> events.data(chunk(reply, usage, Json.object().put("content", text), null)));
        }
        if (reply.refusal() != null) {
            EventList.pieces(reply.refusal(),
                    text -> events.data(chunk(reply, usage, Json.object().put("refusal", text), null)));
        }
        for (int i = 0; i < reply.calls().size(); i++) {
            int index = i;
            ModelReply.Call call = reply.calls().get(i);
            ObjectNode first = Json.object().put("index", index);
            first.setAll(call(new ModelReply.Call(call.key(), call.tool(), "")));
            events.data(chunk(reply, usage, calls(first), null));
            EventList.pieces(call.arguments(), text -> events.data(chunk(reply, usage,
                    calls(Json.object().put("index", index).set("function", Json.object().put("arguments", text))),
                    null)));
        }
        events.data(chunk(reply, usage, Json.object(), finish(reply)));
        if (usage) {
            ObjectNode last = head(reply, "chat.completion.chunk");
            last.putArray("choices");
            events.data(last.set("usage", usage(reply.usage())).toString());
        }
        events.data("[DONE]");
        return events.all();
    }

    @Override
    public ObjectNode error(int status, JsonNode stated, String requestId) {
        return OpenAiErrors.body(status, stated);
    }

    private static String chunk(ModelReply reply, boolean usage, ObjectNode delta,
            @Nullable String finish) {
        ObjectNode choice = Json.object().put("index", 0);
        choice.set("delta", delta);
        choice.putNull("logprobs").put("finish_reason", finish);
        ObjectNode chunk = head(reply, "chat.completion.chunk").put("service_tier", "default");
        chunk.putArray("choices").add(choice);
        if (usage) {
            chunk.putNull("usage");
        }
        return chunk.toString();
    }

    private static ObjectNode calls(JsonNode call) {
        ObjectNode delta = Json.object();
        delta.putArray("tool_calls").add(call);
        return delta;
    }

    private static ObjectNode head(ModelReply reply, String object) {
        return Json.object().put("id", "chatcmpl-" + reply.key()).put("object", object).put("created", reply.created())
                .put("model", reply.model());
    }

    private static ObjectNode call(ModelReply.Call call) {
        ObjectNode function = Json.object().put("name", call.tool()).put("arguments", call.arguments());
        return Json.object().put("id", "call_" + call.key()).put("type", "function").set("function", function);
    }

    private static String finish(ModelReply reply) {
        return switch (reply.finish()) {
            case LENGTH -> "length";
            case CONTENT_FILTER -> "content_filter";
            case STOP -> reply.calls().isEmpty() ? "stop" : "tool_calls";
        };
    }

    private static ObjectNode usage(BilledTokens usage) {
        ObjectNode json = Json.object().put("prompt_tokens", usage.allInput()).put("completion_tokens", usage.output())
                .put("total_tokens", usage.allInput() + usage.output());
        json.putObject("prompt_tokens_details").put("cached_tokens", usage.cacheRead()).put("audio_tokens", 0);
        json.putObject("completion_tokens_details").put("reasoning_tokens", usage.reasoning()).put("audio_tokens", 0)
                .put("accepted_prediction_tokens", 0).put("rejected_prediction_tokens", 0);
        return json;
    }
}
