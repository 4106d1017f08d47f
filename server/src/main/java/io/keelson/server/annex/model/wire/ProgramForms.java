package io.keelson.server.annex.model.wire;

import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Reads requests of programs over each wire into the neutral form, and refuses all that has no place in it. */
final class ProgramForms {
    private static final Set<String> TEXT = Set.of("text");
    private static final Set<String> ITEM_TEXT = Set.of("text", "input_text", "output_text");
    /** Bounds of output, and members that are passed on in addition to the neutral form. */
    private static final String[] BESIDE = {"model", "stream", "stream_options", "max_tokens", "max_completion_tokens",
            "max_output_tokens", "temperature", "top_p", "stop", "stop_sequences"};
    /** Members that name the caller, or tell a provider how to store and to cache. */
    private static final String[] OF_THE_CALLER = {"user", "metadata", "client_metadata", "store", "safety_identifier",
            "prompt_cache_key", "prompt_cache_retention", "cache_control"};

    private ProgramForms() {}

    static ModelRequest read(WireKind form, JsonNode body) throws UnfitException {
        Members request = new Members(body, "").ignore(BESIDE).ignore(OF_THE_CALLER)
                .only("service_tier", "auto", "default", "standard_only").only("parallel_tool_calls", "true")
                .only("n", "1").only("background", "false").only("truncation", "disabled").only("logprobs", "false");
        Conversation conversation = new Conversation();
        switch (form) {
            case OPENAI_CHAT -> chat(request, conversation);
            case OPENAI_RESPONSES -> responses(request, conversation);
            case ANTHROPIC_MESSAGES -> messages(request, conversation);
        }
        List<ToolSchema> tools = tools(request.take("tools"));
        ToolChoice choice = choice(request.take("tool_choice"));
        request.end();
        return new ModelRequest(conversation.instructions(), conversation.messages(), tools, choice, null, 1);
    }

    private static void plainText(JsonNode format, String place) throws UnfitException {
        Members members = new Members(format, place + ".");
        members.only("type", "text");
        members.end();
    }

    private static void chat(Members request, Conversation conversation) throws UnfitException {
        plainText(request.take("response_format"), "response_format");
        for (JsonNode each : request.take("messages")) {
            Members message = new Members(each, "messages.").ignore("name");
            String role = message.text("role");
            String text = Members.text(message.take("content"), "messages", TEXT);
            switch (role) {
                case "system", "developer" -> conversation.instruct(text);
                case "user" -> conversation.addUser(text);
                case "assistant" -> {
                    conversation.addText(text);
                    message.ignore("refusal", "annotations", "parsed", ChatWire.REASONING);
                    for (JsonNode call : message.take("tool_calls")) {
                        if (!call.path("type").asString("function").equals("function")) {
                            throw new UnfitException("a call of the type '"
                                    + Excerpt.piece(call.path("type").asString("")) + "'");
                        }
                        conversation.addCall(WireJson.call(call.path("id").asString(""),
                                call.at("/function/name").asString(""),
                                WireJson.arguments(call.at("/function/arguments"))));
                    }
                }
                case "tool" -> conversation.addResult(message.text("tool_call_id"), text, false);
                default -> throw new UnfitException("a message of the role '" + Excerpt.piece(role) + "'");
            }
            message.end();
        }
    }

    private static void responses(Members request, Conversation conversation) throws UnfitException {
        Members text = new Members(request.take("text"), "text.");
        plainText(text.take("format"), "text.format");
        text.only("verbosity", "medium").end();
        // reasoning is not carried over to the next request
        for (JsonNode include : request.take("include")) {
            if (!include.asString("").equals("reasoning.encrypted_content")) {
                throw new UnfitException("'include' with " + Excerpt.piece(include.toString()));
            }
        }
        conversation.instruct(request.text("instructions"));
        JsonNode input = request.take("input");
        if (input.isString()) {
            conversation.addUser(input.stringValue());
            return;
        }
        for (JsonNode item : input) {
            item(item, conversation);
        }
    }

