package io.keelson.server.http.support;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The query parameters that the OpenAPI document declares for a route. Read at the first use. Thread-safe. */
public final class QueryParameters {

    private final JsonNode document;
    private final Route route;
    private volatile @Nullable Map<String, QueryParameter> declared;

    /** @param document OpenAPI */
    public QueryParameters(JsonNode document, Route route) {
        this.document = document;
        this.route = route;
    }

    /**
     * Validates the query of a request.
     *
     * @param encoded the query as it was sent, of which {@code values} lack what cannot be decoded; null for none
     * @throws ApiProblem UNKNOWN_PARAMETER or INVALID_PARAMETER
     */
    Query read(Map<String, List<String>> values, @Nullable String encoded) {
        Map<String, QueryParameter> known = declared;
        if (known == null) {
            known = new LinkedHashMap<>();
            for (JsonNode parameter : OpenApiDocument.parameters(document, route, "query")) {
                known.put(parameter.path("name").stringValue(), QueryParameter.of(parameter));
            }
            declared = known;
        }
        return new Query(known, values, encoded);
    }
}
