package io.keelson.server.api.http.support;

import io.keelson.server.base.json.SafeText;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A query parameter as the OpenAPI document declares it.
 *
 * @param schema without references; of the item where the parameter may be repeated
 * @param times how often it may be given
 * @param words the allowed values; empty for any
 * @param pattern null if absent
 */
record QueryParameter(String name, boolean required, JsonNode schema, int times, List<String> words,
        @Nullable Pattern pattern) {

    private static final Pattern WHOLE_NUMBER = Pattern.compile("-?(0|[1-9][0-9]{0,18})");
    private static final List<String> YES_NO = List.of("true", "false");

    /** @param declared a parameter object of OpenAPI without references */
    static QueryParameter of(JsonNode declared) {
        JsonNode schema = declared.path("schema");
        JsonNode each = schema.has("items") ? schema.get("items") : schema;
        return new QueryParameter(declared.path("name").stringValue(), declared.path("required").asBoolean(false), each,
                schema.path("maxItems").asInt(1),
                each.path("type").asString("").equals("boolean") ? YES_NO
                        : each.path("enum").valueStream().map(JsonNode::stringValue).toList(),
                each.has("pattern") ? Pattern.compile(each.get("pattern").stringValue()) : null);
    }

    /** @throws ApiProblem INVALID_PARAMETER */
    void check(List<String> given) {
        if (given.isEmpty() && required) {
            throw invalid("is missing");
        }
        if (given.size() > times) {
            throw invalid(times == 1 ? "is given more than once" : "is given more than " + times + " times");
        }
        given.forEach(this::check);
    }

    private void check(String value) {
        if (!words.isEmpty()) {
            if (!words.contains(value)) {
                throw invalid("must be one of " + String.join(", ", words)).allowing(words);
            }
        } else if (schema.path("type").asString("").equals("integer")) {
            checkNumber(value);
        } else {
            checkText(value);
        }
    }

    private void checkNumber(String value) {
        long min = schema.path("minimum").longValue();
        long max = schema.path("maximum").longValue();
        if (WHOLE_NUMBER.matcher(value).matches()) {
            try {
                long number = Long.parseLong(value);
                if (number >= min && number <= max) {
                    return;
                }
            } catch (NumberFormatException e) {
                // 19 digits above the largest long: refused below
            }
        }
        throw invalid("must be a whole number from " + min + " to " + max);
    }

    private void checkText(String value) {
        if (value.length() > schema.path("maxLength").asInt(Integer.MAX_VALUE)
                || !SafeText.clean(value).equals(value)) {
            throw invalid("is too long or has a character that is not allowed");
        }
        if (value.length() < schema.path("minLength").asInt(0)) {
            throw invalid("is empty");
        }
        if (pattern != null && !pattern.matcher(value).find()) {
            throw invalid("must be " + described());
        }
        Formats.Flaw flaw = Formats.flaw(schema.path("format").asString(""), value);
        if (flaw != null) {
            throw invalid(flaw.message());
        }
    }

    /** The schema's description in the middle of a sentence. */
    private String described() {
        String text = schema.path("description").asString("of another form");
        return Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }

    /** The default as text; null if absent. */
    @Nullable String absent() {
        return schema.has("default") ? schema.get("default").asString() : null;
    }

    private ApiProblem invalid(String what) {
        return Query.invalid(name, what);
    }
}
