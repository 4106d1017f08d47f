package io.keelson.server.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.json.Json;
import io.keelson.server.model.Call;
import io.keelson.server.model.Finish;
import io.keelson.server.model.Message;
import io.keelson.server.model.ToolSchema;
import io.keelson.server.model.WireKind;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What the wires have in common. */
final class WireJson {

    private WireJson() {}

    static List<ToolSchema> sorted(List<ToolSchema> tools) {
        return tools.stream().sorted(Comparator.comparing(ToolSchema::name)).toList();
    }

    /** A provider's message with the name of its wire, as {@link Message.Assistant#raw} has it. */
    static ObjectNode raw(WireKind wire, JsonNode message) {
        return Json.object().put("wire", wire.wire()).set("message", message);
    }

    /** The provider's message if it came over this wire, else null. */
    static @Nullable JsonNode message(WireKind wire, Message.Assistant assistant) {
        JsonNode raw = assistant.raw();
        return raw != null && raw.path("wire").asString("").equals(wire.wire()) ? raw.path("message") : null;
    }

    /** A call of a tool; its input is null when the arguments are no JSON object. No arguments are an empty object. */
    static Call call(String id, String name, String arguments) {
        try {
            JsonNode input = arguments.isBlank() ? Json.object() : Json.read(arguments);
            return new Call(id, name, input.isObject() ? input : null, arguments);
        } catch (JacksonException e) {
            return new Call(id, name, null, arguments);
        }
    }

    /** Calls and refusals decide on an answer that ended by itself. */
    static Finish finished(List<Call> calls, boolean refused) {
        return refused ? Finish.REFUSAL : calls.isEmpty() ? Finish.STOP : Finish.CALLS;
    }

    /**
     * Tokens of which the provider counts those from its cache among the input.
     *
     * @throws UnreadableException when the figures contradict each other
     */
    static Tokens includingCached(JsonNode input, JsonNode cached, JsonNode output, JsonNode reasoning)
            throws UnreadableException {
        long read = count(cached);
        if (read > count(input) || count(reasoning) > count(output)) {
            throw new UnreadableException("the reported tokens contradict each other");
        }
        return new Tokens(count(input) - read, read, 0, count(output), count(reasoning));
    }

    /**
     * A number of tokens; 0 where none is reported.
     *
     * @throws UnreadableException when it is no count
     */
    static long count(JsonNode number) throws UnreadableException {
        if (number.isMissingNode() || number.isNull()) {
            return 0;
        }
        if (!number.isIntegralNumber() || !number.canConvertToInt() || number.intValue() < 0) {
            throw new UnreadableException("a reported number of tokens is no count");
        }
        return number.intValue();
    }

    /** A member of a document that must be there. */
    static JsonNode need(JsonNode document, String member) throws UnreadableException {
        JsonNode value = document.path(member);
        if (value.isMissingNode() || value.isNull()) {
            throw new UnreadableException("the answer has no '" + member + "'");
        }
        return value;
    }

    /**
     * Whether a schema has the strict form that providers can enforce: each object lists all its members as required and allows
     * no others.
     */
    static boolean strict(JsonNode schema) {
        if (schema.isArray()) {
            return schema.valueStream().allMatch(WireJson::strict);
        }
        boolean closed = !schema.path("type").asString("").equals("object") && !schema.has("properties")
                || schema.has("additionalProperties") && !schema.get("additionalProperties").asBoolean(true)
                        && schema.path("required").size() == schema.path("properties").size();
        return closed && schema.propertyStream().allMatch(member -> !member.getValue().isContainer()
                || strict(member.getKey().equals("properties") ? Json.array().addAll(
                        member.getValue().valueStream().toList()) : member.getValue()));
    }
}
