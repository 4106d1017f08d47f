package io.keelson.devmodel;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * An answer, regardless of its wire.
 *
 * @param key unique among all answers of all dev-models; the ids that wires make begin with letters of their own
 * @param created seconds since 1970
 * @param model which answers
 * @param thinking null without
 * @param text null without
 * @param refusal null where the model does not refuse
 */
record ModelReply(Conversation request, String key, long created, String model, @Nullable String thinking,
        @Nullable String text, @Nullable String refusal, List<Call> calls, Finish finish, BilledTokens usage) {

    private static final int ECHOED = 400;

    /** Why the model stopped; a call or a refusal is a stop. */
    enum Finish {
        STOP, LENGTH, CONTENT_FILTER
    }

    /**
     * A call of a tool.
     *
     * @param key unique among all calls
     * @param arguments a JSON text, unless the script wants it broken
     */
    record Call(String key, String tool, String arguments) {

        /** The arguments as an object; empty where they are none, as providers do with arguments that were cut. */
        JsonNode input() {
            try {
                JsonNode input = Json.read(arguments);
                return input.isObject() ? input : Json.object();
            } catch (JacksonException e) {
                return Json.object();
            }
        }
    }

    /**
     * The answer that a script states, or, where it states none, the shortest that is of use: a value of the demanded schema, a
     * call of the demanded tool, or the beginning of the last message.
     *
     * @param answer {@code answer} of a rule
     * @param created seconds since 1970
     * @throws BadRequestException where no value of a demanded schema can be made up
     */
    static ModelReply of(ProviderWire wire, Conversation request, JsonNode answer, String key, long created,
            int bodyBytes) throws BadRequestException {
        String text = answer.has("json") ? answer.get("json").toString() : answer.path("text").asString(null);
        String refusal = answer.path("refusal").asString(null);
        List<Call> calls = calls(answer.path("calls"), key);
        if (text == null && refusal == null && calls.isEmpty()) {
            String tool = request.demandedTool();
            if (tool == null) {
                text = madeUp(request);
            } else {
                calls = List.of(new Call(key + "_0", tool, SchemaInstance.of(request.parameters(tool)).toString()));
            }
        }
        String thinking = answer.path("thinking").asString(null);
        String all = Json.array().add(thinking).add(text).add(refusal).valueStream().map(each -> each.asString(""))
                .collect(Collectors.joining())
                + calls.stream().map(call -> call.tool + call.arguments).collect(Collectors.joining());
        return new ModelReply(request, key, created, answer.path("model").asString(request.model()), thinking, text,
                refusal, calls, Finish.valueOf(answer.path("finish").asString("stop").toUpperCase(Locale.ROOT)),
                wire.reported(BilledTokens.of(answer.path("usage"), bodyBytes, all)));
    }

    private static List<Call> calls(JsonNode stated, String key) {
        return IntStream.range(0, stated.size()).mapToObj(at -> {
            JsonNode call = stated.get(at);
            return new Call(key + "_" + at, call.get("tool").asString(),
                    call.has("arguments") ? call.get("arguments").asString()
                            : call.has("input") ? call.get("input").toString() : "{}");
        }).toList();
    }

    private static String madeUp(Conversation request) throws BadRequestException {
        String last = request.lastText();
        String excerpt = last.length() <= ECHOED ? last
                : last.substring(0,
                        last.offsetByCodePoints(0, Math.min(ECHOED, last.codePointCount(0, last.length()))));
        if (!request.demandedSchema().isMissingNode()) {
            return SchemaInstance.of(request.demandedSchema()).toString();
        }
        return request.demandsJson() ? Json.object().put("echo", excerpt).toString()
                : "The development model has no rule for this request. Its last message begins: " + excerpt;
    }
}
