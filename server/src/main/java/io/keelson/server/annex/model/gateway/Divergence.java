package io.keelson.server.annex.model.gateway;

import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.GatewayRecords.Closest;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The first message in which a request differs from the recorded requests of its step. */
final class Divergence {
    private static final int AROUND = 40;

    private Divergence() {}

    /**
     * Compares with the recorded request that has the most equal messages at its beginning.
     *
     * @param facts of the new request
     * @param closest finds that recorded request by the digests of messages
     * @return the message's number from 1, its role, and the texts that differ; empty if a record begins with all of them
     */
    static Optional<ObjectNode> of(JsonNode facts, Function<List<String>, Optional<Closest>> closest) {
        JsonNode sent = facts.path("messages");
        return closest.apply(sent.valueStream().map(each -> each.path("sha256").asString("")).toList())
                .filter(found -> found.equal() < sent.size())
                .map(found -> difference(found.equal(), sent.get(found.equal()), found.message()));
    }

    private static ObjectNode difference(int equal, JsonNode sent, JsonNode recorded) {
        String now = sent.path("text").asString("");
        String before = recorded.path("text").asString("");
        int at = 0;
        while (at < Math.min(now.length(), before.length()) && now.charAt(at) == before.charAt(at)) {
            at++;
        }
        return Json.object().put("message", equal + 1).put("role", sent.path("role").asString(""))
                .put("recorded", piece(before, at)).put("sent", piece(now, at));
    }

    private static String piece(String text, int at) {
        return text.substring(Math.max(0, Math.min(text.length(), at) - AROUND / 2),
                Math.min(text.length(), at + AROUND));
    }
}
