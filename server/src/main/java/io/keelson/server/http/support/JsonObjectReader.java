package io.keelson.server.http.support;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.json.Excerpt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The members of a JSON object as they were sent, and everything that is wrong with them, each with its place; what they
 * are read as is the matter of {@link Fields}. A null counts as absent.
 */
public abstract class JsonObjectReader {

    private static final int MOST_PROBLEMS = 100;

    private final ObjectNode object;
    private final String pointer;
    private final Map<String, PlanProblem> problems;
    private final List<JsonObjectReader> children = new ArrayList<>();
    private final Set<String> known = new HashSet<>();

    /** Of a whole body. */
    JsonObjectReader(ObjectNode body) {
        this.object = body;
        this.pointer = "";
        this.problems = new LinkedHashMap<>();
    }

    /** Of an object within another, whose problems are the other's. */
    JsonObjectReader(ObjectNode object, JsonObjectReader parent, String place) {
        this.object = object;
        this.pointer = parent.pointer + "/" + place;
        this.problems = parent.problems;
        parent.children.add(this);
    }

    /** Refuses the body when anything in it, or in the objects read from it, was wrong. */
    public final void done() {
        refuseUnknown();
        if (!problems.isEmpty()) {
            throw ApiProblem.of(List.copyOf(problems.values()));
        }
    }

    private void refuseUnknown() {
        for (String key : object.propertyNames()) {
            if (!known.contains(key)) {
                problem("UNKNOWN_KEY", key.replace("~", "~0").replace("/", "~1"),
                        "unknown member '" + Excerpt.piece(key) + "'; known: "
                                + (known.isEmpty() ? "none" : String.join(", ", known.stream().sorted().toList())));
            }
        }
        children.forEach(JsonObjectReader::refuseUnknown);
    }

    public final boolean has(String key) {
        return value(key) != null;
    }

    /** Whether the member is present and null: a request to remove the value. */
    public final boolean clears(String key) {
        known.add(key);
        return object.has(key) && object.get(key).isNull();
    }

    /** The names of all members that are given. */
    public final List<String> names() {
        return List.copyOf(object.propertyNames());
    }

    public final @Nullable JsonNode value(String key) {
        known.add(key);
        JsonNode value = object.get(key);
        return value == null || value.isNull() ? null : value;
    }

    final List<JsonNode> items(String key, int min, int max) {
        JsonNode value = value(key);
        if (value == null) {
            missing(key);
        } else if (!value.isArray()) {
            wrongType(key, "a list", value);
        } else if (value.size() < min || value.size() > max) {
            problem(value.isEmpty() ? "EMPTY" : "TOO_MANY", key,
                    "must have from " + min + " to " + max + " items, not " + value.size());
        } else {
            return value.valueStream().toList();
        }
        return List.of();
    }

    /**
     * Notes a problem with a member, the first that is found there: others follow from it.
     *
     * @param place the member's name, or the rest of the pointer to a place within it
     */
    public final void problem(String code, String place, String message) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.putIfAbsent(pointer + "/" + place, new PlanProblem(code, pointer + "/" + place, message));
        }
    }

    final void missing(String key) {
        problem("REQUIRED", key, "'" + key + "' must be given");
    }

    final void wrongType(String key, String wanted, JsonNode value) {
        problem("WRONG_TYPE", key, "must be " + wanted + ", not " + kind(value));
    }

    static String kind(JsonNode value) {
        return switch (value.getNodeType()) {
            case ARRAY -> "a list";
            case OBJECT -> "an object";
            case STRING -> "a string";
            case NUMBER -> "a number";
            case BOOLEAN -> "true or false";
            case NULL, MISSING -> "nothing";
            case BINARY, POJO -> "something else";
        };
    }
}
