package io.keelson.server.annex.model.gateway;

import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The events of a stream out of a recorded answer, with the ids of the record. */
final class RecordedStream {
    private final List<byte[]> events = new ArrayList<>();
    private int sequence;

    private RecordedStream() {}

    /** @param usage whether the client wants the usage of a chat completion */
    static List<byte[]> of(GatewayPath path, JsonNode answer, boolean usage) {
        RecordedStream stream = new RecordedStream();
        switch (path) {
            case CHAT -> stream.chat(answer, usage);
            case RESPONSES -> stream.response(answer);
            case MESSAGES -> stream.message(answer);
            case EMBEDDINGS, COUNT_TOKENS -> throw new IllegalArgumentException("no stream: " + path);
        }
        return stream.events;
    }

    /** A stream whose texts come one after the other, and all other parts at its end. */
    static final class Live {
        private final GatewayPath path;
        private final ObjectNode begun;
        private final boolean usage;
        private int texts;

        /** @param begun the document of the answer with an empty text */
        Live(GatewayPath path, ObjectNode begun, boolean usage) {
            this.path = path;
            this.begun = begun;
            this.usage = usage;
        }

        /** The events for a part of the text. */
        List<byte[]> text(String part) {
            RecordedStream stream = new RecordedStream();
            if (texts++ == 0) {
                stream.events.addAll(of(path, begun, usage).subList(0, beforeText(path)));
            }
            switch (path) {
                case CHAT -> stream.chunk(chunkOf(begun), Json.object().put("content", part), null);
                case RESPONSES -> {
                    stream.sequence = beforeText(path) + texts - 1;
                    stream.numbered("response.output_text.delta").put("item_id", begun.at("/output/0/id").asString(""))
                            .put("output_index", 0).put("content_index", 0).put("delta", part).putArray("logprobs");
                    stream.addLast();
                }
                case MESSAGES -> stream.add(typed("content_block_delta").put("index", 0).set("delta",
                        typed("text_delta").put("text", part)));
                case EMBEDDINGS, COUNT_TOKENS -> throw new IllegalArgumentException("no stream: " + path);
            }
            return stream.events;
        }

        /** The further events of the answer. */
        List<byte[]> end(ObjectNode whole) {
            if (texts == 0) {
                return of(path, whole, usage);
            }
            RecordedStream stream = new RecordedStream();
            switch (path) {
                case CHAT -> stream.chat(withoutText(whole), usage);
                case RESPONSES -> {
                    stream.sequence = texts - 1;
                    stream.response(whole);
                }
                case MESSAGES -> stream.message(whole);
                case EMBEDDINGS, COUNT_TOKENS -> throw new IllegalArgumentException("no stream: " + path);
            }
            return stream.events.subList(path == GatewayPath.CHAT ? 0 : beforeText(path) + 1, stream.events.size());
        }

        private static ObjectNode withoutText(ObjectNode whole) {
            ObjectNode rest = whole.deepCopy();
            ((ObjectNode) rest.at("/choices/0/message")).remove(List.of("role", "content", "refusal"));
            return rest;
        }
    }

    /** Events before the first text of an answer that begins with a text. */
    private static int beforeText(GatewayPath path) {
        return switch (path) {
            case CHAT -> 1;
            case RESPONSES -> 4;
            case MESSAGES -> 2;
            case EMBEDDINGS, COUNT_TOKENS -> throw new IllegalArgumentException("no stream: " + path);
        };
    }

    private static ObjectNode chunkOf(JsonNode answer) {
        ObjectNode base = ((ObjectNode) answer).deepCopy();
        base.remove(List.of("choices", "usage"));
        return base.put("object", "chat.completion.chunk");
    }

