package io.keelson.server.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.json.Json;
import io.keelson.server.model.Call;
import io.keelson.server.model.CallResult;
import io.keelson.server.model.Finish;
import io.keelson.server.model.Message;
import io.keelson.server.model.ModelEndpoint;
import io.keelson.server.model.ModelRequest;
import io.keelson.server.model.ToolSchema;
import java.util.ArrayList;
import java.util.HashMap;
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

    /** Some providers want their reasoning back with the results of calls. */
    private static final String REASONING = "reasoning_content";

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
                    .put("name", "output").put("strict", true);
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
        request.messages().forEach(message -> add(messages, endpoint, message));
        return body;
    }

    private static void add(ArrayNode messages, ModelEndpoint endpoint, Message message) {
        switch (message) {
            case Message.User(String text) -> messages.addObject().put("role", "user").put("content", text);
            case Message.Assistant assistant -> {
                ObjectNode said = messages.addObject().put("role", "assistant").put("content", assistant.text());
                JsonNode own = WireJson.message(endpoint, assistant);
                if (own != null && own.has("tool_calls")) {
                    said.set("tool_calls", own.get("tool_calls"));
                    if (own.hasNonNull(REASONING)) {
                        said.set(REASONING, own.get(REASONING));
                    }
                } else if (!assistant.calls().isEmpty()) {
                    ArrayNode calls = said.putArray("tool_calls");
                    assistant.calls().forEach(call -> calls.add(call(call)));
                }
            }
            case Message.ToolResults(List<CallResult> results) -> results.forEach(result -> messages.addObject()
                    .put("role", "tool").put("tool_call_id", result.callId()).put("content", result.text()));
        }
    }

    private static ObjectNode call(Call call) {
        ObjectNode function = Json.object().put("name", call.name()).put("arguments", WireJson.arguments(call));
        return Json.object().put("id", call.id()).put("type", "function").set("function", function);
    }

    @Override
    public ReadAnswer read(JsonNode document) throws UnreadableException, ProviderErrorException {
        WireJson.refuseError(document);
        JsonNode choices = WireJson.need(document, "choices");
        JsonNode first = choices.path(0);
        ObjectNode message = merged(choices);
        String refusal = message.path("refusal").asString("");
        String text = message.path("content").asString("");
        List<Call> calls = new ArrayList<>();
        for (JsonNode call : message.path("tool_calls")) {
            JsonNode function = call.path("function");
            JsonNode arguments = function.path("arguments");
            calls.add(WireJson.call(call.get("id").stringValue(), function.path("name").asString(""),
                    arguments.isObject() ? arguments.toString() : arguments.asString("")));
        }
        Finish finish = switch (first.path("finish_reason").asString("")) {
            case "length" -> Finish.LENGTH;
            case "content_filter" -> Finish.CONTENT_FILTER;
            case "" -> throw new UnreadableException("the answer has no 'finish_reason'");
            default -> WireJson.finished(calls, !refusal.isEmpty());
        };
        Tokens usage = WireJson.charged(usage(document));
        return new ReadAnswer(finish == Finish.REFUSAL ? refusal : text, calls, finish, usage,
                document.path("model").asString(null), message);
    }

    /** One message of all choices: some providers put calls into a later one. Calls without an id get one. */
    private static ObjectNode merged(JsonNode choices) throws UnreadableException {
        ObjectNode whole = (ObjectNode) WireJson.need(choices.path(0), "message").deepCopy();
        StringBuilder text = new StringBuilder();
        ArrayNode calls = Json.array();
        for (JsonNode choice : choices) {
            JsonNode content = choice.path("message").path("content");
            text.append(content.isString() ? content.stringValue()
                    : content.valueStream().map(part -> part.path("text").asString("")).collect(Collectors.joining()));
            for (JsonNode call : choice.path("message").path("tool_calls")) {
                ObjectNode copy = (ObjectNode) call.deepCopy();
                calls.add(copy.path("id").asString("").isBlank() ? copy.put("id", "call_" + calls.size()) : copy);
            }
        }
        whole.put("content", text.toString()).remove("tool_calls");
        return calls.isEmpty() ? whole : whole.set("tool_calls", calls);
    }

    @Override
    public @Nullable Tokens usage(JsonNode document) throws UnreadableException {
        JsonNode usage = document.path("usage");
        return usage.isObject() ? WireJson.includingCached(WireJson.need(usage, "prompt_tokens"),
                usage.at("/prompt_tokens_details/cached_tokens"), WireJson.need(usage, "completion_tokens"),
                usage.at("/completion_tokens_details/reasoning_tokens"), usage.path("total_tokens")) : null;
    }

    @Override
    public StreamedDocument streamed() {
        return new Chunks();
    }

    private static final class Chunks implements StreamedDocument {
        private final ObjectNode document = Json.object();
        private final ObjectNode message = Json.object();
        private final List<ObjectNode> calls = new ArrayList<>();
        private final Map<String, ObjectNode> open = new HashMap<>();
        private boolean begun;
        private boolean complete;

        @Override
        public String add(JsonNode data) throws UnreadableException, ProviderErrorException {
            if (data.isString() && data.stringValue().equals("[DONE]")) {
                complete = true;
                return "";
            }
            WireJson.refuseError(data);
            if (!data.isObject()) {
                throw new UnreadableException("an event is not an object");
            }
            begun = true;
            if (data.hasNonNull("model")) {
                document.set("model", data.get("model"));
            }
            if (data.path("usage").isObject()) {
                document.set("usage", data.get("usage"));
            }
            StringBuilder text = new StringBuilder();
            for (JsonNode choice : data.path("choices")) {
                if (choice.hasNonNull("finish_reason")
                        && !document.path("finish_reason").asString("").equals("length")) {
                    document.set("finish_reason", choice.get("finish_reason"));
                }
                JsonNode delta = choice.path("delta");
                append("refusal", delta);
                append(REASONING, delta);
                for (JsonNode call : delta.path("tool_calls")) {
                    call(choice.path("index").asInt(0), call);
                }
                text.append(append("content", delta));
            }
            return text.toString();
        }

        private String append(String member, JsonNode delta) {
            String text = delta.path(member).asString("");
            if (!text.isEmpty()) {
                message.put(member, message.path(member).asString("") + text);
            }
            return text;
        }

        /**
         * The parts of a call have the index of their choice and their own; providers that send whole calls may leave theirs out, or
         * use one for several.
         */
        private void call(int choice, JsonNode part) {
            String place = choice + "/" + part.path("index").asString("");
            String id = part.path("id").asString("");
            ObjectNode begun = open.get(place);
            boolean named = !part.at("/function/name").asString("").isEmpty();
            if (begun == null || !id.isBlank() && !id.equals(begun.path("id").asString(""))
                    || named && !part.has("index")) {
                ObjectNode call = (ObjectNode) part.deepCopy();
                call.remove("index");
                open.put(place, call);
                calls.add(call);
                return;
            }
            ObjectNode function = begun.withObjectProperty("function");
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
