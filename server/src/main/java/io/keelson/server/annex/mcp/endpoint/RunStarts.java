package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.runs.RunCreateActions;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Idempotency;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.submission.PreparedMission;
import java.io.IOException;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Starts runs, one per idempotency key. */
record RunStarts(RunCreateActions creation, Idempotency idempotency) {

    /** The argument with the key. */
    static final String KEY = "idempotency_key";
    private static final int MAX_KEY = 255;

    /**
     * Starts a run, or answers with the run that an equal call started within a day.
     *
     * @param tool the key counts for this tool
     * @param key null if absent; the request's {@code _meta} may have one then
     * @param mission read when it is this call's turn
     */
    OfferedTool.Outcome.Run start(Incoming call, String tool, @Nullable String key, ObjectNode arguments,
            Supplier<ReadResult<PreparedMission>> mission) throws IOException, InterruptedException {
        String given = key == null ? ofMeta(call.params().path("_meta").path(Mcp.META_EFFECT_KEY)) : key;
        if (given == null) {
            return new OfferedTool.Outcome.Run(creation.submit(call.request(), mission).run());
        }
        ApiResponse answer = idempotency.answer(call.request(), "MCP " + tool, given, Json.digest(arguments),
                request -> ApiResponse
                        .ok(Json.object().put("run_id", creation.submit(request, mission).run().toString())));
        if (answer.content() instanceof ApiResponse.Content.Document document) {
            return new OfferedTool.Outcome.Run(UUID.fromString(document.json().get("run_id").stringValue()));
        }
        throw new IllegalStateException("the answer under the key has no document");
    }

    private static @Nullable String ofMeta(JsonNode key) {
        if (key.isMissingNode()) {
            return null;
        }
        String text = key.asString("");
        if (text.isBlank() || text.length() > MAX_KEY) {
            throw ApiProblem.of("INVALID_VALUE", "/_meta/io.keelson~1effectKey", "must have 1 to 255 characters");
        }
        return text;
    }
}
