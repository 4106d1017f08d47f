package io.keelson.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The API's description, written first and by hand; a test holds the routes to it. */
final class OpenApi {

    private OpenApi() {}

    static ObjectNode document() {
        try (InputStream yaml = Objects.requireNonNull(OpenApi.class.getResourceAsStream("/openapi.yaml"))) {
            return (ObjectNode) new YAMLMapper().readTree(yaml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
