package io.keelson.server.api.http;

import io.keelson.server.api.http.support.ArchivedRuns;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.OpenApiDocument;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Adds the errors of each operation to an OpenAPI document: the codes of {@code x-error-codes} in {@code openapi.yaml},
 * and the codes that follow from its method, path and parameters. {@link ErrorCode} has their status and title.
 */
final class ErrorResponses {

    /** The member with codes, of an operation or a response. */
    static final String CODES = "x-error-codes";

    private static final Set<ErrorCode> OF_BODIES = EnumSet.of(ErrorCode.MALFORMED_JSON, ErrorCode.BODY_TOO_LARGE,
            ErrorCode.UNSUPPORTED_MEDIA_TYPE, ErrorCode.INVALID_BODY);
    private static final Set<ErrorCode> OF_KEYS =
            EnumSet.of(ErrorCode.IDEMPOTENCY_IN_FLIGHT, ErrorCode.IDEMPOTENCY_KEY_CONFLICT);

    private ErrorResponses() {}

    /**
     * An operation's own forms of errors stay beside the problem documents.
     *
     * @param document is changed
     */
    static void addTo(ObjectNode document) {
        OpenApiDocument.forEachOperation(document, (method, path, item, operation) -> {
            Set<ErrorCode> codes = codes(document, method, path, item, operation);
            ArrayNode listed = operation.putArray(CODES);
            Map<Integer, Set<ErrorCode>> byStatus = new TreeMap<>();
            codes.forEach(code -> {
                listed.add(code.name());
                byStatus.computeIfAbsent(status(code, path), _ -> EnumSet.noneOf(ErrorCode.class)).add(code);
            });
            ObjectNode responses = (ObjectNode) operation.get("responses");
            byStatus.forEach((status, those) -> {
                ObjectNode response = response(those);
                responses.path(Integer.toString(status)).path("content")
                        .propertyStream()
                        .forEach(own -> response.withObject("/content").set(own.getKey(), own.getValue()));
                responses.set(Integer.toString(status), response);
            });
        });
    }

    private static Set<ErrorCode> codes(ObjectNode document, String method, String path, JsonNode item,
            JsonNode operation) {
        Set<ErrorCode> codes = EnumSet.noneOf(ErrorCode.class);
        operation.path(CODES).forEach(code -> codes.add(ErrorCode.valueOf(code.stringValue())));
        if (!method.equals("get")) {
            codes.addAll(OF_BODIES);
        }
        if (method.equals("post") && Route.keyed(path)) {
            codes.addAll(OF_KEYS);
        }
        if (OpenApiDocument.parameters(document, item, operation, "path").stream()
                .anyMatch(ErrorResponses::isId)) {
            codes.add(ErrorCode.INVALID_ID);
        }
        if (ArchivedRuns.concerns(path) && !path.endsWith("/restore")) {
            codes.add(ErrorCode.ARCHIVE_UNREADABLE);
            codes.add(ErrorCode.RUN_ARCHIVED);
        }
        if (OpenApiDocument.parameters(document, item, operation, "query").stream()
                .anyMatch(parameter -> parameter.get("name").stringValue().equals("cursor"))) {
            codes.add(ErrorCode.INVALID_CURSOR);
        }
        return codes;
    }

    private static boolean isId(JsonNode parameter) {
        return parameter.at("/schema/format").asString("").equals("id")
                || parameter.at("/schema/type").asString("").equals("integer");
    }

    /** Commands answer 409 where other requests answer 422, as their contract has it. */
    private static int status(ErrorCode code, String path) {
        return code == ErrorCode.IDEMPOTENCY_KEY_CONFLICT && !Route.keyed(path) ? 409 : code.status();
    }

    private static ObjectNode response(Set<ErrorCode> codes) {
        ObjectNode response = Json.object().put("description",
                codes.stream().map(ErrorCode::title).collect(Collectors.joining("; ")));
        response.putObject("content").putObject("application/problem+json").putObject("schema").put("$ref",
                "#/components/schemas/Problem");
        ArrayNode listed = response.putArray(CODES);
        codes.forEach(code -> listed.add(code.name()));
        return response;
    }
}
