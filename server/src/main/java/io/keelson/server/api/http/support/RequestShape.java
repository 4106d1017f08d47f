package io.keelson.server.api.http.support;

import io.keelson.server.base.json.JsonSize;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.tenant.money.CreditAmounts;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;

/**
 * Brings a value to the form that its schema is checked in: removes nulls that count as absent, adds defaults, replaces
 * characters that cannot be stored where the schema has {@code x-cleaned}, and checks what JSON Schema has no keyword for.
 *
 * @param members by name
 * @param each of the items of an array, or of the further members of an object
 * @param absent the default; null if absent
 * @param nullable whether null is a value of its own
 * @param free whether any JSON is allowed
 * @param cleaned whether text is cleaned instead of refused
 * @param maxCharacters of a free value as JSON; 0 for no limit
 * @param format the schema's, empty if absent
 */
record RequestShape(Map<String, RequestShape> members, @Nullable RequestShape each, @Nullable JsonNode absent,
        boolean nullable, boolean free, boolean cleaned, int maxCharacters, String format) {

    /** Numbers with more digits before or after the point are refused: arithmetic with them takes too long. */
    private static final int MAX_SCALE = 400;

    /** Receives problems with their place. */
    interface Report {
        void problem(String code, String pointer, String message);
    }

    /** @param schema without references and {@code allOf} */
    static RequestShape of(JsonNode schema) {
        Map<String, RequestShape> members = new LinkedHashMap<>();
        schema.path("properties").properties().forEach(each -> members.put(each.getKey(), of(each.getValue())));
        JsonNode each = schema.has("items") ? schema.get("items") : schema.path("additionalProperties");
        List<String> types = types(schema.path("type"));
        boolean free = members.isEmpty() && !each.isObject() && !schema.has("enum")
                && (types.isEmpty() || types.contains("object")) && !schema.has("additionalProperties");
        return new RequestShape(members, each.isObject() ? of(each) : null, schema.get("default"),
                types.contains("null"), free, schema.path("x-cleaned").asBoolean(false),
                schema.path("x-max-characters").asInt(0), schema.path("format").asString(""));
    }

    private static List<String> types(JsonNode type) {
        return type.isArray() ? type.valueStream().map(JsonNode::stringValue).toList()
                : type.isString() ? List.of(type.stringValue()) : List.of();
    }

    /** The value in its normal form. Containers of described members are changed in place. */
    JsonNode normal(JsonNode value, String at, Report report) {
        if (free) {
            if (JsonSize.isTooDeep(value)) {
                report.problem("OUTPUT_INVALID", at,
                        "has more than " + JsonSize.MAX_DEPTH + " nested objects and arrays");
            }
            if (!storable(value)) {
                report.problem("NUMBER_OUT_OF_RANGE", at, "contains a number beyond the range of a double");
            }
            if (maxCharacters > 0 && JsonSize.chars(value, maxCharacters) > maxCharacters) {
                report.problem("TOO_LONG", at, "at most " + maxCharacters + " characters as JSON");
            }
            return SafeText.clean(value);
        }
        return switch (value) {
            case ObjectNode object -> object(object, at, report);
            case ArrayNode items when each != null -> items(items, each, at, report);
            case JsonNode text when text.isString() -> text(text, at, report);
            case JsonNode number when number.isBigDecimal() && !storable(number) -> {
                report.problem("OUT_OF_RANGE", at, "is out of range");
                yield IntNode.valueOf(0);
            }
            default -> value;
        };
    }

    private ObjectNode object(ObjectNode object, String at, Report report) {
        members.forEach((name, member) -> {
            JsonNode value = object.get(name);
            if (value != null && value.isNull() && !member.nullable) {
                object.remove(name);
                value = null;
            }
            if (value != null) {
                object.set(name, member.normal(value, at + "/" + name, report));
            } else if (member.absent != null) {
                object.set(name, member.absent);
            }
        });
        if (each != null) {
            for (String name : new ArrayList<>(object.propertyNames())) {
                if (!members.containsKey(name)) {
                    if (SafeText.clean(name) != name) {
                        report.problem("INVALID_TEXT", at,
                                "has a name with a NUL character or half of a surrogate pair");
                    }
                    object.set(name, each.normal(object.get(name), at + "/" + escaped(name), report));
                }
            }
        }
        return object;
    }

    private static ArrayNode items(ArrayNode items, RequestShape each, String at, Report report) {
        for (int i = 0; i < items.size(); i++) {
            items.set(i, each.normal(items.get(i), at + "/" + i, report));
        }
        return items;
    }

    private JsonNode text(JsonNode node, String at, Report report) {
        if (cleaned) {
            return SafeText.clean(node);
        }
        String text = node.stringValue();
        if (SafeText.clean(text) != text) {
            report.problem("INVALID_TEXT", at, "contains a NUL character or half of a surrogate pair");
        }
        if (format.equals("amount")) {
            Optional<BigDecimal> amount = CreditAmounts.parse(text);
            if (amount.isPresent()) {
                return DecimalNode.valueOf(amount.get());
            }
            report.problem("INVALID_VALUE", at, "must be a decimal number such as 12.5");
        }
        Formats.Flaw flaw = Formats.flaw(format, text);
        if (flaw != null) {
            report.problem(flaw.code(), at, flaw.message());
        }
        return node;
    }

    private static boolean storable(JsonNode value) {
        return value.isContainer() ? value.valueStream().allMatch(RequestShape::storable)
                : !value.isBigDecimal() || Math.abs((long) value.decimalValue().scale()) <= MAX_SCALE;
    }

    /** Embeds values of any JSON, so that binding passes them on instead of copying them. */
    void embed(JsonNode value) {
        if (each != null && value.isArray()) {
            value.forEach(each::embed);
        }
        if (each != null && each.free && value instanceof ObjectNode object) {
            object.propertyNames().stream().filter(name -> !members.containsKey(name)).toList()
                    .forEach(name -> object.set(name, new POJONode(object.get(name))));
        }
        members.forEach((name, member) -> {
            JsonNode of = value.get(name);
            if (of != null && member.free) {
                ((ObjectNode) value).set(name, new POJONode(of));
            } else if (of != null) {
                member.embed(of);
            }
        });
    }

    private static String escaped(String name) {
        return name.replace("~", "~0").replace("/", "~1");
    }

}
