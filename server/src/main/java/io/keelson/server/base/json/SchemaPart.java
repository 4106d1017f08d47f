package io.keelson.server.base.json;

import java.util.Set;

/** The value of a keyword of JSON Schema: which of its parts are schemas themselves. All other parts are data. */
public enum SchemaPart {
    DATA, SCHEMA, LIST_OF_SCHEMAS, NAMED_SCHEMAS;

    private static final Set<String> SCHEMAS = Set.of("items", "additionalItems", "contains", "additionalProperties",
            "unevaluatedItems", "unevaluatedProperties", "propertyNames", "not", "if", "then", "else", "contentSchema");
    private static final Set<String> LISTS = Set.of("allOf", "anyOf", "oneOf", "prefixItems");
    private static final Set<String> NAMED = Set.of("properties", "patternProperties", "dependentSchemas", "$defs",
            "definitions", "dependencies");

    /** The part behind a keyword of a schema. A list of {@code items} is one of schemas, as in older dialects. */
    public static SchemaPart of(String keyword, boolean list) {
        return NAMED.contains(keyword) ? NAMED_SCHEMAS
                : LISTS.contains(keyword) || keyword.equals("items") && list ? LIST_OF_SCHEMAS
                        : SCHEMAS.contains(keyword) ? SCHEMA : DATA;
    }
}
