package io.keelson.server.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.json.Json;
import io.keelson.server.model.Call;
import io.keelson.server.model.Finish;
import io.keelson.server.model.Message;
import io.keelson.server.model.ModelEndpoint;
import io.keelson.server.model.ModelRequest;
import io.keelson.server.model.ToolChoice;
import io.keelson.server.model.ToolResult;
import io.keelson.server.model.ToolSchema;
import io.keelson.server.model.WireKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * OpenAI's chat completions, which most other providers offer too. The bound of output is {@code max_completion_tokens} for OpenAI
 * itself and {@code max_tokens} for all others, as some of them ignore the newer name.
 */
final class ChatWire implements Wire {

    @Override
    public String path() {
        return "/chat/completions";
    }

    @Override
    public Map<String, String> headers(String apiKey) {
        return apiKey.isEmpty() ? Map.of() : Map.of("authorization", "Bearer " + apiKey);
    }

    @Override
    public ObjectNode body(ModelEndpoint endpoint, ModelRequest request, boolean stream) {
        ObjectNode body = Json.object().put("model", endpoint.model());
        String host = endpoint.baseUrl().getHost();
        body.put(host != null && host.endsWith(".openai.com") ? "max_completion_tokens" : "max_tokens",
                request.maxOutputTokens());
        if (stream) {
            body.put("stream", true).putObject("stream_options").put("include_usage", true);
        }
        if (request.outputSchema() != null) {
            ObjectNode format = body.putObject("response_format").put("type", "json_schema").putObject("json_schema")
                    .put("name", "output").put("strict", WireJson.strict(request.outputSchema()));
            format.set("schema", request.outputSchema());
        }
        if (!request.tools().isEmpty()) {
            body.put("tool_choice", request.toolChoice().name().toLowerCase(Locale.ROOT));
            ArrayNode tools = body.putArray("tools");
            for (ToolSchema tool : WireJson.sorted(request.tools())) {
                ObjectNode function = tools.addObject().put("type", "function").putObject("function");
                function.put("name", tool.name()).put("description", tool.description());
                function.set("parameters", tool.inputSchema());
            }
        }
        ArrayNode messages = body.putArray("messages");
        if (!request.instructions().isEmpty()) {
            messages.addObject().put("role", "system").put("content", request.instructions());
        }
        request.messages().forEach(message -> add(messages, message));
        return body;
    }

    private static void add(ArrayNode messages, Message message) {
        switch (message) {
            case Message.User(String text) -> messages.addObject().put("role", "user").put("content", text);
            case Message.Assistant assistant -> {
                ObjectNode said = messages.addObject().put("role", "assistant").put("content", assistant.text());
                JsonNode own = WireJson.message(WireKind.OPENAI_CHAT, assistant);
                if (own != null && own.has("tool_calls")) {
                    said.set("tool_calls", own.get("tool_calls"));
                } else if (!assistant.calls().isEmpty()) {
                    ArrayNode calls = said.putArray("tool_calls");
                    assistant.calls().forEach(call -> calls.add(call(call)));
                }
            }
            case Message.ToolResults(List<ToolResult> results) -> results.forEach(result -> messages.addObject()
                    .put("role", "tool").put("tool_call_id", result.callId()).put("content", result.text()));
        }
    }

    private static ObjectNode call(Call call) {
        ObjectNode function = Json.object().put("name", call.name()).put("arguments", call.text());
        return Json.object().put("id", call.id()).put("type", "function").set("function", function);
    }

