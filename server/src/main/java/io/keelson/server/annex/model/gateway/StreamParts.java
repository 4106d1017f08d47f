package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The events of one stream for its client. Text passes at once. From the event that completes a call of a tool, or that ends the
 * answer, all events are held until the answer is recorded: programs act on the event.
 */
final class StreamParts {
    private static final Set<String> MESSAGE_ITEMS = Set.of("message", "reasoning");

    private final GatewayPath path;
    private final boolean usage;
    private final Set<Integer> calls = new HashSet<>();
    private boolean held;
    /** Whether a text has ended, and the event after it has not come. */
    private boolean textEnds;
    private boolean inText;

    /** @param usage whether the client wants the event of chat completions that has the usage */
    StreamParts(GatewayPath path, boolean usage) {
        this.path = path;
        this.usage = usage;
    }

    /**
     * Whether the event is held: until the end of the answer, or, if it ends a text, until the next event that is not held. Coding agents
     * keep a text that has ended, and go on behind it, when the answer breaks off before its calls.
     */
    boolean holds(JsonNode event) {
        boolean afterText = textEnds;
        textEnds =
                path == GatewayPath.MESSAGES && endsTextBlock(event) || path == GatewayPath.RESPONSES && endsText(event)
                        || afterText && event.path("type").asString("").equals("ping");
        held = held || switch (path) {
            case CHAT -> event.isString() || event.path("choices").valueStream().anyMatch(this::completesCall);
            case RESPONSES -> completesItem(event) || afterText && beginsCall(event);
            case MESSAGES -> completesBlock(event)
                    || afterText && event.at("/content_block/type").asString("").endsWith("tool_use");
            case EMBEDDINGS, COUNT_TOKENS -> true;
        };
        return held || textEnds;
    }

    private static boolean endsText(JsonNode event) {
        return event.path("type").asString("").equals("response.output_item.done")
                && event.at("/item/type").asString("").equals("message");
    }

    private static boolean beginsCall(JsonNode event) {
        return event.path("type").asString("").equals("response.output_item.added")
                && !MESSAGE_ITEMS.contains(event.at("/item/type").asString(""));
    }

    private boolean endsTextBlock(JsonNode event) {
        String type = event.path("type").asString("");
        boolean was = inText;
        inText = type.equals("content_block_start") ? event.at("/content_block/type").asString("").equals("text")
                : was && !type.equals("content_block_stop");
        return was && type.equals("content_block_stop");
    }

    /** A finish, or a call after another one, which is complete then. */
    private boolean completesCall(JsonNode choice) {
        choice.path("delta").path("tool_calls").forEach(call -> calls.add(call.path("index").asInt(calls.size())));
        return choice.hasNonNull("finish_reason") || calls.size() > 1;
    }

    private static boolean completesItem(JsonNode event) {
        String type = event.path("type").asString("");
        return switch (type) {
            case "response.completed", "response.failed", "response.incomplete", "error" -> true;
            case "response.output_item.done" -> !MESSAGE_ITEMS.contains(event.at("/item/type").asString(""));
            default -> type.endsWith("_call_arguments.done") || type.endsWith("_call_input.done");
        };
    }

    private boolean completesBlock(JsonNode event) {
        int index = event.path("index").asInt(-1);
        return switch (event.path("type").asString("")) {
            case "content_block_start" -> {
                if (event.at("/content_block/type").asString("").endsWith("tool_use")) {
                    calls.add(index);
                }
                yield false;
            }
            case "content_block_stop" -> calls.contains(index);
            case "message_delta", "message_stop" -> true;
            default -> false;
        };
    }

    /** The event's bytes for the client; null if the client does not request it. */
    byte @Nullable [] bytes(byte[] data, JsonNode event) {
        if (path == GatewayPath.CHAT) {
            boolean extra = !usage && event.path("choices").isEmpty() && event.has("usage");
            return extra ? null : event("", new String(data, StandardCharsets.UTF_8));
        }
        return event(event.path("type").asString(""), new String(data, StandardCharsets.UTF_8));
    }

    /** The event by which a stream without news stays open. */
    byte[] alive() {
        return path == GatewayPath.MESSAGES ? event("ping", "{\"type\": \"ping\"}")
                : ": keep\n\n".getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The event of a stream whose answer breaks off: an error in the form of the API.
     *
     * @param written events of the answer before it
     */
    static byte[] error(GatewayPath path, GatewayError error, int written) {
        ObjectNode document = path.error(error);
        if (path == GatewayPath.RESPONSES) {
            document.put("type", "error").put("code", error.code()).put("message", error.message()).putNull("param")
                    .put("sequence_number", written);
        }
        return event(path == GatewayPath.CHAT ? "" : "error", document);
    }

    static byte[] event(String name, JsonNode data) {
        return event(name, data.toString());
    }

    private static byte[] event(String name, String data) {
        return ((name.isEmpty() ? "" : "event: " + name + "\n") + "data: " + data.replace("\n", "\ndata: ") + "\n\n")
                .getBytes(StandardCharsets.UTF_8);
    }
}
