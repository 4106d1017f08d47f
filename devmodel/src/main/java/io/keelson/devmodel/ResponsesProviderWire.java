package io.keelson.devmodel;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** OpenAI's responses. Input tokens include those read from a cache. */
final class ResponsesProviderWire implements ProviderWire {

    /** Members of the request that a response repeats, with their defaults; null for null. */
    private static final List<Echoed> ECHOED = List.of(new Echoed("instructions", null),
            new Echoed("max_output_tokens", null), new Echoed("parallel_tool_calls", "true"),
            new Echoed("previous_response_id", null), new Echoed("reasoning", "{\"effort\":null,\"summary\":null}"),
            new Echoed("store", "true"), new Echoed("temperature", "1.0"),
            new Echoed("text", "{\"format\":{\"type\":\"text\"}}"), new Echoed("tool_choice", "\"auto\""),
            new Echoed("tools", "[]"), new Echoed("top_p", "1.0"), new Echoed("truncation", "\"disabled\""),
            new Echoed("user", null), new Echoed("metadata", "{}"));

    private record Echoed(String member, @Nullable String otherwise) {}

    @Override
    public String name() {
        return "openai-responses";
    }

    @Override
    public String path() {
        return "/v1/responses";
    }

    @Override
    public String requestIdHeader() {
        return "x-request-id";
    }

    @Override
    public Conversation read(JsonNode body) throws BadRequestException {
        Conversation conversation = new Conversation(body);
        if (body.path("input").asString("").isEmpty() && body.path("input").isEmpty()) {
            throw new BadRequestException("'input' must be a text, or a list with at least one item");
        }
        if (body.hasNonNull("previous_response_id")) {
            throw new BadRequestException("dev-model has no 'previous_response_id': send the whole conversation");
        }
        if (background(body) && (conversation.stream() || !body.path("store").asBoolean(true))) {
            throw new BadRequestException("dev-model has no background response that streams or is not stored");
        }
        conversation.system(body.path("instructions").asString(""));
        if (body.get("input").isString()) {
            conversation.user(body.get("input").stringValue());
        }
        for (JsonNode item : body.get("input")) {
            item(conversation, item);
        }
        conversation.requireResults();
        body.path("tools").forEach(tool -> conversation.tool(tool.path("name").asString(""), tool.path("parameters")));
        JsonNode choice = body.path("tool_choice");
        if (choice.isObject() || choice.asString("").equals("required")) {
            conversation.forceTool(choice.path("name").asString(""));
        }
        JsonNode format = body.at("/text/format");
        switch (format.path("type").asString("")) {
            case "json_schema" -> conversation.schema(format.path("schema"));
            case "json_object" -> conversation.json();
            default -> {}
        }
        return conversation;
    }

    private static void item(Conversation conversation, JsonNode item) throws BadRequestException {
        switch (item.path("type").asString("message")) {
            case "message" -> {
                String text = Conversation.text(item.path("content"));
                switch (item.path("role").asString("")) {
                    case "system", "developer" -> conversation.system(text);
                    case "user" -> conversation.user(text);
                    case "assistant" -> conversation.assistant();
                    default -> throw new BadRequestException("unknown role: " + item.path("role"));
                }
            }
            case "reasoning" -> conversation.assistant();
            case "function_call" ->
                conversation.call(item.path("call_id").asString(""), item.path("name").asString(""));
            case "function_call_output" ->
                conversation.result(item.path("call_id").asString(""), Conversation.text(item.path("output")));
            default -> throw new BadRequestException("dev-model does not know the item type " + item.path("type"));
        }
    }

    /** Whether the answer is made after the connection's end, to be fetched by its id. */
    static boolean background(JsonNode body) {
        return body.path("background").asBoolean(false);
    }

    @Override
    public BilledTokens reported(BilledTokens usage) {
        return usage.withoutCacheWrite();
    }

    @Override
    public ObjectNode answer(ModelReply reply) {
        ObjectNode answer = document(reply, switch (reply.finish()) {
            case LENGTH, CONTENT_FILTER -> "incomplete";
            case STOP -> "completed";
        });
        items(reply).forEach(answer.withArrayProperty("output")::add);
        answer.set("usage", usage(reply.usage()));
        return answer;
    }

    /** A response in the state, without output. */
    ObjectNode document(ModelReply reply, String status) {
        ObjectNode document = Json.object().put("id", "resp_" + reply.key()).put("object", "response")
                .put("created_at", reply.created()).put("status", status)
                .put("background", background(reply.request().body())).putNull("error");
        if (status.equals("incomplete")) {
            document.putObject("incomplete_details").put("reason",
                    reply.finish() == ModelReply.Finish.LENGTH ? "max_output_tokens" : "content_filter");
        } else {
            document.putNull("incomplete_details");
        }
        document.put("model", reply.model()).putArray("output");
        for (Echoed each : ECHOED) {
            JsonNode given = reply.request().body().get(each.member);
            document.set(each.member,
                    given == null ? Json.read(each.otherwise == null ? "null" : each.otherwise) : given);
        }
        return document.putNull("usage").put("service_tier", "default");
    }

