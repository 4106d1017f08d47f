package io.keelson.server.engine.tool;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A proposal of a call or a worker to people.
 *
 * @param title in a line
 * @param body further text; null if absent
 * @param data structured details for programs; null if absent
 * @param lifetime for how long it may be decided; null for ever
 */
public record Proposed(UUID id, String title, @Nullable String body, @Nullable JsonNode data,
        @Nullable Duration lifetime) {

    public static final int MAX_TITLE = 200;
    public static final int MAX_BODY = 20_000;
    /** Characters of its JSON text. */
    public static final int MAX_DATA = 65_536;
    public static final int MAX_SECONDS = 31_536_000;
}
