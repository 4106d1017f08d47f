package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Helpers of all wires. */
final class WireJson {

    private WireJson() {}

    static List<ToolSchema> sorted(List<ToolSchema> tools) {
        return tools.stream().sorted(Comparator.comparing(ToolSchema::name)).toList();
    }

    /** A provider's message with the names of its wire and model, as {@link Message.Assistant#raw} has it. */
    static ObjectNode raw(ModelEndpoint endpoint, JsonNode message) {
        return Json.object().put("wire", endpoint.wire().wire()).put("model", endpoint.model()).set("message", message);
    }

    /** The provider's message if this model wrote it over this wire, else null: no other model can read its reasoning. */
    static @Nullable JsonNode message(ModelEndpoint endpoint, Message.Assistant assistant) {
        JsonNode raw = assistant.raw();
        return raw != null && raw.path("wire").asString("").equals(endpoint.wire().wire())
                && raw.path("model").asString("").equals(endpoint.model()) ? raw.path("message") : null;
    }

    /** A call of a tool; its input is null when the arguments are not a JSON object. */
    static Call call(String id, String name, String arguments) {
        try {
            JsonNode input = OutsideJson.readStrict(arguments.getBytes(StandardCharsets.UTF_8));
            return new Call(id, name, input.isObject() ? input : null, arguments);
        } catch (JacksonException e) {
            return new Call(id, name, null, arguments);
        }
    }

    /** Calls and refusals decide on an answer that ended by itself. */
    static Finish finished(List<Call> calls, boolean refused) {
        return refused ? Finish.REFUSAL : calls.isEmpty() ? Finish.STOP : Finish.CALLS;
    }

    /** The arguments of a call as every provider can read them. */
    static String arguments(Call call) {
        return call.input() == null || call.text().isBlank() ? "{}" : call.text();
    }

    /**
     * Tokens of which the provider counts those from its cache among the input. Some compatible providers count reasoning apart from
     * the output; then the total says so, or there is more reasoning than output.
     *
     * @param total of all tokens; missing where it is not reported
     */
    static Tokens includingCached(JsonNode input, JsonNode cached, JsonNode output, JsonNode reasoning, JsonNode total)
            throws UnreadableException {
        long read = count(cached);
        long all = count(input);
        long written = count(output);
        long thought = count(reasoning);
        boolean apart = thought > written || thought > 0 && count(total) == all + written + thought;
        return new Tokens(read > all ? all : all - read, read, 0, apart ? written + thought : written, thought);
    }

    /**
     * A number of tokens; 0 where none is reported.
     *
     * @throws UnreadableException when it is not a count
     */
    static long count(JsonNode number) throws UnreadableException {
        if (number.isMissingNode() || number.isNull()) {
            return 0;
        }
        if (!number.isIntegralNumber() || !number.canConvertToInt() || number.intValue() < 0) {
            throw new UnreadableException("a reported number of tokens is not a count");
        }
        return number.intValue();
    }

    /** The arguments of a call as text; none are an empty object. */
    static String arguments(JsonNode arguments) {
        String text = arguments.isString() ? arguments.stringValue()
                : arguments.isNull() || arguments.isMissingNode() ? "" : arguments.toString();
        return text.isBlank() ? "{}" : text;
    }

    /** @throws ProviderErrorException when the document is an error */
    static void refuseError(JsonNode document) throws ProviderErrorException {
        if (document.path("error").isObject()) {
            throw new ProviderErrorException(document.get("error"));
        }
    }

    /** A list that must be there, and may be null for an empty one. */
    static JsonNode list(JsonNode document, String member) throws UnreadableException {
        return document.path(member).isNull() ? Json.array() : need(document, member);
    }

    /** A member of a document that must be there. */
    static JsonNode need(JsonNode document, String member) throws UnreadableException {
        JsonNode value = document.path(member);
        if (value.isMissingNode() || value.isNull()) {
            throw new UnreadableException("the answer has no '" + member + "'");
        }
        return value;
    }
}
