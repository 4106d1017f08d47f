package io.keelson.server.annex.mcp;

import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolUsage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Results of foreign tools as results of steps. Long texts and all bytes become artifacts; links stay what they are, data. */
final class McpResults {
    /** Longer texts become artifacts, in characters. */
    static final int MAX_TEXT = 32_768;
    private static final int HEAD = 2_000;
    private static final int MAX_ERROR = 4_000;

    private final ToolCall call;
    private final String name;
    private final List<StoredArtifact> stored = new ArrayList<>();

    private McpResults(ToolCall call, String name) {
        this.call = call;
        this.name = name;
    }

    /**
     * @param name of the tool, for names of artifacts
     * @param outputSchema that the tool has declared; missing for none
     */
    static ToolResult of(ToolCall call, String name, JsonNode outputSchema, JsonNode result) throws ToolFailure {
        if (result.path("isError").asBoolean(false)) {
            String text = text(result);
            throw ToolFailure.permanent("MCP_TOOL_ERROR",
                    text.isBlank() ? "the tool reports an error"
                            : text.substring(0, Math.min(text.length(), MAX_ERROR)));
        }
        JsonNode structured = result.path("structuredContent");
        if (outputSchema.isObject()) {
            List<DeclaredSchema.Flaw> flaws = new DeclaredSchema(McpSchemas.usable(outputSchema)).check(structured);
            if (!flaws.isEmpty()) {
                throw ToolFailure.permanent("MCP_RESULT_INVALID", "the structured result is not as declared: "
                        + flaws.stream().limit(5).map(each -> each.pointer() + ": " + each.message())
                                .collect(Collectors.joining("; ")));
            }
        }
        return new McpResults(call, name).result(result, structured);
    }

    private static String text(JsonNode result) {
        return result.path("content").valueStream().filter(each -> each.path("type").asString("").equals("text"))
                .map(each -> each.path("text").asString("")).collect(Collectors.joining("\n"));
    }

    private ToolResult result(JsonNode result, JsonNode structured) throws ToolFailure {
        ObjectNode output = Json.object();
        put(output, "text", text(result), "text/plain");
        if (!structured.isMissingNode()) {
            String json = structured.toString();
            if (json.length() > MAX_TEXT) {
                put(output, "structured", json, "application/json");
            } else {
                output.set("structured", structured);
            }
        }
        ArrayNode others = output.putArray("content");
        for (JsonNode each : result.path("content")) {
            if (!each.path("type").asString("").equals("text")) {
                others.add(item(each));
            }
        }
        return new ToolResult(output, ToolUsage.NONE, stored);
    }

    /** A text, or its beginning and the artifact with the whole text. */
    private void put(ObjectNode into, String member, String text, String type) throws ToolFailure {
        if (text.length() <= MAX_TEXT) {
            into.put(member, text);
            return;
        }
        into.put(member, call.redaction().text(text).substring(0, HEAD)).put(member + "_artifact",
                store(text.getBytes(StandardCharsets.UTF_8), type)).put(member + "_characters", text.length());
    }

    private JsonNode item(JsonNode item) throws ToolFailure {
        String bytes = item.path("data").asString(item.path("resource").path("blob").asString(""));
        ObjectNode kept = Json.object().put("type", item.path("type").asString("unknown"));
        JsonNode from = item.path("resource").isObject() ? item.get("resource") : item;
        for (String member : List.of("uri", "name", "title", "description", "mimeType", "size")) {
            if (from.path(member).isValueNode()) {
                kept.set(member, from.get(member));
            }
        }
        if (!bytes.isEmpty()) {
            kept.put("artifact", store(decoded(bytes), from.path("mimeType").asString("application/octet-stream")));
        } else if (from.path("text").isString()) {
            put(kept, "text", from.get("text").stringValue(), from.path("mimeType").asString("text/plain"));
        }
        return kept;
    }

    private static byte[] decoded(String base64) throws ToolFailure {
        try {
            return Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw ToolFailure.permanent("MCP_RESULT_INVALID", "the result has bytes that are not Base64");
        }
    }

    private String store(byte[] bytes, String type) throws ToolFailure {
        String artifact = name + "-" + call.stepId().toString().substring(24) + "-" + call.leaseEpoch() + "-"
                + (stored.size() + 1);
        try {
            stored.add(call.artifacts().put(artifact, type, new ByteArrayInputStream(bytes)));
            return artifact;
        } catch (ArtifactRefusedException e) {
            throw ToolFailure.permanent(e.code(), String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw ToolFailure.infrastructure("ARTIFACT_STORE_FAILED",
                    "the result could not be stored: " + e.getMessage());
        }
    }
}
