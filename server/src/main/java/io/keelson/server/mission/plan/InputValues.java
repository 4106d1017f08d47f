package io.keelson.server.mission.plan;

import io.keelson.server.base.json.DeclaredSchema;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The inputs of a mission: declared as JSON Schemas, given as values, resolved with their defaults. */
final class InputValues {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]{0,99}");

    private final ObjectNode declarations;
    private final boolean required;
    private final Problems problems;

    /** @param required whether each input must have a value; else those without one stay open */
    InputValues(ObjectNode declarations, boolean required, Problems problems) {
        this.declarations = declarations;
        this.required = required;
        this.problems = problems;
    }

    /** The values of {@code .inputs} in expressions: the given ones, and defaults for the others. */
    ObjectNode resolve(ObjectNode values) {
        ObjectNode resolved = JsonNodeFactory.instance.objectNode();
        declarations.properties().forEach(each -> resolve(each.getKey(), each.getValue(), values, resolved));
        for (String name : values.propertyNames()) {
            if (!declarations.has(name)) {
                List<String> known = List.copyOf(declarations.propertyNames());
                problems.add("INPUT_UNKNOWN", Pointers.of("/input", name), "no input '" + Pointers.shown(name)
                        + "' is declared" + NameSuggestion.hint(name, known)
                        + (known.isEmpty() ? "" : "; declared: " + String.join(", ", known)));
            }
        }
        return resolved;
    }

    private void resolve(String name, JsonNode declaration, ObjectNode values, ObjectNode resolved) {
        String declared = Pointers.of("/inputs", name);
        if (!NAME.matcher(name).matches()) {
            problems.add("INVALID_VALUE", declared, "an input's name has letters, digits, _ and -, not a digit first,"
                    + " and at most 100 characters");
        }
        DeclaredSchema schema = schema(declaration, declared);
        if (values.has(name)) {
            check(schema, values.path(name), Pointers.of("/input", name));
            resolved.set(name, values.path(name));
        } else if (declaration.has("default")) {
            check(schema, declaration.path("default"), declared + "/default");
            resolved.set(name, declaration.path("default"));
        } else if (required) {
            problems.add("INPUT_MISSING", Pointers.of("/input", name), "input '" + Pointers.shown(name)
                    + "' is required: it has no default");
        }
    }

    private void check(@Nullable DeclaredSchema schema, JsonNode value, String at) {
        if (schema != null) {
            schema.check(value).forEach(flaw -> problems.add("INPUT_INVALID", at + flaw.pointer(), flaw.message()));
        }
    }

    /** Null when the published schema has already something against the declaration. */
    private @Nullable DeclaredSchema schema(JsonNode declaration, String at) {
        if (problems.coverBelow(at)) {
            return null;
        }
        DeclaredSchema schema = new DeclaredSchema(declaration);
        schema.flaws().forEach(flaw -> problems.add("INVALID_SCHEMA", at + flaw.pointer(), flaw.message()
                + NameSuggestion.hint(declaration.at(flaw.pointer()).asString(""), flaw.allowed())));
        return schema;
    }
}
