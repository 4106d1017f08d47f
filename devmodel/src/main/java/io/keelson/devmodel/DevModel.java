package io.keelson.devmodel;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.ObjectNode;

/** A model server that answers by a script and keeps a journal of billed tokens. It reaches no other server. */
public final class DevModel implements AutoCloseable {

    private static final Pattern STORED = Pattern.compile("/v1/responses/([^/]+)(/cancel)?");

    private final Script script;
    private final Journal journal;
    private final Clock clock;
    private final HttpListener listener;
    private final StoredResponses stored = new StoredResponses();
    /** Makes ids unique over restarts. */
    private final String start = UUID.randomUUID().toString().substring(0, 8);

    /** @throws IOException if the address cannot be bound */
    public DevModel(InetSocketAddress address, Script script, Journal journal, Clock clock) throws IOException {
        this.script = script;
        this.journal = journal;
        this.clock = clock;
        this.listener = new HttpListener(address, this::handle);
    }

    /** The port at which the model listens. */
    public int port() {
        return listener.port();
    }

    @Override
    public void close() throws IOException {
        journal.close();
        listener.close();
    }

    private void handle(WireRequest request, WireResponse response) throws IOException {
        ProviderWire wire = request.method().equals("POST") ? ProviderWire.ALL.stream()
                .filter(each -> each.path().equals(request.path())).findFirst().orElse(null) : null;
        Matcher one = STORED.matcher(request.path());
        if (wire != null) {
            answer(wire, request, response);
        } else if (one.matches() && request.method().equals(one.group(2) == null ? "GET" : "POST")) {
            stored(one.group(1), one.group(2) != null, request, response);
        } else {
            switch (request.method() + " " + request.path()) {
                case "GET /v1/models" -> response.send(200, ResponseDelivery.JSON, Json.write(models()));
                case "GET /journal" -> response.send(200, "application/x-ndjson",
                        journal.lines().getBytes(StandardCharsets.UTF_8));
                case "POST " + TextMeasures.EMBEDDINGS, "POST " + TextMeasures.TOKENS -> measure(request, response);
                default -> response.send(404, ResponseDelivery.JSON, Json.write(ProviderWire.ALL.getFirst().error(404,
                        "dev-model has no " + request.method() + " " + request.path(), "")));
            }
        }
    }

    /** In a form that fits the lists of both providers. */
    private ObjectNode models() {
        ArrayNode data = Json.array();
        List<String> names = script.models().isEmpty() ? List.of("dev-model") : script.models();
        for (String name : names) {
            data.add(Json.object().put("id", name).put("object", "model").put("type", "model").put("created", 0)
                    .put("created_at", "1970-01-01T00:00:00Z").put("owned_by", "dev-model").put("display_name", name));
        }
        ObjectNode list = Json.object().put("object", "list");
        list.set("data", data);
        return list.put("has_more", false).put("first_id", names.getFirst()).put("last_id", names.getLast());
    }

    private void stored(String id, boolean cancel, WireRequest request, WireResponse response) throws IOException {
        Journal.Entry entry = journal.begin(request, null);
        entry.set("response_id", Json.string(id));
        ResponseDelivery delivery = new ResponseDelivery(Json.object(), entry, response);
        StoredResponses.Stored found = stored.get(id);
        if (found == null) {
            delivery.send(404, ProviderWire.ALL.getFirst().error(404, "Response with id '" + id + "' not found.", ""),
                    false);
            return;
        }
        if (cancel) {
            found.cancel();
        }
        ObjectNode document = found.document();
        delivery.send(200, document, document.hasNonNull("usage"));
    }

    private void measure(WireRequest request, WireResponse response) throws IOException {
        Journal.Entry entry = journal.begin(request, null);
        ResponseDelivery delivery = new ResponseDelivery(Json.object(), entry, response);
        try {
            ObjectNode measured = TextMeasures.of(request.path(), request.body());
            entry.set("billed", TextMeasures.billed(request.path(), request.body().length).toJson());
            delivery.send(200, measured, true);
        } catch (BadRequestException | JacksonException e) {
            delivery.send(400, ProviderWire.ALL.getFirst().error(400, String.valueOf(e.getMessage()), ""), false);
        }
    }

    private void answer(ProviderWire wire, WireRequest request, WireResponse response) throws IOException {
        Journal.Entry entry = journal.begin(request, wire);
        String requestId = "req_" + start + "_" + entry.number;
        response.header(wire.requestIdHeader(), requestId);
        try {
            Conversation asked = read(wire, request.body());
            Script.Rule rule = script.match(asked, wire, request.headers(), entry.number);
            entry.set("model", Json.string(asked.model()));
            entry.set("turn", IntNode.valueOf(asked.turn()));
            entry.set("rule", Json.string(rule.name));
            int status = rule.answer.path("status").asInt(200);
            if (status == 200) {
                answer(wire, asked, rule.answer, request.body().length, entry, response);
            } else {
                ObjectNode error = wire.error(status, rule.answer.path("error"), requestId);
                new ResponseDelivery(rule.answer, entry, response).send(status, error, false);
            }
        } catch (BadRequestException e) {
            ObjectNode error = wire.error(e.status(), String.valueOf(e.getMessage()), requestId);
            new ResponseDelivery(Json.object(), entry, response).send(e.status(), error, false);
        }
    }

    private Conversation read(ProviderWire wire, byte[] body) throws BadRequestException {
        JsonNode json;
        try {
            json = Json.read(body);
        } catch (JacksonException e) {
            throw new BadRequestException("the request body is not valid JSON, at line " + e.getLocation().getLineNr()
                    + ", column " + e.getLocation().getColumnNr());
        }
        Conversation asked = wire.read(json);
        if (!script.models().isEmpty() && !script.models().contains(asked.model())) {
            throw new BadRequestException(404, "the model '" + asked.model() + "' does not exist");
        }
        return asked;
    }

    private void answer(ProviderWire wire, Conversation asked, JsonNode answer, int bodyBytes, Journal.Entry entry,
            WireResponse response) throws IOException, BadRequestException {
        ModelReply reply = ModelReply.of(wire, asked, answer, start + "_" + entry.number,
                clock.instant().getEpochSecond(), bodyBytes);
        ObjectNode document = wire.answer(reply);
        String id = document.get("id").stringValue();
        entry.set("response_id", Json.string(id));
        entry.set("answered_as", Json.string(reply.model()));
        if (wire instanceof ResponsesProviderWire responses && ResponsesProviderWire.background(asked.body())) {
            ObjectNode begun = responses.document(reply, "queued");
            stored.put(id, StoredResponses.Stored.running(begun, Duration.ofMillis(answer.path("delay_ms").asLong(0)),
                    document, reply.usage(), entry));
            response.send(200, ResponseDelivery.JSON, Json.write(begun));
            return;
        }
        entry.set("billed", reply.usage().toJson());
        if (wire instanceof ResponsesProviderWire && asked.body().path("store").asBoolean(true)) {
            stored.put(id, StoredResponses.Stored.finished(document));
        }
        ResponseDelivery delivery = new ResponseDelivery(answer, entry, response);
        if (asked.stream()) {
            delivery.stream(wire.stream(reply));
        } else {
            delivery.send(200, document, true);
        }
    }
}
