package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.base.json.Json;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A model's answer over one wire in the form of another. Its ids are made at its beginning, so that a stream and its record have the same. */
public final class LoweredAnswer {
    private final WireKind from;
    private final WireKind form;
    private final String model;
    private final long created;
    private final String id = UUID.randomUUID().toString().replace("-", "");

    /**
     * An answer that is about to come.
     *
     * @param from the wire of the model
     * @param form the wire of the program
     * @param model as the provider names it
     */
    LoweredAnswer(WireKind from, WireKind form, String model, Instant now) {
        this.from = from;
        this.form = form;
        this.model = model;
        this.created = now.getEpochSecond();
    }

    /** The document of an answer that has begun with a text, of which nothing has come. */
    public ObjectNode beginning() {
        return document(new ReadAnswer("", List.of(), Finish.STOP, Tokens.NONE, model, Json.array()), true);
    }

    /** The document of the whole answer, as it comes without a stream. */
    public ObjectNode whole(JsonNode document) {
        try {
            return document(Wire.of(from).read(document), false);
        } catch (UnreadableException | ProviderErrorException e) {
            throw new IllegalArgumentException("the answer was read before", e);
        }
    }

    private ObjectNode document(ReadAnswer answer, boolean withText) {
        boolean text = withText || !answer.text().isEmpty();
        Tokens used = Objects.requireNonNullElse(answer.usage(), Tokens.NONE);
        return switch (form) {
            case OPENAI_CHAT -> chat(answer, used);
            case OPENAI_RESPONSES -> response(answer, text, used);
            case ANTHROPIC_MESSAGES -> message(answer, text, used);
        };
    }

    private ObjectNode chat(ReadAnswer answer, Tokens used) {
        ObjectNode document = Json.object().put("id", "chatcmpl-" + id).put("object", "chat.completion")
                .put("created", created).put("model", model);
        ObjectNode choice = document.putArray("choices").addObject().put("index", 0);
        boolean refused = answer.finish() == Finish.REFUSAL;
        ObjectNode message = choice.putObject("message").put("role", "assistant")
                .put("content", refused || answer.text().isEmpty() && !answer.calls().isEmpty() ? null : answer.text())
                .put("refusal", refused ? answer.text() : null);
        if (!answer.calls().isEmpty()) {
            ArrayNode calls = message.putArray("tool_calls");
            for (Call call : answer.calls()) {
                calls.addObject().put("id", call.id()).put("type", "function").putObject("function")
                        .put("name", call.name()).put("arguments", WireJson.arguments(call));
            }
        }
        choice.put("finish_reason", switch (answer.finish()) {
            case STOP, REFUSAL -> "stop";
            case CALLS -> "tool_calls";
            case LENGTH -> "length";
            case CONTENT_FILTER -> "content_filter";
        });
        ObjectNode usage = document.putObject("usage").put("prompt_tokens", input(used))
                .put("completion_tokens", used.output()).put("total_tokens", input(used) + used.output());
        usage.putObject("prompt_tokens_details").put("cached_tokens", used.cacheRead());
        usage.putObject("completion_tokens_details").put("reasoning_tokens", used.reasoning());
        return document;
    }

    private ObjectNode response(ReadAnswer answer, boolean text, Tokens used) {
        boolean cut = answer.finish() == Finish.LENGTH || answer.finish() == Finish.CONTENT_FILTER;
        ObjectNode document = Json.object().put("id", "resp_" + id).put("object", "response")
                .put("created_at", created).put("status", cut ? "incomplete" : "completed").putNull("error");
        if (cut) {
            document.putObject("incomplete_details").put("reason",
                    answer.finish() == Finish.LENGTH ? "max_output_tokens" : "content_filter");
        } else {
            document.putNull("incomplete_details");
        }
        document.putNull("instructions").put("model", model).put("parallel_tool_calls", true).putNull(
                "previous_response_id").put("store", false).put("tool_choice", "auto");
        document.putArray("tools");
        document.putObject("metadata");
        ArrayNode output = document.putArray("output");
        String status = cut ? "incomplete" : "completed";
        if (text) {
            ObjectNode part = output.addObject().put("id", "msg_" + id).put("type", "message").put("status", status)
                    .put("role", "assistant").putArray("content").addObject();
            if (answer.finish() == Finish.REFUSAL) {
                part.put("type", "refusal").put("refusal", answer.text());
            } else {
                part.put("type", "output_text").put("text", answer.text()).putArray("annotations");
            }
        }
        int number = 0;
        for (Call call : answer.calls()) {
            output.addObject().put("id", "fc_" + id + number++).put("type", "function_call").put("status", status)
                    .put("call_id", call.id()).put("name", call.name()).put("arguments", WireJson.arguments(call));
        }
        ObjectNode usage = document.putObject("usage").put("input_tokens", input(used))
                .put("output_tokens", used.output()).put("total_tokens", input(used) + used.output());
        usage.putObject("input_tokens_details").put("cached_tokens", used.cacheRead());
        usage.putObject("output_tokens_details").put("reasoning_tokens", used.reasoning());
        return document;
    }

    private ObjectNode message(ReadAnswer answer, boolean text, Tokens used) {
        ObjectNode document = Json.object().put("id", "msg_" + id).put("type", "message").put("role", "assistant")
                .put("model", model);
        ArrayNode content = document.putArray("content");
        if (text) {
            content.addObject().put("type", "text").put("text", answer.text());
        }
        for (Call call : answer.calls()) {
            content.addObject().put("type", "tool_use").put("id", call.id()).put("name", call.name()).set("input",
                    call.input() == null ? Json.object() : call.input());
        }
        document.put("stop_reason", switch (answer.finish()) {
            case STOP -> "end_turn";
            case CALLS -> "tool_use";
            case LENGTH -> "max_tokens";
            case CONTENT_FILTER, REFUSAL -> "refusal";
        }).putNull("stop_sequence");
        document.putObject("usage").put("input_tokens", used.input())
                .put("cache_creation_input_tokens", used.cacheWrite()).put("cache_read_input_tokens", used.cacheRead())
                .put("output_tokens", used.output());
        return document;
    }

    private static long input(Tokens used) {
        return used.input() + used.cacheRead() + used.cacheWrite();
    }
}