    @Override
    public ReadAnswer read(JsonNode document) throws UnreadableException, ProviderErrorException {
        if (document.path("error").isObject()) {
            throw new ProviderErrorException(document.get("error"));
        }
        JsonNode choices = WireJson.need(document, "choices");
        JsonNode first = choices.path(0);
        JsonNode message = WireJson.need(first, "message");
        String refusal = message.path("refusal").asString("");
        String text = message.path("content").isString() ? message.get("content").stringValue()
                : message.path("content").valueStream().map(part -> part.path("text").asString(""))
                        .collect(Collectors.joining());
        List<Call> calls = new ArrayList<>();
        for (JsonNode choice : choices) {
            for (JsonNode call : choice.path("message").path("tool_calls")) {
                JsonNode function = call.path("function");
                JsonNode arguments = function.path("arguments");
                calls.add(WireJson.call(call.path("id").asString("call_" + calls.size()),
                        function.path("name").asString(""),
                        arguments.isObject() ? arguments.toString() : arguments.asString("")));
            }
        }
        Finish finish = switch (first.path("finish_reason").asString("")) {
            case "length" -> Finish.LENGTH;
            case "content_filter" -> Finish.CONTENT_FILTER;
            case "" -> throw new UnreadableException("the answer has no 'finish_reason'");
            default -> WireJson.finished(calls, !refusal.isEmpty());
        };
        Tokens usage = usage(document);
        if (usage == null) {
            throw new UnreadableException("the answer has no 'usage', by which it is charged");
        }
        return new ReadAnswer(finish == Finish.REFUSAL ? refusal : text, calls, finish, usage,
                document.path("model").asString(null), message);
    }

    @Override
    public @Nullable Tokens usage(JsonNode document) throws UnreadableException {
        JsonNode usage = document.path("usage");
        return usage.isObject() ? WireJson.includingCached(WireJson.need(usage, "prompt_tokens"),
                usage.at("/prompt_tokens_details/cached_tokens"), WireJson.need(usage, "completion_tokens"),
                usage.at("/completion_tokens_details/reasoning_tokens")) : null;
    }

    @Override
    public StreamedDocument streamed() {
        return new Chunks();
    }

    private static final class Chunks implements StreamedDocument {
        private final ObjectNode document = Json.object();
        private final ObjectNode message = Json.object();
        private final List<ObjectNode> calls = new ArrayList<>();
        private boolean begun;
        private boolean complete;

        @Override
        public String add(JsonNode data) throws UnreadableException, ProviderErrorException {
            if (data.isString() && data.stringValue().equals("[DONE]")) {
                complete = true;
                return "";
            }
            if (data.path("error").isObject()) {
                throw new ProviderErrorException(data.get("error"));
            }
            if (!data.isObject()) {
                throw new UnreadableException("an event is no object");
            }
            begun = true;
            if (data.hasNonNull("model")) {
                document.set("model", data.get("model"));
            }
            if (data.path("usage").isObject()) {
                document.set("usage", data.get("usage"));
            }
            JsonNode choice = data.path("choices").path(0);
            if (choice.hasNonNull("finish_reason")) {
                document.set("finish_reason", choice.get("finish_reason"));
            }
            JsonNode delta = choice.path("delta");
            append("refusal", delta);
            for (JsonNode call : delta.path("tool_calls")) {
                call(call);
            }
            return append("content", delta);
        }

        private String append(String member, JsonNode delta) {
            String text = delta.path(member).asString("");
            if (!text.isEmpty()) {
                message.put(member, message.path(member).asString("") + text);
            }
            return text;
        }

        /** The parts of a call have its index; a provider that sends whole calls may leave it out. */
        private void call(JsonNode part) throws UnreadableException {
            int index = part.path("index").asInt(calls.size());
            if (index < 0 || index > calls.size()) {
                throw new UnreadableException("a part of a call has the index " + index);
            }
            if (index == calls.size()) {
                ObjectNode call = (ObjectNode) part.deepCopy();
                call.remove("index");
                calls.add(call);
                return;
            }
            ObjectNode function = calls.get(index).withObjectProperty("function");
            function.put("arguments", function.path("arguments").asString("")
                    + part.path("function").path("arguments").asString(""));
        }

        @Override
        public boolean complete() {
            return complete;
        }

        @Override
        public @Nullable JsonNode document() {
            if (!begun) {
                return null;
            }
            ObjectNode whole = document.deepCopy();
            ObjectNode said = message.deepCopy().put("role", "assistant");
            if (!calls.isEmpty()) {
                said.putArray("tool_calls").addAll(calls);
            }
            JsonNode finish = whole.remove("finish_reason");
            whole.putArray("choices").addObject().set("message", said).set("finish_reason", finish);
            return whole;
        }
    }
}
