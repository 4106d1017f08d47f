package io.keelson.server.plan;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.json.Schemas;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Says in our codes and words what one of our schemas has against a document. */
final class SchemaCheck {
    private final SchemaRegistry schemas = Schemas.registry();
    private final Schema schema;

    /** @param name of a published schema, {@code mission} or {@code config} */
    SchemaCheck(String name) {
        this.schema = schemas.getSchema(SchemaLocation.of("classpath:/schema/" + name + ".schema.json"));
        schema.initializeValidators();
    }

    /** All problems; pointers are into the document. */
    List<PlanProblem> check(JsonNode document) {
        return schema.validate(document).stream().map(error -> problem(error, document)).toList();
    }

    private PlanProblem problem(Error error, JsonNode document) {
        String at = error.getInstanceLocation().toString();
        JsonNode found = document.at(at);
        JsonNode rule = error.getSchemaNode();
        return switch (error.getKeyword()) {
            case "additionalProperties" -> unknownKey(error, at);
            case "required" -> new PlanProblem("REQUIRED", Pointers.of(at, error.getProperty()),
                    "'" + error.getProperty() + "' must be given");
            case "type" -> new PlanProblem("WRONG_TYPE", at, "expected " + types(rule) + ", found " + type(found)
                    + (found.isNull() ? ": omit the key instead" : ""));
            case "enum", "const" -> new PlanProblem("INVALID_VALUE", at, shown(found) + " is not allowed here"
                    + NameSuggestion.hint(found.asString(""), names(rule)) + "; allowed: "
                    + String.join(", ", names(rule)));
            case "not" -> new PlanProblem("NOT_SUPPORTED_YET", at, "not supported yet: " + name(at) + " "
                    + shown(found));
            case "maxLength" ->
                new PlanProblem("TOO_LONG", at, "at most " + rule + " characters are allowed, these are "
                        + found.asString().codePointCount(0, found.asString().length()));
            case "minLength" -> new PlanProblem("EMPTY", at, "this may not be empty");
            case "maxItems", "maxProperties" -> new PlanProblem("TOO_MANY", at, "at most " + rule
                    + " are allowed, these are " + found.size());
            case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" -> new PlanProblem("OUT_OF_RANGE", at,
                    shown(found) + " is out of range: " + words(error.getKeyword()) + " "
                            + rule.decimalValue().toPlainString());
            case "pattern" -> new PlanProblem("INVALID_VALUE", at, shown(found) + " does not have the form "
                    + rule.asString() + "; it is: " + beside(error).path("description").asString());
            default -> new PlanProblem("INVALID_VALUE", at, String.valueOf(error.getMessage()));
        };
    }

    private PlanProblem unknownKey(Error error, String at) {
        String key = error.getProperty();
        List<String> known = List.copyOf(beside(error).path("properties").propertyNames());
        return new PlanProblem("UNKNOWN_KEY", Pointers.of(at, key), "unknown key '" + Pointers.shown(key) + "'"
                + NameSuggestion.hint(key, known) + "; known: " + String.join(", ", known));
    }

    /** The part of the schema that contains the failed keyword. */
    private JsonNode beside(Error error) {
        SchemaLocation rule = error.getSchemaLocation();
        return schemas.getSchema(new SchemaLocation(rule.getAbsoluteIri(), rule.getFragment().getParent()))
                .getSchemaNode();
    }

    private static List<String> names(JsonNode rule) {
        return rule.isArray() ? rule.values().stream().map(JsonNode::asString).toList() : List.of(rule.asString());
    }

    private static String types(JsonNode rule) {
        return names(rule).stream().filter(type -> !type.equals("null")).collect(Collectors.joining(" or "));
    }

    private static String type(JsonNode node) {
        return node.isIntegralNumber() ? "integer" : node.getNodeType().name().toLowerCase(Locale.ROOT);
    }

    private static String words(String keyword) {
        return switch (keyword) {
            case "minimum" -> "at least";
            case "maximum" -> "at most";
            case "exclusiveMinimum" -> "more than";
            default -> "less than";
        };
    }

    private static String name(String pointer) {
        return pointer.substring(pointer.lastIndexOf('/') + 1);
    }

    private static String shown(JsonNode node) {
        return Pointers.shown(node.toString());
    }
}
