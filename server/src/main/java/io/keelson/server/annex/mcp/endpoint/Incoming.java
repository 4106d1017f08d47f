package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.annex.mcp.wire.ParameterHeaders;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One request of a client, in the form that its revision demands.
 *
 * @param version the revision that the client speaks
 * @param capabilities that the client declares with this request; empty for revisions with a handshake
 */
record Incoming(ApiRequest request, String version, String method, ObjectNode params, JsonNode capabilities) {

    /** Revisions with a handshake, the newest first. The oldest one has batches, which are not taken. */
    static final List<String> HANDSHAKE = List.of(Mcp.LEGACY, "2025-06-18");
    /** All revisions, the newest first. */
    static final List<String> VERSIONS = List.of(Mcp.MODERN, Mcp.LEGACY, "2025-06-18");
    /** The version of a request that names none. */
    private static final String DEFAULT_VERSION = "2025-06-18";

    /**
     * Reads a request.
     *
     * @throws RpcError when headers and body do not fit together, or the revision is not spoken
     */
    static Incoming of(ApiRequest request, String method, ObjectNode params) {
        JsonNode meta = params.path("_meta");
        JsonNode said = meta.path(Mcp.META_VERSION);
        String header = request.header(Mcp.VERSION_HEADER);
        boolean modern = said.isString() || Mcp.MODERN.equals(header) || method.equals("server/discover");
        if (!modern || method.equals("initialize") && !said.isString()) {
            return new Incoming(request, handshake(method, params, header), method, params, Json.object());
        }
        if (!said.isString()) {
            throw RpcError.malformed(Mcp.INVALID_PARAMS, "params._meta lacks " + Mcp.META_VERSION);
        }
        requireHeader(Mcp.VERSION_HEADER, header, said.stringValue());
        if (!said.stringValue().equals(Mcp.MODERN)) {
            throw RpcError.version(said.stringValue());
        }
        if (!meta.path(Mcp.META_CAPABILITIES).isObject()) {
            throw RpcError.malformed(Mcp.INVALID_PARAMS, "params._meta lacks " + Mcp.META_CAPABILITIES);
        }
        requireHeader(Mcp.METHOD_HEADER, request.header(Mcp.METHOD_HEADER), method);
        String named = named(method);
        if (named != null && params.path(named).isString()) {
            String name = request.header(Mcp.NAME_HEADER);
            requireHeader(Mcp.NAME_HEADER, name == null ? null : ParameterHeaders.decoded(name),
                    params.get(named).stringValue());
        }
        return new Incoming(request, Mcp.MODERN, method, params, meta.get(Mcp.META_CAPABILITIES));
    }

    private static String handshake(String method, ObjectNode params, @Nullable String header) {
        if (method.equals("initialize")) {
            String wanted = params.path("protocolVersion").asString("");
            return HANDSHAKE.contains(wanted) ? wanted : Mcp.LEGACY;
        }
        if (header != null && !Mcp.HANDSHAKE.contains(header)) {
            throw RpcError.version(header);
        }
        return header == null ? DEFAULT_VERSION : header;
    }

    /** The parameter that the name's header repeats; null if absent. */
    private static @Nullable String named(String method) {
        return switch (method) {
            case "tools/call", "prompts/get" -> "name";
            case "resources/read" -> "uri";
            case "tasks/get", "tasks/update", "tasks/cancel" -> "taskId";
            default -> null;
        };
    }

    private static void requireHeader(String name, @Nullable String given, String wanted) {
        if (!wanted.equals(given)) {
            throw RpcError.malformed(Mcp.HEADER_MISMATCH, given == null ? "the header " + name + " is missing"
                    : "the header " + name + " says '" + Excerpt.piece(given) + "' and the body '"
                            + Excerpt.piece(wanted) + "'");
        }
    }

    /** Whether it is of the era without handshakes. */
    boolean modern() {
        return version.equals(Mcp.MODERN);
    }

    /** Whether the client takes tasks for results of this request. */
    boolean takesTasks() {
        return modern() ? capabilities.path("extensions").has(Mcp.TASKS)
                : version.equals(Mcp.LEGACY) && params.path("task").isObject();
    }

    /** Whether the client can ask its user to fill in a form. */
    boolean takesForms() {
        JsonNode elicitation = capabilities.path("elicitation");
        return elicitation.isObject() && (elicitation.isEmpty() || elicitation.has("form"));
    }

    UUID workspace() {
        return request.workspace();
    }

    void require(Scope scope) {
        request.require(scope);
    }

    /** A parameter that must be there. */
    String text(String name) {
        JsonNode value = params.path(name);
        if (!value.isString()) {
            throw RpcError.invalid("params." + name + " must be a string");
        }
        return value.stringValue();
    }

    /** The cursor of a list; null for its first page. */
    @Nullable String cursor() {
        return params.path("cursor").isString() ? params.get("cursor").stringValue() : null;
    }
}
