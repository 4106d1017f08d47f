package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.CallResult;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Anthropic's messages. The provider caches up to three marks: the tools with the instructions, and the last two messages that are
 * not the model's. The marks move from request to request; all other bytes stay.
 */
final class MessagesWire implements Wire {
    private static final int MARKED_MESSAGES = 2;

    @Override
    public String path() {
        return "/v1/messages";
    }

    @Override
    public Map<String, String> headers(String apiKey) {
        Map<String, String> headers = new TreeMap<>(Map.of("anthropic-version", "2023-06-01"));
        if (!apiKey.isEmpty()) {
            headers.put("x-api-key", apiKey);
        }
        return headers;
    }

    @Override
    public ObjectNode body(ModelEndpoint endpoint, ModelRequest request, boolean stream) {
        ObjectNode body = Json.object().put("model", endpoint.model()).put("max_tokens", request.maxOutputTokens());
        if (stream) {
            body.put("stream", true);
        }
        JsonNode schema = request.outputSchema();
        if (schema != null) {
            body.putObject("output_config").putObject("format").put("type", "json_schema").set("schema", schema);
        }
        if (!request.tools().isEmpty()) {
            body.putObject("tool_choice").put("type", choice(request.toolChoice()));
            ArrayNode tools = body.putArray("tools");
            for (ToolSchema tool : WireJson.sorted(request.tools())) {
                tools.addObject().put("name", tool.name()).put("description", tool.description())
                        .set("input_schema", tool.inputSchema());
            }
        }
        if (!request.instructions().isBlank()) {
            mark(body.putArray("system").addObject().put("type", "text").put("text", request.instructions()));
        } else if (!request.tools().isEmpty()) {
            mark((ObjectNode) body.get("tools").get(request.tools().size() - 1));
        }
        ArrayNode messages = body.putArray("messages");
        request.messages().forEach(message -> add(messages, endpoint, message));
        markLast(messages);
        return body;
    }

    private static String choice(ToolChoice choice) {
        return switch (choice) {
            case AUTO -> "auto";
            case NONE -> "none";
            case REQUIRED -> "any";
        };
    }

    private static void markLast(ArrayNode messages) {
        int marked = 0;
        for (int i = messages.size() - 1; i >= 0 && marked < MARKED_MESSAGES; i--) {
            JsonNode content = messages.get(i).path("content");
            if (messages.get(i).path("role").asString("").equals("user") && !content.isEmpty()) {
                mark((ObjectNode) content.get(content.size() - 1));
                marked++;
            }
        }
    }

    private static void mark(ObjectNode block) {
        block.putObject("cache_control").put("type", "ephemeral");
    }

    private static void add(ArrayNode messages, ModelEndpoint endpoint, Message message) {
        switch (message) {
            case Message.User(String text) -> content(messages, "user").addObject().put("type", "text").put("text",
                    text);
            case Message.Assistant assistant -> {
                ArrayNode blocks = blocks(endpoint, assistant);
                if (!blocks.isEmpty()) {
                    content(messages, "assistant").addAll(blocks);
                }
            }
            case Message.ToolResults(List<CallResult> results) -> {
                ArrayNode content = content(messages, "user");
                results.forEach(result -> {
                    ObjectNode block = content.addObject().put("type", "tool_result")
                            .put("tool_use_id", result.callId()).put("content", result.text());
                    if (result.isError()) {
                        block.put("is_error", true);
                    }
                });
            }
        }
    }

    private static ArrayNode content(ArrayNode messages, String role) {
        return messages.addObject().put("role", role).putArray("content");
    }

    /** Leaves out texts without characters and arguments that are no object, as the provider refuses both. */
    private static ArrayNode blocks(ModelEndpoint endpoint, Message.Assistant assistant) {
        ArrayNode content = Json.array();
        JsonNode own = WireJson.message(endpoint, assistant);
        if (own != null) {
            for (JsonNode block : own) {
                String type = block.path("type").asString("");
                if (type.equals("tool_use") && !block.path("input").isObject()) {
                    content.add(((ObjectNode) block.deepCopy()).set("input", Json.object()));
                } else if (!type.equals("text") || !block.path("text").asString("").isBlank()) {
                    content.add(block.deepCopy());
                }
            }
            return content;
        }
        if (!assistant.text().isBlank()) {
            content.addObject().put("type", "text").put("text", assistant.text());
        }
        for (Call call : assistant.calls()) {
            content.addObject().put("type", "tool_use").put("id", call.id()).put("name", call.name()).set("input",
                    call.input() == null ? Json.object() : call.input());
        }
        return content;
    }

    @Override
    public ReadAnswer read(JsonNode document) throws UnreadableException, ProviderErrorException {
        WireJson.refuseError(document);
        StringBuilder text = new StringBuilder();
        List<Call> calls = new ArrayList<>();
        ArrayNode content = normal(document);
        for (JsonNode block : content) {
            switch (block.path("type").asString("")) {
                case "text" -> text.append(block.path("text").asString(""));
                case "tool_use" -> {
                    JsonNode input = block.path("input");
                    calls.add(new Call(block.get("id").stringValue(), block.path("name").asString(""),
                            input.isObject() ? input : null,
                            input.isString() ? input.stringValue() : input.toString()));
                }
                default -> {}
            }
        }
        Finish finish = switch (document.path("stop_reason").asString("")) {
            case "max_tokens", "model_context_window_exceeded" -> Finish.LENGTH;
            case "refusal" -> Finish.REFUSAL;
            case "" -> throw new UnreadableException("the answer has no 'stop_reason'");
            default -> WireJson.finished(calls, false);
        };
        return new ReadAnswer(text.toString(), calls, finish, reported(document),
                document.path("model").asString(null), content);
    }

    /** The blocks of an answer, with calls as the provider takes them back. */
    private static ArrayNode normal(JsonNode document) throws UnreadableException {
        ArrayNode content = Json.array();
        CallIds ids = new CallIds();
        for (JsonNode block : WireJson.list(document, "content")) {
            if (block.path("type").asString("").equals("tool_use")) {
                ObjectNode call = ((ObjectNode) block.deepCopy()).put("id", ids.of(block.path("id").asString("")));
                JsonNode input = block.path("input");
                content.add(WireJson.arguments(input).equals("{}") ? call.set("input", Json.object()) : call);
            } else {
                content.add(block);
            }
        }
        return content;
    }

    @Override
    public @Nullable Tokens usage(JsonNode document) throws UnreadableException {
        JsonNode usage = document.path("usage");
        return usage.isObject() ? new Tokens(WireJson.count(WireJson.need(usage, "input_tokens")),
                WireJson.count(usage.path("cache_read_input_tokens")),
                WireJson.count(usage.path("cache_creation_input_tokens")),
                WireJson.count(WireJson.need(usage, "output_tokens")), 0) : null;
    }

    @Override
    public StreamedDocument streamed(long maxBytes) {
        return new MessageEvents(new OutputBound(maxBytes));
    }
}