    /** Reasoning, message, calls. */
    private static List<ObjectNode> items(ModelReply reply) {
        List<ObjectNode> items = new ArrayList<>();
        String status = reply.finish() == ModelReply.Finish.STOP ? "completed" : "incomplete";
        if (reply.thinking() != null) {
            ObjectNode reasoning = Json.object().put("id", "rs_" + reply.key()).put("type", "reasoning");
            reasoning.putArray("summary").add(Json.object().put("type", "summary_text").put("text", reply.thinking()));
            items.add(reasoning);
        }
        if (reply.text() != null || reply.refusal() != null) {
            ObjectNode message = Json.object().put("id", "msg_" + reply.key()).put("type", "message")
                    .put("status", status).put("role", "assistant");
            if (reply.text() != null) {
                message.withArrayProperty("content").add(textPart(reply.text()));
            }
            if (reply.refusal() != null) {
                message.withArrayProperty("content").add(refusalPart(reply.refusal()));
            }
            items.add(message);
        }
        for (ModelReply.Call call : reply.calls()) {
            items.add(Json.object().put("id", "fc_" + call.key()).put("type", "function_call").put("status", status)
                    .put("call_id", "call_" + call.key()).put("name", call.tool()).put("arguments", call.arguments()));
        }
        return items;
    }

    private static ObjectNode textPart(String text) {
        ObjectNode part = Json.object().put("type", "output_text").put("text", text);
        part.putArray("annotations");
        part.putArray("logprobs");
        return part;
    }

    private static ObjectNode refusalPart(String text) {
        return Json.object().put("type", "refusal").put("refusal", text);
    }

    private static ObjectNode usage(BilledTokens usage) {
        ObjectNode json = Json.object().put("input_tokens", usage.allInput());
        json.putObject("input_tokens_details").put("cached_tokens", usage.cacheRead());
        json.put("output_tokens", usage.output());
        json.putObject("output_tokens_details").put("reasoning_tokens", usage.reasoning());
        return json.put("total_tokens", usage.allInput() + usage.output());
    }

    @Override
    public List<String> stream(ModelReply reply) {
        Numbered events = new Numbered();
        events.add("response.created", Json.object().set("response", document(reply, "in_progress")));
        events.add("response.in_progress", Json.object().set("response", document(reply, "in_progress")));
        ObjectNode answer = answer(reply);
        for (int i = 0; i < answer.get("output").size(); i++) {
            ObjectNode item = (ObjectNode) answer.get("output").get(i);
            events.add("response.output_item.added", Json.object().put("output_index", i).set("item", begun(item)));
            parts(events, item, i);
            events.add("response.output_item.done", Json.object().put("output_index", i).set("item", item));
        }
        events.add("response." + answer.get("status").stringValue(), Json.object().set("response", answer));
        return events.list.all();
    }

    /** The item as it is announced, without its content. */
    private static ObjectNode begun(ObjectNode item) {
        ObjectNode begun = item.deepCopy();
        switch (item.get("type").stringValue()) {
            case "reasoning" -> begun.putArray("summary");
            case "message" -> begun.put("status", "in_progress").putArray("content");
            default -> begun.put("status", "in_progress").put("arguments", "");
        }
        return begun;
    }

    private static void parts(Numbered events, ObjectNode item, int at) {
        ObjectNode place = Json.object().put("item_id", item.get("id").stringValue()).put("output_index", at);
        switch (item.get("type").stringValue()) {
            case "function_call" -> text(events, place, "response.function_call_arguments", "arguments",
                    item.get("arguments").stringValue());
            case "reasoning" -> {
                ObjectNode within = place.deepCopy().put("summary_index", 0);
                ObjectNode part = (ObjectNode) item.get("summary").get(0);
                events.add("response.reasoning_summary_part.added",
                        within.deepCopy().set("part", part.deepCopy().put("text", "")));
                text(events, within, "response.reasoning_summary_text", "text", part.get("text").stringValue());
                events.add("response.reasoning_summary_part.done", within.deepCopy().set("part", part));
            }
            default -> {
                for (int i = 0; i < item.get("content").size(); i++) {
                    ObjectNode within = place.deepCopy().put("content_index", i);
                    ObjectNode part = (ObjectNode) item.get("content").get(i);
                    String member = part.has("text") ? "text" : "refusal";
                    events.add("response.content_part.added",
                            within.deepCopy().set("part", part.deepCopy().put(member, "")));
                    if (member.equals("text")) {
                        text(events, within.set("logprobs", Json.array()), "response.output_text", member,
                                part.get(member).stringValue());
                    } else {
                        text(events, within, "response.refusal", member, part.get(member).stringValue());
                    }
                    events.add("response.content_part.done",
                            place.deepCopy().put("content_index", i).set("part", part));
                }
            }
        }
    }

    private static void text(Numbered events, ObjectNode place, String type, String member, String text) {
        EventList.pieces(text, piece -> events.add(type + ".delta", place.deepCopy().put("delta", piece)));
        events.add(type + ".done", place.deepCopy().put(member, text));
    }

    @Override
    public ObjectNode error(int status, JsonNode stated, String requestId) {
        return OpenAiErrors.body(status, stated);
    }

    private static final class Numbered {

        private final EventList list = new EventList();
        private int next;

        void add(String type, ObjectNode members) {
            ObjectNode data = Json.object().put("type", type).put("sequence_number", next++);
            data.setAll(members);
            list.event(type, data);
        }
    }
}
