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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * OpenAI's responses. The provider stores nothing ({@code store: false}), so messages and calls are sent again without their ids,
 * and reasoning only where it is encrypted.
 */
final class ResponsesWire implements Wire {

    /** Models of OpenAI that reason. Others refuse a request for encrypted reasoning. */
    private static final Pattern REASONING = Pattern.compile("(o\\d|gpt-([5-9]|\\d\\d))(?!.*chat).*");

    @Override
    public String path() {
        return "/responses";
    }

    @Override
    public Map<String, String> headers(String apiKey) {
        return apiKey.isEmpty() ? Map.of() : Map.of("authorization", "Bearer " + apiKey);
    }

    @Override
    public ObjectNode body(ModelEndpoint endpoint, ModelRequest request, boolean stream) {
        ObjectNode body = Json.object().put("model", endpoint.model()).put("store", false)
                .put("max_output_tokens", request.maxOutputTokens());
        if (REASONING.matcher(endpoint.model()).matches()) {
            body.putArray("include").add("reasoning.encrypted_content");
        }
        if (stream) {
            body.put("stream", true);
        }
        if (!request.instructions().isEmpty()) {
            body.put("instructions", request.instructions());
        }
        if (request.outputSchema() != null) {
            ObjectNode format = body.putObject("text").putObject("format").put("type", "json_schema")
                    .put("name", "output").put("strict", true);
            format.set("schema", request.outputSchema());
        }
        if (!request.tools().isEmpty()) {
            body.put("tool_choice", request.toolChoice().name().toLowerCase(Locale.ROOT));
            ArrayNode tools = body.putArray("tools");
            for (ToolSchema tool : WireJson.sorted(request.tools())) {
                tools.addObject().put("type", "function").put("name", tool.name())
                        .put("description", tool.description()).put("strict", false)
                        .set("parameters", tool.inputSchema());
            }
        }
        ArrayNode input = body.putArray("input");
        request.messages().forEach(message -> add(input, endpoint, message));
        return body;
    }

    /** The body of a request for an answer in the background, which the provider has to store. */
    ObjectNode background(ModelEndpoint endpoint, ModelRequest request) {
        return body(endpoint, request, false).put("store", true).put("background", true);
    }

    private static void add(ArrayNode input, ModelEndpoint endpoint, Message message) {
        switch (message) {
            case Message.User(String text) -> input.addObject().put("type", "message").put("role", "user")
                    .putArray("content").addObject().put("type", "input_text").put("text", text);
            case Message.Assistant assistant -> add(input, endpoint, assistant);
            case Message.ToolResults(List<CallResult> results) -> results.forEach(result -> input.addObject()
                    .put("type", "function_call_output").put("call_id", result.callId()).put("output", result.text()));
        }
    }

    private static void add(ArrayNode input, ModelEndpoint endpoint, Message.Assistant assistant) {
        JsonNode own = WireJson.message(endpoint, assistant);
        if (own != null) {
            for (JsonNode item : own) {
                if (!item.path("type").asString("").equals("reasoning")) {
                    input.add(((ObjectNode) item.deepCopy()).without(List.of("id", "status")));
                } else if (item.hasNonNull("encrypted_content")) {
                    input.add(((ObjectNode) item.deepCopy()).without("status"));
                }
            }
            return;
        }
        if (!assistant.text().isEmpty()) {
            input.addObject().put("type", "message").put("role", "assistant").putArray("content").addObject()
                    .put("type", "output_text").put("text", assistant.text());
        }
        for (Call call : assistant.calls()) {
            input.addObject().put("type", "function_call").put("call_id", call.id()).put("name", call.name())
                    .put("arguments", WireJson.arguments(call));
        }
    }

    @Override
    public ReadAnswer read(JsonNode document) throws UnreadableException, ProviderErrorException {
        WireJson.refuseError(document);
        StringBuilder text = new StringBuilder();
        StringBuilder refusal = new StringBuilder();
        List<Call> calls = new ArrayList<>();
        ArrayNode output = normal(document);
        for (JsonNode item : output) {
            switch (item.path("type").asString("")) {
                case "message" -> {
                    for (JsonNode part : item.path("content")) {
                        text.append(part.path("text").asString(""));
                        refusal.append(part.path("refusal").asString(""));
                    }
                }
                case "function_call" -> calls.add(WireJson.call(item.get("call_id").stringValue(),
                        item.path("name").asString(""), item.get("arguments").stringValue()));
                default -> {}
            }
        }
        Finish finish = switch (document.path("status").asString("")) {
            case "completed" -> WireJson.finished(calls, !refusal.isEmpty());
            case "incomplete" -> document.at("/incomplete_details/reason").asString("").equals("content_filter")
                    ? Finish.CONTENT_FILTER
                    : Finish.LENGTH;
            default -> throw new UnreadableException(
                    "the response has the status '" + document.path("status").asString("") + "'");
        };
        return new ReadAnswer((finish == Finish.REFUSAL ? refusal : text).toString(), calls, finish,
                reported(document), document.path("model").asString(null), output);
    }

    /** The items of an answer, with calls as the provider takes them back. */
    private static ArrayNode normal(JsonNode document) throws UnreadableException {
        ArrayNode output = Json.array();
        CallIds ids = new CallIds();
        for (JsonNode item : WireJson.list(document, "output")) {
            output.add(!item.path("type").asString("").equals("function_call") ? item
                    : ((ObjectNode) item.deepCopy()).put("call_id", ids.of(item.path("call_id").asString("")))
                            .put("arguments", WireJson.arguments(item.path("arguments"))));
        }
        return output;
    }

    @Override
    public @Nullable Tokens usage(JsonNode document) throws UnreadableException {
        JsonNode usage = document.path("usage");
        return usage.isObject() ? WireJson.includingCached(WireJson.need(usage, "input_tokens"),
                usage.at("/input_tokens_details/cached_tokens"), WireJson.need(usage, "output_tokens"),
                usage.at("/output_tokens_details/reasoning_tokens"), usage.path("total_tokens")) : null;
    }

    @Override
    public StreamedDocument streamed(long maxBytes) {
        return new Events(new OutputBound(maxBytes));
    }

    /** The last event has the whole response. */
    private static final class Events implements StreamedDocument {
        private final OutputBound bound;
        private @Nullable JsonNode document;
        private boolean complete;

        Events(OutputBound bound) {
            this.bound = bound;
        }

        @Override
        public String add(JsonNode data) throws UnreadableException, ProviderErrorException {
            String type = data.path("type").asString("");
            switch (type) {
                case "error" -> throw new ProviderErrorException(
                        data.path("error").isObject() ? data.get("error") : data);
                case "response.completed", "response.incomplete", "response.failed" -> {
                    document = WireJson.need(data, "response");
                    complete = true;
                }
                case "" -> throw new UnreadableException("an event has no 'type'");
                default -> {}
            }
            String part = type.endsWith(".delta") ? bound.take(data.path("delta").asString("")) : "";
            return type.equals("response.output_text.delta") ? part : "";
        }

        @Override
        public boolean complete() {
            return complete;
        }

        @Override
        public boolean whole() {
            return complete;
        }

        @Override
        public @Nullable JsonNode document() {
            return document;
        }
    }
}
