package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.GatewayRecords.Recorded;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
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
    private final Map<String, Response> byId = new HashMap<>();
    private final Map<String, Item> items = new HashMap<>();
    private final Set<Response> thought = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean complete = true;
    private long size;

    /**
     * A recorded response.
     *
     * @param kept whether the provider of the request has kept it
     * @param input of its request; null if it is not recorded
     * @param previous to which its request refers; null if absent
     */
    private record Response(JsonNode document, boolean kept, @Nullable JsonNode input, @Nullable String previous) {

        /** The tokens of hidden reasoning, which its provider reads again. */
        long reasoning() {
            return document.at("/usage/output_tokens_details/reasoning_tokens")
                    .asLong(document.at("/usage/output_tokens").asLong(0));
        }
    }

    private record Item(JsonNode item, Response of) {}

    private EarlierResponses(String provider, List<Recorded> records) {
        this.provider = provider;
        records.forEach(this::add);
    }

    private void add(Recorded record) {
        JsonNode document = record.answer().path("document");
        Response response = new Response(document,
                provider.equals(record.provider()) && document.path("store").asBoolean(false),
                record.answer().get("input"), record.answer().path("previous").asString(null));
        byId.put(document.path("id").asString(""), response);
        document.path("output").forEach(item -> items.put(item.path("id").asString(""), new Item(item, response)));
    }

    /**
     * The request with the responses and items to which it refers, as far as they are recorded.
     *
     * @param provider names the provider of the request, and its account
     * @param records of its step
     * @throws GatewayError if all items together are too large
     */
    static ProgramRequest resolve(ProgramRequest request, String provider, Supplier<List<Recorded>> records)
            throws GatewayError {
        JsonNode input = request.body().path("input");
        boolean refers = request.body().hasNonNull(PREVIOUS)
                || input.valueStream().anyMatch(item -> isReference(item) || isHidden(item));
        return request.path() == GatewayPath.RESPONSES && refers
                ? new EarlierResponses(provider, records.get()).whole(request)
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

    /** All items up to the end of a response; null if a part of them is not recorded. */
    private @Nullable List<JsonNode> conversation(String end) throws GatewayError {
        Deque<Response> responses = new ArrayDeque<>();
        Set<String> visited = new HashSet<>();
        for (String id = end; id != null; id = responses.getFirst().previous) {
            Response response = byId.get(id);
            if (response == null || response.input == null || !visited.add(id)) {
                return null;
            }
            responses.push(response);
        }
        List<JsonNode> all = new ArrayList<>();
        for (Response response : responses) {
            for (JsonNode item : list(Objects.requireNonNull(response.input))) {
                all.add(counted(item));
            }
            for (JsonNode item : response.document.path("output")) {
                JsonNode sent = sent(new Item(item, response));
                if (sent != null) {
                    all.add(counted(sent));
                }
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
