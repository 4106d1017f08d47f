package io.keelson.devmodel;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Anthropic's messages. Input tokens exclude those read from a cache or written to one, reasoning tokens are not counted
 * apart, and a refusal is a reason to stop.
 */
final class MessagesProviderWire implements ProviderWire {

    @Override
    public String name() {
        return "anthropic-messages";
    }

    @Override
    public String path() {
        return "/v1/messages";
    }

    @Override
    public String requestIdHeader() {
        return "request-id";
    }

    @Override
    public Conversation read(JsonNode body) throws BadRequestException {
        Conversation conversation = new Conversation(body);
        if (!body.path("max_tokens").isIntegralNumber()) {
            throw new BadRequestException("max_tokens: Field required");
        }
        if (body.path("messages").isEmpty()) {
            throw new BadRequestException("messages: at least one message is required");
        }
        conversation.system(Conversation.text(body.path("system")));
        for (JsonNode message : body.get("messages")) {
            switch (message.path("role").asString("")) {
                case "system" -> conversation.system(Conversation.text(message.path("content")));
                case "user" -> user(conversation, message.path("content"));
                case "assistant" -> {
                    conversation.assistant();
                    for (JsonNode block : message.path("content")) {
                        if (block.path("type").asString("").equals("tool_use")) {
                            conversation.call(block.path("id").asString(""), block.path("name").asString(""));
                        }
                    }
                }
                default -> throw new BadRequestException("messages: unknown role " + message.path("role"));
            }
        }
        conversation.requireResults();
        body.path("tools")
                .forEach(tool -> conversation.tool(tool.path("name").asString(""), tool.path("input_schema")));
        JsonNode choice = body.path("tool_choice");
        if (List.of("any", "tool").contains(choice.path("type").asString(""))) {
            conversation.forceTool(choice.path("name").asString(""));
        }
        JsonNode format = body.has("output_format") ? body.get("output_format") : body.at("/output_config/format");
        if (format.path("type").asString("").equals("json_schema")) {
            conversation.schema(format.path("schema"));
        }
        return conversation;
    }

    private static void user(Conversation conversation, JsonNode content) throws BadRequestException {
        for (JsonNode block : content) {
            if (block.path("type").asString("").equals("tool_result")) {
                conversation.result(block.path("tool_use_id").asString(""), Conversation.text(block.path("content")));
            }
        }
        String text = Conversation.text(content);
        if (!text.isEmpty()) {
            conversation.user(text);
        }
    }

    @Override
    public BilledTokens reported(BilledTokens usage) {
        return new BilledTokens(usage.input(), usage.cacheRead(), usage.cacheWrite(), usage.output(), 0);
    }

    @Override
    public ObjectNode answer(ModelReply reply) {
        ObjectNode answer = head(reply, usage(reply.usage(), reply.usage().output()));
        blocks(reply).forEach(answer.withArrayProperty("content")::add);
        return answer.put("stop_reason", stop(reply));
    }

    @Override
    public List<String> stream(ModelReply reply) {
        EventList events = new EventList();
        ObjectNode start = head(reply, usage(reply.usage(), Math.min(1, reply.usage().output())));
        event(events, "message_start", Json.object().set("message", start));
        List<ObjectNode> blocks = blocks(reply);
        for (int i = 0; i < blocks.size(); i++) {
            int index = i;
            ObjectNode block = blocks.get(i);
            ObjectNode empty = block.deepCopy();
            String type = block.get("type").stringValue();
            boolean call = type.equals("tool_use");
            String whole = call
                    ? reply.calls().get(i - blocks.size() + reply.calls().size()).arguments()
                    : block.get(type).stringValue();
            if (call) {
                empty.putObject("input");
            } else {
                empty.put(type, "");
            }
            if (type.equals("thinking")) {
                empty.put("signature", "");
            }
            event(events, "content_block_start", Json.object().put("index", i).set("content_block", empty));
            if (i == 0) {
                event(events, "ping", Json.object());
            }
            EventList.pieces(whole, text -> delta(events, index, call ? "input_json_delta" : type + "_delta",
                    call ? "partial_json" : type, text));
            if (type.equals("thinking")) {
                delta(events, index, "signature_delta", "signature", block.get("signature").stringValue());
            }
            event(events, "content_block_stop", Json.object().put("index", i));
        }
        ObjectNode end = Json.object();
        end.putObject("delta").put("stop_reason", stop(reply)).putNull("stop_sequence");
        event(events, "message_delta", end.set("usage", usage(reply.usage(), reply.usage().output())));
        event(events, "message_stop", Json.object());
        return events.all();
    }

    @Override
    public ObjectNode error(int status, JsonNode stated, String requestId) {
        ObjectNode body = Json.object().put("type", "error");
        body.putObject("error").put("type", stated.path("type").asString(type(status)))
                .put("message", stated.path("message").asString("dev-model answers " + status + " by its script"));
        return body.put("request_id", requestId);
    }

    private static String type(int status) {
        return switch (status) {
            case 401 -> "authentication_error";
            case 402 -> "billing_error";
            case 403 -> "permission_error";
            case 404 -> "not_found_error";
            case 413 -> "request_too_large";
            case 429 -> "rate_limit_error";
            case 504 -> "timeout_error";
            case 529 -> "overloaded_error";
            default -> status < 500 ? "invalid_request_error" : "api_error";
        };
    }

    private static void event(EventList events, String type, ObjectNode members) {
        ObjectNode data = Json.object().put("type", type);
        data.setAll(members);
        events.event(type, data);
    }

    private static void delta(EventList events, int index, String type, String member, String text) {
        ObjectNode members = Json.object().put("index", index);
        members.putObject("delta").put("type", type).put(member, text);
        event(events, "content_block_delta", members);
    }

    private static ObjectNode head(ModelReply reply, ObjectNode usage) {
        ObjectNode head = Json.object().put("id", "msg_" + reply.key()).put("type", "message").put("role", "assistant")
                .put("model", reply.model());
        head.putArray("content");
        return head.putNull("stop_reason").putNull("stop_sequence").set("usage", usage.put("service_tier", "standard"));
    }

    /** Thinking, text or refusal, then calls. */
    private static List<ObjectNode> blocks(ModelReply reply) {
        List<ObjectNode> blocks = new ArrayList<>();
        if (reply.thinking() != null) {
            blocks.add(Json.object().put("type", "thinking").put("thinking", reply.thinking())
                    .put("signature", "c2lnbmF0dXJl" + reply.key()));
        }
        String text = reply.text() == null ? reply.refusal() : reply.text();
        if (text != null) {
            blocks.add(Json.object().put("type", "text").put("text", text));
        }
        for (ModelReply.Call call : reply.calls()) {
            blocks.add(Json.object().put("type", "tool_use").put("id", "toolu_" + call.key()).put("name", call.tool())
                    .set("input", call.input()));
        }
        return blocks;
    }

    private static String stop(ModelReply reply) {
        return switch (reply.finish()) {
            case LENGTH -> "max_tokens";
            case CONTENT_FILTER -> "refusal";
            case STOP -> reply.refusal() != null ? "refusal" : reply.calls().isEmpty() ? "end_turn" : "tool_use";
        };
    }

    private static ObjectNode usage(BilledTokens usage, long output) {
        return Json.object().put("input_tokens", usage.input()).put("cache_creation_input_tokens", usage.cacheWrite())
                .put("cache_read_input_tokens", usage.cacheRead()).put("output_tokens", output);
    }
}