    private void chat(JsonNode answer, boolean usage) {
        ObjectNode base = chunkOf(answer);
        JsonNode choice = answer.path("choices").path(0);
        ObjectNode delta = ((ObjectNode) choice.path("message")).deepCopy();
        ArrayNode calls = Json.array();
        int index = 0;
        for (JsonNode call : delta.path("tool_calls")) {
            ObjectNode part = Json.object().put("index", index++);
            part.setAll((ObjectNode) call);
            calls.add(part);
        }
        if (!calls.isEmpty()) {
            delta.set("tool_calls", calls);
        }
        chunk(base, delta, null);
        chunk(base, Json.object(), choice.path("finish_reason").asString("stop"));
        if (usage && answer.hasNonNull("usage")) {
            ObjectNode last = base.deepCopy();
            last.putArray("choices");
            events.add(StreamParts.event("", last.set("usage", answer.get("usage"))));
        }
        events.add("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
    }

    private void chunk(ObjectNode base, ObjectNode delta, @Nullable String finish) {
        ObjectNode chunk = base.deepCopy();
        ObjectNode choice = chunk.putArray("choices").addObject().put("index", 0);
        choice.set("delta", delta);
        choice.put("finish_reason", finish);
        events.add(StreamParts.event("", chunk));
    }

    private void message(JsonNode answer) {
        ObjectNode begun = ((ObjectNode) answer).deepCopy();
        begun.putArray("content");
        begun.putNull("stop_reason");
        begun.putNull("stop_sequence");
        ObjectNode start = typed("message_start");
        add(start.set("message", begun));
        int index = 0;
        for (JsonNode block : answer.path("content")) {
            block(index++, (ObjectNode) block);
        }
        ObjectNode end = typed("message_delta");
        end.putObject("delta").put("stop_reason", answer.path("stop_reason").asString("end_turn")).set("stop_sequence",
                answer.path("stop_sequence"));
        if (answer.path("stop_sequence").isMissingNode()) {
            ((ObjectNode) end.get("delta")).putNull("stop_sequence");
        }
        add(end.set("usage", answer.path("usage")));
        add(typed("message_stop"));
    }

    private void block(int index, ObjectNode block) {
        ObjectNode empty = block.deepCopy();
        List<ObjectNode> deltas = new ArrayList<>();
        String type = block.path("type").asString("");
        if (type.equals("text")) {
            empty.put("text", "");
            deltas.add(typed("text_delta").put("text", block.path("text").asString("")));
        } else if (type.equals("thinking")) {
            empty.put("thinking", "").put("signature", "");
            deltas.add(typed("thinking_delta").put("thinking", block.path("thinking").asString("")));
            deltas.add(typed("signature_delta").put("signature", block.path("signature").asString("")));
        } else if (type.endsWith("tool_use")) {
            empty.putObject("input");
            deltas.add(typed("input_json_delta").put("partial_json", block.path("input").toString()));
        }
        add(typed("content_block_start").put("index", index).set("content_block", empty));
        deltas.forEach(delta -> add(typed("content_block_delta").put("index", index).set("delta", delta)));
        add(typed("content_block_stop").put("index", index));
    }

    private void response(JsonNode answer) {
        ObjectNode begun = ((ObjectNode) answer).deepCopy();
        begun.put("status", "in_progress").putArray("output");
        begun.putNull("usage");
        numbered("response.created").set("response", begun);
        addLast();
        numbered("response.in_progress").set("response", begun);
        addLast();
        int index = 0;
        for (JsonNode item : answer.path("output")) {
            item(index++, (ObjectNode) item);
        }
        String status = answer.path("status").asString("completed");
        numbered("response." + (status.equals("incomplete") || status.equals("failed") ? status : "completed"))
                .set("response", answer);
        addLast();
    }

    private void item(int index, ObjectNode item) {
        String id = item.path("id").asString("");
        ObjectNode empty = item.deepCopy();
        String type = item.path("type").asString("");
        if (type.equals("message")) {
            empty.put("status", "in_progress").putArray("content");
        } else if (type.equals("function_call")) {
            empty.put("status", "in_progress").put("arguments", "");
        }
        numbered("response.output_item.added").put("output_index", index).set("item", empty);
        addLast();
        if (type.equals("message")) {
            int at = 0;
            for (JsonNode part : item.path("content")) {
                part(index, at++, id, (ObjectNode) part);
            }
        } else if (type.equals("function_call")) {
            String arguments = item.path("arguments").asString("");
            numbered("response.function_call_arguments.delta").put("item_id", id).put("output_index", index)
                    .put("delta", arguments);
            addLast();
            numbered("response.function_call_arguments.done").put("item_id", id).put("output_index", index)
                    .put("name", item.path("name").asString("")).put("arguments", arguments);
            addLast();
        }
        numbered("response.output_item.done").put("output_index", index).set("item", item);
        addLast();
    }

    private void part(int index, int at, String id, ObjectNode part) {
        boolean text = part.path("type").asString("").equals("output_text");
        String said = part.path(text ? "text" : "refusal").asString("");
        String name = text ? "response.output_text" : "response.refusal";
        ObjectNode empty = part.deepCopy().put(text ? "text" : "refusal", "");
        numbered("response.content_part.added").put("item_id", id).put("output_index", index).put("content_index", at)
                .set("part", empty);
        addLast();
        numbered(name + ".delta").put("item_id", id).put("output_index", index).put("content_index", at)
                .put("delta", said).putArray("logprobs");
        addLast();
        numbered(name + ".done").put("item_id", id).put("output_index", index).put("content_index", at)
                .put(text ? "text" : "refusal", said).putArray("logprobs");
        addLast();
        numbered("response.content_part.done").put("item_id", id).put("output_index", index).put("content_index", at)
                .set("part", part);
        addLast();
    }

    private ObjectNode last = Json.object();

    private ObjectNode numbered(String type) {
        last = typed(type).put("sequence_number", sequence++);
        return last;
    }

    private void addLast() {
        add(last);
    }

    private static ObjectNode typed(String type) {
        return Json.object().put("type", type);
    }

    private void add(ObjectNode event) {
        events.add(StreamParts.event(event.path("type").asString(""), event));
    }
}
