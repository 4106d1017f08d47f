package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.GatewayRecords.Recorded;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Earlier responses and items to which a request of OpenAI's responses refers by id. The provider gets them whole, out of the records of
 * the step.
 */
final class EarlierResponses {
    private static final String PREVIOUS = "previous_response_id";
    private static final String ENCRYPTED = "encrypted_content";
    /** For the items of all references of a request together, in characters of JSON. */
    private static final int MAX_SIZE = 16 << 20;

    private final String provider;
    private final Lookup lookup;
    /** Items of the request by their ids; null for an unknown one. */
    private final Map<String, @Nullable Item> items = new HashMap<>();
    private final Set<Response> thought = new HashSet<>();
    private boolean complete = true;
    private long size;

    /** Records by the ids of responses and of their items. */
    @FunctionalInterface
    interface Lookup {
        /** The record of the response that has the id, or has an item with it; null if absent. */
        @Nullable Recorded of(String id);
    }

    /**
     * A recorded response.
     *
     * @param kept whether the provider of the request has kept it
     * @param reasoning tokens of hidden reasoning, which its provider reads again
     */
    private record Response(String id, boolean kept, long reasoning) {}

    private record Item(JsonNode item, Response of) {}

    private EarlierResponses(String provider, Lookup lookup) {
        this.provider = provider;
        this.lookup = lookup;
    }

    private Response response(Recorded record) {
        JsonNode document = record.answer().path("document");
        return new Response(document.path("id").asString(""),
                provider.equals(record.provider()) && document.path("store").asBoolean(false),
                document.at("/usage/output_tokens_details/reasoning_tokens")
                        .asLong(document.at("/usage/output_tokens").asLong(0)));
    }

    /**
     * The request with the responses and items to which it refers, as far as they are recorded.
     *
     * @param provider names the provider of the request, and its account
     * @param lookup finds records of its step
     * @throws GatewayError if all items together are too large
     */
    static ProgramRequest resolve(ProgramRequest request, String provider, Lookup lookup)
            throws GatewayError {
        JsonNode input = request.body().path("input");
        boolean refers = request.body().hasNonNull(PREVIOUS)
                || input.valueStream().anyMatch(item -> isReference(item) || isHidden(item));
        return request.path() == GatewayPath.RESPONSES && refers
                ? new EarlierResponses(provider, lookup).whole(request)
                : request;
    }

    private ProgramRequest whole(ProgramRequest request) throws GatewayError {
        ObjectNode body = request.body().deepCopy();
        String previous = body.path(PREVIOUS).asString("");
        List<JsonNode> before = previous.isEmpty() ? List.of() : conversation(previous);
        ArrayNode input = Json.array();
        if (before != null) {
            body.remove(PREVIOUS);
            before.forEach(input::add);
        }
        complete = before != null;
        find(request.body().path("input"));
        for (JsonNode item : list(request.body().path("input"))) {
            JsonNode known = item(item);
            if (known != null) {
                input.add(known == item ? item : counted(known));
            }
        }
        body.set("input", input);
        return request.with(body,
                complete ? thought.stream().mapToLong(Response::reasoning).sum() : ProgramRequest.UNKNOWN);
    }

    /** Reads the items of the request, each record once. */
    private void find(JsonNode input) {
        input.valueStream().filter(item -> isReference(item) || isHidden(item))
                .forEach(item -> items.put(item.path("id").asString(""), null));
        for (String id : List.copyOf(items.keySet())) {
            Recorded record = items.get(id) == null ? lookup.of(id) : null;
            if (record != null) {
                Response response = response(record);
                record.answer().at("/document/output").valueStream()
                        .filter(item -> items.containsKey(item.path("id").asString("")))
                        .forEach(item -> items.put(item.path("id").asString(""), new Item(item, response)));
            }
        }
    }

    /** All items up to the end of a response; null if a part of them is not recorded. */
    private @Nullable List<JsonNode> conversation(String end) throws GatewayError {
        Deque<List<JsonNode>> parts = new ArrayDeque<>();
        Set<String> visited = new HashSet<>();
        for (String id = end; id != null;) {
            Recorded record = visited.add(id) ? lookup.of(id) : null;
            if (record == null || !record.answer().at("/document/id").asString("").equals(id)
                    || record.answer().get("input") == null) {
                return null;
            }
            parts.push(items(record));
            id = record.answer().path("previous").asString(null);
        }
        return parts.stream().flatMap(List::stream).toList();
    }

    /** The items of a response and of its request. */
    private List<JsonNode> items(Recorded record) throws GatewayError {
        Response response = response(record);
        List<JsonNode> all = new ArrayList<>();
        for (JsonNode item : list(record.answer().path("input"))) {
            all.add(counted(item));
        }
        for (JsonNode item : record.answer().at("/document/output")) {
            JsonNode sent = sent(new Item(item, response));
            if (sent != null) {
                all.add(counted(sent));
            }
        }
        return all;
    }

    private JsonNode counted(JsonNode item) throws GatewayError {
        size += item.toString().length();
        if (size > MAX_SIZE) {
            throw ProgramRequest.invalid("the earlier responses and items to which the request refers have more than "
                    + (MAX_SIZE >> 20) + " MiB");
        }
        return item;
    }

    /** The item as it is sent; null if it is left out. */
    private @Nullable JsonNode item(JsonNode item) {
        Item known = items.get(item.path("id").asString(""));
        if (isReference(item)) {
            complete &= known != null;
            return known == null ? item : sent(known);
        }
        if (isHidden(item)) {
            complete &= known != null;
            thought(known);
        }
        return item;
    }

    /** Hidden reasoning and ids of items go to their own provider only. */
    private @Nullable JsonNode sent(Item item) {
        if (item.of.kept) {
            if (isHidden(item.item)) {
                thought(item);
            }
            return item.item;
        }
        ObjectNode copy = ((ObjectNode) item.item).deepCopy();
        copy.remove("id");
        return isHidden(item.item) ? null : copy;
    }

    private void thought(@Nullable Item item) {
        if (item != null) {
            thought.add(item.of);
        }
    }

    private static boolean isReference(JsonNode item) {
        return item.path("type").asString("").equals("item_reference") || item.size() == 1 && item.has("id");
    }

    private static boolean isHidden(JsonNode item) {
        return item.path("type").asString("").equals("reasoning") && !item.hasNonNull(ENCRYPTED);
    }

    private static List<JsonNode> list(JsonNode input) {
        return input.isString() ? List.of(Json.object().put("role", "user").set("content", input))
                : input.valueStream().toList();
    }

    /**
     * Adds the input to a record, as later requests may refer to the response. A client that sends items of earlier answers keeps
     * the conversation itself.
     */
    static void keep(ProgramRequest request, ObjectNode record) {
        JsonNode input = request.body().path("input");
        if (request.path() == GatewayPath.RESPONSES && request.body().path("store").asBoolean(true)
                && input.valueStream().noneMatch(item -> item.has("id"))) {
            record.set("input", input);
            if (request.body().hasNonNull(PREVIOUS)) {
                record.set("previous", request.body().get(PREVIOUS));
            }
        }
    }
}
