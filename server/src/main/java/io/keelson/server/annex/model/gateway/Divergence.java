package io.keelson.server.annex.model.gateway;

import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.Optional;
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
     * @return the message's number from 1, its role, and the texts that differ; empty if a record begins with all of them
     */
    static Optional<ObjectNode> of(JsonNode facts, List<JsonNode> recorded) {
        JsonNode sent = facts.path("messages");
        JsonNode closest = null;
        int most = -1;
        for (JsonNode each : recorded) {
            int equal = equal(sent, each.path("messages"));
            if (equal > most && equal < each.path("messages").size()) {
                most = equal;
                closest = each.path("messages").get(equal);
            }
        }
        if (closest == null || most >= sent.size()) {
            return Optional.empty();
        }
        String now = sent.get(most).path("text").asString("");
        String before = closest.path("text").asString("");
        int at = 0;
        while (at < Math.min(now.length(), before.length()) && now.charAt(at) == before.charAt(at)) {
            at++;
        }
        return Optional.of(Json.object().put("message", most + 1).put("role", sent.get(most).path("role").asString(""))
                .put("recorded", piece(before, at)).put("sent", piece(now, at)));
    }

    private static int equal(JsonNode sent, JsonNode recorded) {
        int equal = 0;
        while (equal < Math.min(sent.size(), recorded.size())
                && sent.get(equal).path("sha256").equals(recorded.get(equal).path("sha256"))) {
            equal++;
        }
        return equal;
    }

    private static String piece(String text, int at) {
        return text.substring(Math.max(0, Math.min(text.length(), at) - AROUND / 2),
                Math.min(text.length(), at + AROUND));
    }
}
