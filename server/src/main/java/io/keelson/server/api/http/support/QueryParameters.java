package io.keelson.server.api.http.support;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The query parameters that the OpenAPI document declares for a route. Read at the first use. Thread-safe.
 *
 * <p>An operation that needs no key ignores undeclared parameters: probes, scrapers and caches add theirs.
 */
public final class QueryParameters {

    private static final String WORKSPACE = "workspace_id";

    private final JsonNode document;
    private final Route route;
    private volatile @Nullable Declared declared;

    /** @param othersIgnored true when undeclared parameters are ignored */
    private record Declared(Map<String, QueryParameter> byName, boolean othersIgnored) {

        static Declared of(JsonNode document, Route route) {
            Map<String, QueryParameter> byName = new LinkedHashMap<>();
            for (JsonNode parameter : OpenApiDocument.parameters(document, route, "query")) {
                byName.put(parameter.path("name").stringValue(), QueryParameter.of(parameter));
            }
            return new Declared(byName, OpenApiDocument.needsNoKey(OpenApiDocument.operation(document, route)));
        }
    }

    /** @param document OpenAPI */
    public QueryParameters(JsonNode document, Route route) {
        this.document = document;
        this.route = route;
    }

    /**
     * Validates the query of a request. Each operation takes the caller's own workspace as {@code workspace_id}, unless it
     * declares a parameter of that name.
     *
     * @param workspace the caller's; null on an open route
     * @param encoded the query as it was sent, of which {@code values} lack what cannot be decoded; null if absent
     * @throws ApiProblem UNKNOWN_PARAMETER, INVALID_PARAMETER or WORKSPACE_MISMATCH
     */
    Query read(@Nullable UUID workspace, Map<String, List<String>> values, @Nullable String encoded) {
        Declared known = declared;
        if (known == null) {
            known = Declared.of(document, route);
            declared = known;
        }
        Map<String, List<String>> read = values;
        List<String> named = known.byName.containsKey(WORKSPACE) ? null : values.get(WORKSPACE);
        if (known.othersIgnored) {
            read = new LinkedHashMap<>(values);
            read.keySet().retainAll(known.byName.keySet());
        } else if (workspace != null && named != null) {
            if (!named.stream().allMatch(workspace.toString()::equalsIgnoreCase)) {
                throw ApiProblem.of(ErrorCode.WORKSPACE_MISMATCH,
                        WORKSPACE + " names a workspace that the API key does not belong to");
            }
            read = new LinkedHashMap<>(values);
            read.remove(WORKSPACE);
        }
        return new Query(known.byName, read, encoded);
    }
}
