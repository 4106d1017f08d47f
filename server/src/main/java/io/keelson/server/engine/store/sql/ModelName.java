package io.keelson.server.engine.store.sql;

import io.keelson.server.base.json.Json;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** The model in a step's unresolved input: its member {@code model}, if that is plain text. */
public final class ModelName {
    private static final String MEMBER = "model";
    private static final int MAX_LENGTH = 255;

    private ModelName() {}

    /**
     * Empty if absent. Does not parse inputs without the word.
     *
     * @param input JSON text
     */
    public static String of(String input) {
        if (!input.contains('"' + MEMBER + '"')) {
            return "";
        }
        try {
            JsonNode named = Json.read(input).path(MEMBER);
            String model = named.isString() ? named.stringValue() : "";
            return model.length() > MAX_LENGTH || model.contains("${") || model.indexOf('\0') >= 0 ? "" : model;
        } catch (JacksonException e) {
            return "";
        }
    }
}
