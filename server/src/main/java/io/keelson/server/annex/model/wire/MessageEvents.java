package io.keelson.server.annex.model.wire;

import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The events of a streamed message of Anthropic. */
final class MessageEvents implements StreamedDocument {
    private static final String INPUT = "input";

    private final OutputBound bound;
    private @Nullable ObjectNode document;
    /** Texts of the last block by member; the arguments of a call are {@link #INPUT}. */
    private final Map<String, StringBuilder> texts = new LinkedHashMap<>();
    private boolean complete;

    MessageEvents(OutputBound bound) {
        this.bound = bound;
    }

    @Override
    public String add(JsonNode data) throws UnreadableException, ProviderErrorException {
        String type = data.path("type").asString("");
        if (type.equals("error")) {
            throw new ProviderErrorException(data.path("error"));
        }
        if (type.equals("message_start")) {
            if (!(data.path("message") instanceof ObjectNode message)) {
                throw new UnreadableException("an event has no 'message'");
            }
            document = message.deepCopy();
            return "";
        }
        ObjectNode begun = document;
        if (begun == null) {
            if (type.equals("ping")) {
                return "";
            }
            throw new UnreadableException("the answer does not begin with 'message_start'");
        }
        return switch (type) {
            case "content_block_start" -> {
                end(begun);
                begun.withArrayProperty("content").add(WireJson.need(data, "content_block"));
                yield "";
            }
            case "content_block_delta" -> delta(last(begun), data.path("delta"));
            case "content_block_stop" -> {
                last(begun);
                end(begun);
                yield "";
            }
            case "message_delta" -> {
                begun.setAll((ObjectNode) WireJson.need(data, "delta"));
                data.path("usage").propertyStream().filter(member -> !member.getValue().isNull())
                        .forEach(member -> begun.withObjectProperty("usage").set(member.getKey(),
                                member.getValue()));
                yield "";
            }
            case "message_stop" -> {
                complete = true;
                yield "";
            }
            default -> "";
        };
    }

    private static ObjectNode last(ObjectNode message) throws UnreadableException {
        JsonNode content = message.path("content");
        if (content.isEmpty() || !(content.get(content.size() - 1) instanceof ObjectNode block)) {
            throw new UnreadableException("a part of the answer belongs to no block");
        }
        return block;
    }

    private String delta(ObjectNode block, JsonNode delta) throws UnreadableException {
        switch (delta.path("type").asString("")) {
            case "text_delta" -> append(block, "text", delta.path("text"));
            case "thinking_delta" -> append(block, "thinking", delta.path("thinking"));
            case "signature_delta" -> append(block, "signature", delta.path("signature"));
            case "input_json_delta" -> append(Json.object(), INPUT, delta.path("partial_json"));
            default -> {}
        }
        return delta.path("text").asString("");
    }

    /** @param block has the beginning of the text */
    private void append(ObjectNode block, String member, JsonNode more) throws UnreadableException {
        texts.computeIfAbsent(member, _ -> new StringBuilder(block.path(member).asString("")))
                .append(bound.take(more.asString("")));
    }

    /** Puts its texts into the last block. */
    private void end(ObjectNode message) {
        JsonNode content = message.path("content");
        if (!content.isEmpty() && content.get(content.size() - 1) instanceof ObjectNode block) {
            texts.forEach((member, text) -> {
                if (member.equals(INPUT)) {
                    input(block, text.toString());
                } else {
                    block.put(member, text.toString());
                }
            });
        }
        texts.clear();
    }

    /** The arguments of a call have come as a text; where it is no JSON, the block has the text. */
    private static void input(ObjectNode block, String text) {
        if (text.isEmpty()) {
            return;
        }
        try {
            block.set(INPUT, OutsideJson.readStrict(text.getBytes(StandardCharsets.UTF_8)));
        } catch (JacksonException e) {
            block.put(INPUT, text);
        }
    }

    @Override
    public boolean complete() {
        return complete;
    }

    @Override
    public boolean whole() {
        return document != null && document.hasNonNull("stop_reason");
    }

    @Override
    public @Nullable JsonNode document() {
        if (document != null) {
            end(document);
        }
        return document;
    }
}
