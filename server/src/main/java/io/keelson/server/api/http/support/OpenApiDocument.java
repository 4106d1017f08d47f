package io.keelson.server.api.http.support;

import io.keelson.server.base.json.Json;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Finds the parts of an OpenAPI document. */
public final class OpenApiDocument {

    private static final List<String> METHODS = List.of("get", "post", "put", "patch", "delete");

    private OpenApiDocument() {}

    /** Receives an operation with the item of its path. */
    public interface OperationVisitor {
        /** @param method in lower case */
        void visit(String method, String path, JsonNode item, ObjectNode operation);
    }

    /** Visits each operation once, also an operation that several paths share. */
    public static void forEachOperation(JsonNode document, OperationVisitor visitor) {
        Set<String> visited = new HashSet<>();
        for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
            JsonNode item = resolved(document, path.getValue());
            for (String method : METHODS) {
                if (item.get(method) instanceof ObjectNode operation
                        && visited.add(operation.path("operationId").asString(""))) {
                    visitor.visit(method, path.getKey(), item, operation);
                }
            }
        }
    }

    /** The operation of a route; a missing node when the document does not have it. */
    public static JsonNode operation(JsonNode document, Route route) {
        return resolved(document, document.path("paths").path(route.path()))
                .path(route.method().name().toLowerCase(Locale.ROOT));
    }

    /** True for an operation that declares {@code security: []}. */
    public static boolean needsNoKey(JsonNode operation) {
        return operation.path("security").isArray() && operation.path("security").isEmpty();
    }

    static List<ObjectNode> parameters(JsonNode document, Route route, String in) {
        return parameters(document, resolved(document, document.path("paths").path(route.path())),
                operation(document, route), in);
    }

    /**
     * The parameters of an operation without references, parameters of its path first.
     *
     * @param in {@code query}, {@code path} or {@code header}
     */
    public static List<ObjectNode> parameters(JsonNode document, JsonNode path, JsonNode operation, String in) {
        return Stream.of(path, operation)
                .flatMap(holder -> holder.path("parameters").valueStream())
                .map(parameter -> resolved(document, parameter))
                .filter(parameter -> parameter.path("in").asString("").equals(in))
                .map(parameter -> ((ObjectNode) parameter.deepCopy()).set("schema",
                        whole(document, parameter.path("schema"))))
                .toList();
    }

    /**
     * The node without a reference: the target of its reference with the node's other members, which replace members of the
     * target.
     */
    public static JsonNode resolved(JsonNode document, JsonNode node) {
        if (!node.has("$ref")) {
            return node;
        }
        JsonNode target = resolved(document, target(document, node));
        return node.size() == 1 ? target
                : ((ObjectNode) target.deepCopy()).setAll(((ObjectNode) node.deepCopy()).without("$ref"));
    }

    /** The node that a reference names, which may be a reference, too. */
    private static JsonNode target(JsonNode document, JsonNode node) {
        return document.at(node.get("$ref").stringValue().substring(1));
    }

    /** The schema of an operation's JSON body, self-contained; for an operation without a body that of an empty object. */
    static ObjectNode bodySchema(JsonNode document, JsonNode operation) {
        JsonNode schema = resolved(document, operation.path("requestBody")).path("content").path("application/json")
                .path("schema");
        return schema.isMissingNode() ? Json.object().put("type", "object").put("additionalProperties", false)
                : whole(document, schema);
    }

    /**
     * The schema with references replaced by their targets, and {@code allOf} by one schema with the keywords of all
     * parts.
     */
    private static ObjectNode whole(JsonNode document, JsonNode schema) {
        ObjectNode whole = Json.object();
        if (schema.has("$ref")) {
            merge(whole, whole(document, target(document, schema)));
        }
        schema.path("allOf").forEach(part -> merge(whole, whole(document, part)));
        for (Map.Entry<String, JsonNode> keyword : schema.properties()) {
            switch (keyword.getKey()) {
                case "$ref", "allOf" -> {
                    // merged above
                }
                case "properties" -> {
                    ObjectNode members = whole.withObjectProperty("properties");
                    keyword.getValue().properties()
                            .forEach(each -> members.set(each.getKey(), whole(document, each.getValue())));
                }
                case "required" -> whole.withArrayProperty("required").addAll((ArrayNode) keyword.getValue());
                case "unevaluatedProperties" -> whole.set("additionalProperties", keyword.getValue());
                case "anyOf", "oneOf" -> {
                    ArrayNode parts = whole.putArray(keyword.getKey());
                    keyword.getValue().forEach(part -> parts.add(whole(document, part)));
                }
                case "items", "additionalProperties" -> whole.set(keyword.getKey(), keyword.getValue().isObject()
                        ? whole(document, keyword.getValue())
                        : keyword.getValue());
                default -> whole.set(keyword.getKey(), keyword.getValue());
            }
        }
        return whole;
    }

    /** The schema without annotations: only the keywords that a validator checks. */
    static ObjectNode assertions(JsonNode schema) {
        ObjectNode kept = Json.object();
        schema.properties().forEach(keyword -> {
            JsonNode value = keyword.getValue();
            switch (keyword.getKey()) {
                case "description", "default", "examples", "format" -> {
                    // for readers, and for RequestShape
                }
                case "properties" -> {
                    ObjectNode members = kept.putObject("properties");
                    value.properties().forEach(each -> members.set(each.getKey(), assertions(each.getValue())));
                }
                default -> {
                    if (!keyword.getKey().startsWith("x-")) {
                        kept.set(keyword.getKey(), value.isObject() ? assertions(value) : value);
                    }
                }
            }
        });
        return kept;
    }

    private static void merge(ObjectNode whole, ObjectNode part) {
        part.properties().forEach(keyword -> {
            switch (keyword.getKey()) {
                case "properties" ->
                    whole.withObjectProperty("properties").setAll((ObjectNode) keyword.getValue());
                case "required" -> whole.withArrayProperty("required").addAll((ArrayNode) keyword.getValue());
                default -> whole.set(keyword.getKey(), keyword.getValue());
            }
        });
    }
}