    private static void item(JsonNode each, Conversation conversation) throws UnfitException {
        String type = each.path("type").asString("message");
        Members item = new Members(each, "input.").ignore("type", "id", "status", "phase");
        switch (type) {
            case "message" -> {
                String said = Members.text(item.take("content"), "input", ITEM_TEXT);
                String role = item.text("role");
                switch (role) {
                    case "system", "developer" -> conversation.instruct(said);
                    case "user" -> conversation.addUser(said);
                    case "assistant" -> conversation.addText(said);
                    default -> throw new UnfitException("a message of the role '" + Excerpt.piece(role) + "'");
                }
            }
            case "function_call" -> conversation.addCall(WireJson.call(item.text("call_id"), item.text("name"),
                    WireJson.arguments(item.take("arguments"))));
            case "function_call_output" -> conversation.addResult(item.text("call_id"),
                    Members.text(item.take("output"), "input", ITEM_TEXT), false);
            case "reasoning" -> {
                return;
            }
            default -> throw new UnfitException("an item of the type '" + Excerpt.piece(type) + "'");
        }
        item.end();
    }

    private static void messages(Members request, Conversation conversation) throws UnfitException {
        new Members(request.take("thinking"), "thinking.").only("type", "disabled").end();
        conversation.instruct(Members.text(request.take("system"), "system", TEXT));
        for (JsonNode message : request.take("messages")) {
            String role = message.path("role").asString("");
            if (!role.equals("user") && !role.equals("assistant")) {
                throw new UnfitException("a message of the role '" + Excerpt.piece(role) + "'");
            }
            JsonNode content = message.path("content");
            if (content.isString()) {
                say(conversation, role, content.stringValue());
            }
            for (JsonNode block : content) {
                block(block, role, conversation);
            }
        }
    }

    private static void say(Conversation conversation, String role, String text) {
        if (role.equals("user")) {
            conversation.addUser(text);
        } else {
            conversation.addText(text);
        }
    }

    private static void block(JsonNode each, String role, Conversation conversation) throws UnfitException {
        Members block = new Members(each, "messages.content.").ignore("type", "cache_control", "citations", "caller");
        String type = each.path("type").asString("");
        switch (type) {
            case "text" -> say(conversation, role, block.text("text"));
            case "tool_use" -> conversation.addCall(WireJson.call(block.text("id"), block.text("name"),
                    WireJson.arguments(block.take("input"))));
            case "tool_result" -> conversation.addResult(block.text("tool_use_id"),
                    Members.text(block.take("content"), "a result", TEXT), block.take("is_error").asBoolean(false));
            case "thinking", "redacted_thinking" -> {
                return;
            }
            default -> throw new UnfitException("a block of the type '" + Excerpt.piece(type) + "'");
        }
        block.end();
    }

    private static List<ToolSchema> tools(JsonNode tools) throws UnfitException {
        List<ToolSchema> all = new ArrayList<>();
        for (JsonNode each : tools) {
            Members tool = new Members(each, "tools.").only("type", "function", "custom");
            JsonNode inner = tool.take("function");
            Members described = inner.isObject() ? new Members(inner, "tools.function.") : tool;
            described.ignore("strict", "cache_control", "eager_input_streaming");
            String name = described.text("name");
            String description = described.text("description");
            JsonNode openai = described.take("parameters");
            JsonNode schema = openai.isObject() ? openai : described.take("input_schema");
            all.add(new ToolSchema(name, description, schema.isObject() ? schema
                    : Json.object().put("type", "object").set("properties", Json.object())));
            described.end();
            tool.end();
        }
        return all;
    }

    private static ToolChoice choice(JsonNode choice) throws UnfitException {
        if (choice.isMissingNode() || choice.isNull()) {
            return ToolChoice.AUTO;
        }
        Members members = new Members(choice, "tool_choice.").only("disable_parallel_tool_use", "false");
        String type = choice.isObject() ? members.text("type") : choice.asString("");
        if (choice.isObject()) {
            members.end();
        }
        return switch (type) {
            case "auto" -> ToolChoice.AUTO;
            case "none" -> ToolChoice.NONE;
            case "required", "any" -> ToolChoice.REQUIRED;
            default -> throw new UnfitException("'tool_choice' with " + Excerpt.piece(choice.toString()));
        };
    }
}
