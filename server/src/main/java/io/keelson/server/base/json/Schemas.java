package io.keelson.server.base.json;

import com.google.re2j.Pattern;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.Dialects;
import com.networknt.schema.regex.RegularExpression;
import tools.jackson.databind.JsonNode;

/**
 * JSON Schemas 2020-12, our own and clients'. Patterns are RE2, so a client's pattern cannot hang a thread, and no
 * reference is ever fetched.
 */
public final class Schemas {
    private static final String META = "https://json-schema.org/draft/2020-12/schema";
    private static final Dialect DIALECT =
            Dialect.builder(Dialects.getDraft202012()).keywords(NumberBound.all()).build();
    private static final SchemaRegistryConfig CONFIG = SchemaRegistryConfig.builder()
            .regularExpressionFactory(Schemas::re2)
            .build();

    private Schemas() {}

    /** A registry of its own, for schemas that refer to each other. */
    public static SchemaRegistry registry() {
        return SchemaRegistry.withDefaultDialect(DIALECT, builder -> builder.schemaRegistryConfig(CONFIG));
    }

    /** A registry with Java's patterns, for schemas of our own. */
    public static SchemaRegistry trusted() {
        return SchemaRegistry.withDefaultDialect(DIALECT);
    }

    /** The schema of schemas. */
    static Schema ofSchemas() {
        return registry().getSchema(SchemaLocation.of(META));
    }

    /**
     * @param declaration without references
     * @throws com.networknt.schema.SchemaException if the library cannot compile it
     */
    static Schema declared(JsonNode declaration) {
        Schema schema = registry().getSchema(declaration);
        schema.initializeValidators();
        return schema;
    }

    private static RegularExpression re2(String regex) {
        Pattern pattern = Pattern.compile(regex);
        return text -> pattern.matcher(new TimedText(text)).find();
    }
}
