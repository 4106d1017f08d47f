package io.keelson.server.run.sql;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** The model that a step's input names before it is resolved: its member {@code model}, where that is plain text. */
public final class ModelName {
    private static final String MEMBER = "model";
    private static final int MAX_LENGTH = 255;

    private ModelName() {}

    /**
     * Empty for none. Inputs that have not even the word are not read.
     *
     * @param input JSON text
     */
    public static String of(String input) {
        if (!input.contains('"' + MEMBER + '"')) {
            return "";
        }
        try {
            JsonNode named = TextColumns.tree(input).path(MEMBER);
            String model = named.isString() ? named.stringValue() : "";
            return model.length() > MAX_LENGTH || model.contains("${") || model.indexOf('\0') >= 0 ? "" : model;
        } catch (JacksonException e) {
            return "";
        }
    }
}
