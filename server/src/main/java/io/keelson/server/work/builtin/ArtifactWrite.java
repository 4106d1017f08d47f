package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code artifact.write}: stores text or JSON as an artifact of the step. */
final class ArtifactWrite implements Tool {

    /** The system whose outage defers the step. */
    private static final String STORE = "artifacts";

    private static final ToolSpec SPEC = Specs.spec("artifact.write", Effects.IDEMPOTENT,
            "Stores text or JSON as an artifact of the step.", """
            {"type": "object", "additionalProperties": false, "required": ["name"],
             "oneOf": [{"required": ["content"]}, {"required": ["json"]}], "properties": {
              "name": {"type": "string", "minLength": 1, "maxLength": 255, "description": "a file name, no path"},
              "content": {"type": "string"},
              "json": {"description": "any value, stored as indented JSON"},
              "content_type": {"type": "string", "description": "by the name's extension when absent"},
              "retention_days": {"type": "integer", "minimum": 1, "maximum": 36500,
               "description": "from the end of the run; the installation's when absent"}}}""", """
            {"type": "object", "required": ["name", "content_type", "size_bytes", "sha256"], "properties": {
              "name": {"type": "string"}, "content_type": {"type": "string"},
              "size_bytes": {"type": "integer"}, "sha256": {"type": "string"}}}""");

    private static final Map<String, String> TYPES = Map.of(
            "md", "text/markdown; charset=utf-8", "html", "text/html; charset=utf-8", "csv", "text/csv; charset=utf-8",
            "json", "application/json", "xml", "application/xml", "svg", "image/svg+xml",
            "yaml", "application/yaml", "yml", "application/yaml");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        String name = call.input().get("name").stringValue();
        String type = call.input().path("content_type").asString(typeOf(name, call.input().has("json")));
        try {
            JsonNode days = call.input().get("retention_days");
            StoredArtifact stored = call.artifacts().put(name, type, new ByteArrayInputStream(bytes(call.input())))
                    .keptFor(days == null ? null : Duration.ofDays(days.asLong()));
            ObjectNode output = JsonNodeFactory.instance.objectNode()
                    .put("name", stored.name())
                    .put("content_type", stored.contentType())
                    .put("size_bytes", stored.sizeBytes())
                    .put("sha256", stored.sha256());
            return new ToolResult(output, ToolUsage.NONE, List.of(stored));
        } catch (ArtifactRefusedException e) {
            throw ToolFailure.permanent(e.code(), String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw ToolFailure.infrastructure("ARTIFACT_STORE_FAILED",
                    "could not store " + name + ": " + e.getMessage()).outOfOrder(STORE);
        }
    }

    private static byte[] bytes(JsonNode input) {
        String text = input.has("content")
                ? input.get("content").stringValue()
                : Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(input.get("json")) + "\n";
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String typeOf(String name, boolean json) {
        String extension = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        return TYPES.getOrDefault(extension, json ? "application/json" : "text/plain; charset=utf-8");
    }
}
