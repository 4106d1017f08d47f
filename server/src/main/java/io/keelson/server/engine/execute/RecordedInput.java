package io.keelson.server.engine.execute;

import io.keelson.server.base.json.Json;
import io.keelson.server.engine.execute.Scopes.ToolInput;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The resolved input of a step for the record of the attempt: secrets redacted, and bounded. */
public final class RecordedInput {
    /** Characters of JSON text; a longer input is recorded as {@code {"$truncated": {"characters": n, "start": "…"}}}. */
    static final int MAX_CHARS = 64 * 1024;

    private RecordedInput() {}

    /**
     * @param template the input as the plan gives it, JSON text
     * @return JSON text; null when the template has no expressions, because the step's own row has it
     */
    public static @Nullable String of(String template, ToolInput resolved) {
        if (!template.contains("${")) {
            return null;
        }
        String json =
                (resolved.redaction().none() ? resolved.json() : resolved.redaction().json(resolved.json())).toString();
        return json.length() <= MAX_CHARS ? json : cut(json);
    }

    private static String cut(String json) {
        int end = Character.isHighSurrogate(json.charAt(MAX_CHARS - 1)) ? MAX_CHARS - 1 : MAX_CHARS;
        ObjectNode cut = Json.object();
        cut.putObject("$truncated").put("characters", json.length()).put("start", json.substring(0, end));
        return cut.toString();
    }
}
