package io.keelson.server.plan;

import com.google.re2j.PatternSyntaxException;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The inputs of a mission: declared as JSON Schemas, given as values, resolved with their defaults. */
final class InputValues {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]{0,99}");
    private static final Schema OF_SCHEMAS = Schemas.ofSchemas();

    private final ObjectNode declarations;
    private final Problems problems;

    InputValues(ObjectNode declarations, Problems problems) {
        this.declarations = declarations;
        this.problems = problems;
    }

    /** What expressions see as {@code .inputs}: the values given, and defaults for the others. */
    ObjectNode resolve(ObjectNode values) {
        ObjectNode resolved = JsonNodeFactory.instance.objectNode();
        declarations.properties().forEach(each -> resolve(each.getKey(), each.getValue(), values, resolved));
        for (String name : values.propertyNames()) {
            if (!declarations.has(name)) {
                List<String> known = List.copyOf(declarations.propertyNames());
                problems.add("INPUT_UNKNOWN", Pointers.of("/input", name), "no input '" + Pointers.shown(name)
                        + "' is declared" + Nearest.hint(name, known)
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
        Schema schema = schema(declaration, declared);
        if (values.has(name)) {
            check(schema, values.path(name), Pointers.of("/input", name));
            resolved.set(name, values.path(name));
        } else if (declaration.has("default")) {
            check(schema, declaration.path("default"), declared + "/default");
            resolved.set(name, declaration.path("default"));
        } else {
            problems.add("INPUT_MISSING", Pointers.of("/input", name), "input '" + Pointers.shown(name)
                    + "' has no default and was not given");
        }
    }

    private void check(@Nullable Schema schema, JsonNode value, String at) {
        if (schema != null) {
            schema.validate(value).forEach(error -> problems.add("INPUT_INVALID", at + error.getInstanceLocation(),
                    String.valueOf(error.getMessage())));
        }
    }

    /** Null when the declaration is no schema that can be used; then a problem says so. */
    private @Nullable Schema schema(JsonNode declaration, String at) {
        if (problems.coverBelow(at) || !usable(declaration, at)) {
            return null;
        }
        var errors = OF_SCHEMAS.validate(declaration);
        errors.forEach(error -> problems.add("INVALID_SCHEMA", at + error.getInstanceLocation(),
                String.valueOf(error.getMessage())));
        try {
            return errors.isEmpty() ? Schemas.declared(declaration) : null;
        } catch (SchemaException e) {
            problems.add("INVALID_SCHEMA", at, String.valueOf(e.getMessage()));
            return null;
        }
    }

    /** References could go in circles or to other machines; patterns must be RE2. */
    private boolean usable(JsonNode node, String at) {
        boolean usable = true;
        for (var member : node.properties()) {
            String here = Pointers.of(at, member.getKey());
            if (member.getKey().startsWith("$") && member.getValue().isString()) {
                problems.add("INVALID_SCHEMA", here, "inputs are declared without '" + member.getKey() + "'");
                usable = false;
            } else if (member.getKey().equals("pattern") && member.getValue().isString()) {
                usable &= regex(member.getValue().stringValue(), here);
            } else if (member.getKey().equals("patternProperties")) {
                for (String regex : member.getValue().propertyNames()) {
                    usable &= regex(regex, Pointers.of(here, regex));
                }
            }
            usable &= usable(member.getValue(), here);
        }
        int index = 0;
        for (JsonNode item : node.isArray() ? node : List.<JsonNode>of()) {
            usable &= usable(item, Pointers.of(at, index++));
        }
        return usable;
    }

    private boolean regex(String regex, String at) {
        try {
            com.google.re2j.Pattern.compile(regex);
            return true;
        } catch (PatternSyntaxException e) {
            problems.add("INVALID_SCHEMA", at, "not a regular expression (RE2): " + e.getDescription());
            return false;
        }
    }
}
