package io.keelson.server.mission.plan;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.json.Schemas;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Says in our codes and words what one of our schemas has against a document. */
public final class SchemaCheck {
    private static final String NOT_BLANK = "\\S";
    /** The published schema of missions. */
    static final SchemaCheck MISSION = new SchemaCheck("mission");

    private final SchemaRegistry schemas = Schemas.registry();
    private final Schema schema;
    private final @Nullable JsonNode described;

    /** @param name of a published schema, {@code mission} or {@code config} */
    SchemaCheck(String name) {
        this.schema = schemas.getSchema(SchemaLocation.of("classpath:/schema/" + name + ".schema.json"));
        schema.initializeValidators();
        this.described = null;
    }

    private SchemaCheck(JsonNode schema, JsonNode described) {
        this.schema = schemas.getSchema(schema);
        this.schema.initializeValidators();
        this.described = described;
    }

    /**
     * @param schema without references
     * @param described the same with its descriptions, which problems show
     */
    public static SchemaCheck of(JsonNode schema, JsonNode described) {
        return new SchemaCheck(schema, described);
    }

    /** All problems; pointers are into the document. */
    public List<PlanProblem> check(JsonNode document) {
        return schema.validate(document).stream().map(error -> problem(error, document)).toList();
    }

    private PlanProblem problem(Error error, JsonNode document) {
        String at = error.getInstanceLocation().toString();
        JsonNode found = document.at(at);
        JsonNode rule = error.getSchemaNode();
        return switch (error.getKeyword()) {
            case "additionalProperties" -> unknownKey(error, at);
            case "required" -> new PlanProblem("REQUIRED", Pointers.of(at, error.getProperty()),
                    "'" + error.getProperty() + "' must be given" + choices(error));
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
            case "minLength" -> found.asString().isBlank() ? new PlanProblem("EMPTY", at, "this may not be empty")
                    : new PlanProblem("TOO_SHORT", at, "at least " + rule + " characters are required");
            case "minItems", "minProperties" -> new PlanProblem("EMPTY", at, "at least " + rule + " must be given");
            case "maxItems", "maxProperties" -> new PlanProblem("TOO_MANY", at, "at most " + rule
                    + " are allowed, these are " + found.size());
            case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" -> new PlanProblem("OUT_OF_RANGE", at,
                    shown(found) + " is out of range: " + words(error.getKeyword()) + " "
                            + rule.decimalValue().toPlainString());
            case "multipleOf" -> new PlanProblem("OUT_OF_RANGE", at, "at most "
                    + rule.decimalValue().stripTrailingZeros().scale() + " decimal places are allowed");
            case "pattern" -> rule.asString().equals(NOT_BLANK) ? new PlanProblem("EMPTY", at, "this may not be blank")
                    : new PlanProblem(beside(error).path("format").asString("").equals("id") ? "INVALID_ID"
                            : "INVALID_VALUE", at,
                            shown(found) + " does not have the form "
                                    + rule.asString() + "; it is: " + beside(error).path("description").asString());
            default -> new PlanProblem("INVALID_VALUE", at, String.valueOf(error.getMessage()));
        };
    }

    private PlanProblem unknownKey(Error error, String at) {
        String key = error.getProperty();
        // Others are set when a plan is read.
        List<String> known = beside(error).path("properties").propertyStream()
                .filter(each -> !each.getValue().path("readOnly").asBoolean(false)).map(Map.Entry::getKey).toList();
        return new PlanProblem("UNKNOWN_KEY", Pointers.of(at, key), "unknown key '" + Pointers.shown(key) + "'"
                + NameSuggestion.hint(key, known) + "; known: " + String.join(", ", known));
    }

    private String choices(Error error) {
        JsonNode choices = beside(error).path("properties").path(error.getProperty()).path("enum");
        return choices.isArray() ? "; allowed: " + String.join(", ", names(choices)) : "";
    }

    /** The part of the schema that contains the failed keyword. */
    private JsonNode beside(Error error) {
        if (described != null) {
            return described.at(error.getEvaluationPath().getParent().toString());
        }
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
