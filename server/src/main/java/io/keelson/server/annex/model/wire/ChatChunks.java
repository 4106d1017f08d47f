package io.keelson.server.annex.model.wire;

import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The chunks of a streamed chat completion. */
final class ChatChunks implements StreamedDocument {
    private final OutputBound bound;
    private final ObjectNode document = Json.object();
    private final Map<String, StringBuilder> texts = new LinkedHashMap<>();
    private final List<OpenCall> calls = new ArrayList<>();
    private final Map<String, OpenCall> open = new HashMap<>();
    private boolean begun;
    private boolean complete;

    /** @param arguments as far as they are a text */
    private record OpenCall(ObjectNode call, StringBuilder arguments) {

        private ObjectNode whole() {
            ObjectNode whole = call.deepCopy();
            if (!arguments.isEmpty()) {
                whole.withObjectProperty("function").put("arguments", arguments.toString());
            }
            return whole;
        }
    }

    ChatChunks(OutputBound bound) {
        this.bound = bound;
    }

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
            append(ChatWire.REASONING, delta);
            for (JsonNode call : delta.path("tool_calls")) {
                call(choice.path("index").asInt(0), call);
            }
            text.append(append("content", delta));
        }
        return text.toString();
    }

    private String append(String member, JsonNode delta) throws UnreadableException {
        String text = bound.take(delta.path(member).asString(""));
        if (!text.isEmpty()) {
            texts.computeIfAbsent(member, _ -> new StringBuilder()).append(text);
        }
        return text;
    }

    /**
     * The parts of a call have the index of their choice and their own; providers that send whole calls may leave theirs out, or
     * use one for several.
     */
    private void call(int choice, JsonNode part) throws UnreadableException {
        String place = choice + "/" + part.path("index").asString("");
        String id = part.path("id").asString("");
        OpenCall begun = open.get(place);
        boolean named = !part.at("/function/name").asString("").isEmpty();
        if (begun == null || !id.isBlank() && !id.equals(begun.call.path("id").asString(""))
                || named && !part.has("index")) {
            ObjectNode call = (ObjectNode) part.deepCopy();
            call.remove("index");
            begun = new OpenCall(call, new StringBuilder());
            open.put(place, begun);
            calls.add(begun);
        }
        begun.arguments.append(bound.take(part.path("function").path("arguments").asString("")));
    }

    @Override
    public boolean complete() {
        return complete;
    }

    @Override
    public boolean whole() {
        return document.has("finish_reason");
    }

    @Override
    public @Nullable JsonNode document() {
        if (!begun) {
            return null;
        }
        ObjectNode whole = document.deepCopy();
        ObjectNode said = Json.object();
        texts.forEach((member, text) -> said.put(member, text.toString()));
        said.put("role", "assistant");
        if (!calls.isEmpty()) {
            ArrayNode all = said.putArray("tool_calls");
            calls.forEach(call -> all.add(call.whole()));
        }
        JsonNode finish = whole.remove("finish_reason");
        whole.putArray("choices").addObject().set("message", said).set("finish_reason", finish);
        return whole;
    }
}
