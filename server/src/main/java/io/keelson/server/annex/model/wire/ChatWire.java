package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.CallResult;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.base.json.Json;
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

    /** Some providers want their reasoning back with the results of calls. */
    static final String REASONING = "reasoning_content";

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
            calls.add(WireJson.call(call.get("id").stringValue(), function.path("name").asString(""),
                    function.get("arguments").stringValue()));
        }
        Finish finish = switch (first.path("finish_reason").asString("")) {
            case "length" -> Finish.LENGTH;
            case "content_filter" -> Finish.CONTENT_FILTER;
            case "" -> throw new UnreadableException("the answer has no 'finish_reason'");
            default -> WireJson.finished(calls, !refusal.isEmpty());
        };
        return new ReadAnswer(finish == Finish.REFUSAL ? refusal : text, calls, finish, reported(document),
                document.path("model").asString(null), message);
    }

    /** One message of all choices: some providers put calls into a later one. Its calls are as every provider takes them back. */
    private static ObjectNode merged(JsonNode choices) throws UnreadableException {
        ObjectNode whole = (ObjectNode) WireJson.need(choices.path(0), "message").deepCopy();
        StringBuilder text = new StringBuilder();
        ArrayNode calls = Json.array();
        CallIds ids = new CallIds();
        for (JsonNode choice : choices) {
            JsonNode content = choice.path("message").path("content");
            text.append(content.isString() ? content.stringValue()
                    : content.valueStream().map(part -> part.path("text").asString("")).collect(Collectors.joining()));
            for (JsonNode call : choice.path("message").path("tool_calls")) {
                ObjectNode copy = ((ObjectNode) call.deepCopy()).put("type", "function");
                copy.put("id", ids.of(copy.path("id").asString("")));
                ObjectNode function = copy.withObjectProperty("function");
                function.put("arguments", WireJson.arguments(function.path("arguments")));
                calls.add(copy);
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
    public StreamedDocument streamed(long maxBytes) {
        return new ChatChunks(new OutputBound(maxBytes));
    }
}
