package io.keelson.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One HTTP request to be made.
 *
 * @param idempotent whether it may be sent again when it is not known if the first one arrived
 * @param timeout for the answer; null for the client's own
 * @param file content that is sent unchanged instead of a body; null if absent
 */
record Call(String method, String path, @Nullable JsonNode body, Map<String, String> headers, boolean idempotent,
        @Nullable Duration timeout, @Nullable Path file) {

    private static final String API = "/api/v1";

    static Call get(Object path) {
        return new Call("GET", API + path, null, Map.of(), true, null, null);
    }

    static Call of(String method, Object path, @Nullable JsonNode body) {
        return new Call(method, API + path, body, Map.of(), false, null, null);
    }

    static Call post(Object path, @Nullable JsonNode body) {
        return new Call("POST", API + path, body, Map.of(), false, null, null);
    }

    static Call put(Object path, JsonNode body) {
        return new Call("PUT", API + path, body, Map.of(), true, null, null);
    }

    static Call patch(Object path, JsonNode body) {
        return new Call("PATCH", API + path, body, Map.of(), true, null, null);
    }

    /** A read outside the versioned API, such as {@code /readyz}. */
    static Call probe(String path) {
        return new Call("GET", path, null, Map.of(), false, null, null);
    }

    Call repeatable() {
        return new Call(method, path, body, headers, true, timeout, file);
    }

    /** With an idempotency key, of the caller or a new one, so that it may be repeated. */
    Call keyed(@Nullable String key) {
        return header("Idempotency-Key", key == null ? UUID.randomUUID().toString() : key).repeatable();
    }

    Call within(Duration time) {
        return new Call(method, path, body, headers, idempotent, time, file);
    }

    Call header(String name, String value) {
        Map<String, String> all = new HashMap<>(headers);
        all.put(name, value);
        return new Call(method, path, body, Map.copyOf(all), idempotent, timeout, file);
    }

    Call content(String type, Path content) {
        return new Call(method, path, null, headers, idempotent, timeout, content).header("Content-Type", type);
    }
}
