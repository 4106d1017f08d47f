package io.keelson.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The API's description, written first and by hand; a test holds the routes to it. Only the idempotency key, which counts
 * wherever {@link Route#keyed} says so, is added here.
 */
final class OpenApi {

    private OpenApi() {}

    static ObjectNode document() {
        try (InputStream yaml = Objects.requireNonNull(OpenApi.class.getResourceAsStream("/openapi.yaml"))) {
            ObjectNode document = (ObjectNode) new YAMLMapper().readTree(yaml);
            addKeys((ObjectNode) document.get("paths"));
            addKeys((ObjectNode) document.at("/components/pathItems"));
            return document;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void addKeys(ObjectNode paths) {
        paths.properties().forEach(path -> {
            if (path.getValue().get("post") instanceof ObjectNode post && Route.keyed(path.getKey())) {
                post.withArray("parameters").addObject().put("$ref", "#/components/parameters/idempotencyKey");
            }
        });
    }
}
