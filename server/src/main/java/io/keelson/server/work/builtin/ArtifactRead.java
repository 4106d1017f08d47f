package io.keelson.server.work.builtin;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code artifact.read}: a part of a call's result that is too long for an agent's transcript. */
public final class ArtifactRead implements Tool {
    /** In JSON text of JSON text, so that the part itself is shown whole. */
    private static final int MAX = 16_000;

    private static final ToolSpec SPEC = Specs.spec(AgentTerms.READS_RESULTS, Effects.READ,
            "Reads a part of a long result of an earlier call, of which only the beginning and the end were shown.", """
            {"type": "object", "additionalProperties": false, "required": ["id"], "properties": {
              "id": {"type": "string", "format": "uuid", "description": "shown with the result"},
              "from": {"type": "integer", "minimum": 0, "maximum": 1000000000, "default": 0,
                       "description": "the first character, from 0"},
              "to": {"type": "integer", "minimum": 1, "maximum": 1000000000,
                     "description": "the first character after the part; at most 16000 characters are read"}}}""", """
            {"type": "object", "required": ["text", "from", "to", "chars"], "properties": {
              "text": {"type": "string"}, "from": {"type": "integer"}, "to": {"type": "integer"},
              "chars": {"type": "integer", "description": "of the whole result"}}}""");

    /** A part of a result. */
    public record Part(String text, long chars) {}

    /** The store of results. */
    @FunctionalInterface
    public interface Results {

        /**
         * A part of the result of a call of the task; empty when there is no such call.
         *
         * @param from characters before the part
         * @param length of the part at most
         */
        Optional<Part> part(UUID workspaceId, UUID taskId, UUID stepId, int from, int length);
    }

    private final Results results;

    public ArtifactRead(Results results) {
        this.results = results;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        String id = call.input().get("id").stringValue();
        int from = call.input().path("from").asInt(0);
        int to = Math.min(call.input().path("to").asInt(Integer.MAX_VALUE), from + MAX);
        Part part = results.part(call.workspaceId(), call.taskId(), UUID.fromString(id), from, Math.max(0, to - from))
                .orElseThrow(() -> ToolFailure.permanent("RESULT_NOT_FOUND",
                        "no earlier call of this task has a result with the id " + id));
        ObjectNode output = JsonNodeFactory.instance.objectNode().put("text", part.text()).put("from", from)
                .put("to", Math.min(to, part.chars())).put("chars", part.chars());
        return ToolResult.of(output);
    }
}
