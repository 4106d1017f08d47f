package io.keelson.server.base.json;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A JSON Schema 2020-12 that a client has written. It has no references, which could go in circles or to other
 * machines, and its patterns are RE2. Safe for use by many threads.
 */
public final class DeclaredSchema {
    private static final Schema OF_SCHEMAS = Schemas.ofSchemas();

    /**
     * A problem of a schema, or of a value by a schema.
     *
     * @param pointer JSON pointer into the schema or the value, empty for the whole
     * @param allowed words that are allowed there; empty where it is not about words
     */
    public record Flaw(String pointer, String message, List<String> allowed) {
        Flaw(String pointer, String message) {
            this(pointer, message, List.of());
        }
    }

    private final List<Flaw> flaws;
    private final @Nullable Schema schema;

    public DeclaredSchema(JsonNode declaration) {
        List<Flaw> found = new ArrayList<>();
        unusable(declaration, "", found);
        Schema compiled = null;
        if (found.isEmpty()) {
            found.addAll(ofSchema(OF_SCHEMAS.validate(declaration)));
        }
        if (found.isEmpty()) {
            try {
                compiled = Schemas.declared(declaration);
            } catch (SchemaException e) {
                found.add(new Flaw("", String.valueOf(e.getMessage())));
            }
        }
        flaws = List.copyOf(found);
        schema = compiled;
    }

    /** Problems of the schema itself; empty if it can be used. */
    public List<Flaw> flaws() {
        return flaws;
    }

    /** Violations of the schema by a value; none if the schema itself is invalid. */
    public List<Flaw> check(JsonNode value) {
        try {
            return schema == null ? List.of() : SchemaErrors.flaws(schema.validate(value));
        } catch (TimedText.StoppedException e) {
            return List.of(new Flaw("", String.valueOf(e.getMessage())));
        }
    }

    /** Reports a value that is not allowed once, although lists of such values are allowed there as well. */
    private static List<Flaw> ofSchema(List<Error> errors) {
        Map<String, List<String>> words = new HashMap<>();
        errors.stream().filter(error -> error.getKeyword().equals("enum")).forEach(error -> words.put(
                error.getInstanceLocation().toString(),
                error.getSchemaNode().valueStream().map(JsonNode::asString).toList()));
        return errors.stream()
                .filter(error -> error.getKeyword().equals("enum")
                        || !words.containsKey(error.getInstanceLocation().toString()))
                .map(error -> {
                    String at = error.getInstanceLocation().toString();
                    List<String> allowed = words.getOrDefault(at, List.of());
                    return new Flaw(at, allowed.isEmpty() ? String.valueOf(error.getMessage())
                            : "must be one of " + String.join(", ", allowed), allowed);
                }).toList();
    }

    /** Looks for keywords that are not supported, in schemas only: data and names of members may be anything. */
    private static void unusable(JsonNode schema, String at, List<Flaw> found) {
        for (var member : schema.properties()) {
            String keyword = member.getKey();
            String here = below(at, keyword);
            JsonNode value = member.getValue();
            if (keyword.startsWith("$") && value.isString()) {
                found.add(new Flaw(here, "'" + keyword + "' is not supported in declared schemas"));
            } else if (keyword.equals("pattern") && value.isString()) {
                regex(value.stringValue(), here, found);
            } else if (keyword.equals("patternProperties")) {
                value.propertyNames().forEach(regex -> regex(regex, below(here, regex), found));
            }
            switch (SchemaPart.of(keyword, value.isArray())) {
                case SCHEMA -> unusable(value, here, found);
                case NAMED_SCHEMAS -> value.forEachEntry((name, part) -> unusable(part, below(here, name), found));
                case LIST_OF_SCHEMAS -> {
                    for (int i = 0; i < value.size(); i++) {
                        unusable(value.path(i), here + "/" + i, found);
                    }
                }
                case DATA -> {}
            }
        }
    }

    private static String below(String at, String name) {
        return at + "/" + name.replace("~", "~0").replace("/", "~1");
    }

    private static void regex(String regex, String at, List<Flaw> found) {
        try {
            Pattern.compile(regex);
        } catch (PatternSyntaxException e) {
            found.add(new Flaw(at, "not a regular expression (RE2): " + e.getDescription()));
        }
    }
}
