package io.keelson.server.api.http;

import io.keelson.server.api.http.support.OpenApiDocument;
import io.keelson.server.api.http.support.RequestSchema;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The API's description, written first and by hand; a test holds the routes to it. The idempotency key, which counts wherever
 * {@link Route#keyed} says so, and the scopes, which stand with the routes, are added here; errors and examples when it is
 * first served.
 */
final class OpenApi {

    /** The description, read at its first use. */
    private static final class Description {
        static final ObjectNode DOCUMENT = read();
        static final RequestSchema.Table BODIES = new RequestSchema.Table(DOCUMENT);
    }

    private OpenApi() {}

    /** Reads the description on another thread, as that takes a tenth of a second of a processor. */
    static void prepare() {
        ForkJoinPool.commonPool().execute(OpenApi::bodies);
    }

    /** A copy, without scopes, errors and examples. */
    static ObjectNode document() {
        return Description.DOCUMENT.deepCopy();
    }

    /** The schemas of request bodies. */
    static RequestSchema.Table bodies() {
        return Description.BODIES;
    }

    private static ObjectNode read() {
        try (InputStream yaml = Objects.requireNonNull(OpenApi.class.getResourceAsStream("/openapi.yaml"))) {
            ObjectNode document = (ObjectNode) new YAMLMapper().readTree(yaml);
            addKeys((ObjectNode) document.get("paths"));
            addKeys((ObjectNode) document.at("/components/pathItems"));
            return document;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A copy with the errors and examples of each operation, as it is served; made at the first call. */
    static Supplier<ObjectNode> served(ObjectNode document) {
        return new Supplier<>() {
            private @Nullable ObjectNode made;

            @Override
            public synchronized ObjectNode get() {
                ObjectNode known = made;
                if (known == null) {
                    known = document.deepCopy();
                    ErrorResponses.addTo(known);
                    Examples.addTo(known);
                    made = known;
                }
                return known;
            }
        };
    }

    private static void addKeys(ObjectNode paths) {
        paths.properties().forEach(path -> {
            if (path.getValue().get("post") instanceof ObjectNode post && Route.keyed(path.getKey())) {
                post.withArray("parameters").addObject().put("$ref", "#/components/parameters/idempotencyKey");
            }
        });
    }

    /** Says with each operation which scope its key needs, if any, as the routes have it. */
    static void addScopes(ObjectNode document, List<Route> routes) {
        for (Route route : routes) {
            Scope scope = route.scope();
            if (!route.open() && OpenApiDocument.operation(document, route) instanceof ObjectNode op) {
                ArrayNode wanted = op.putArray("security").addObject().putArray("apiKey");
                if (scope != null) {
                    wanted.add(scope.wire());
                }
            }
        }
    }
}
