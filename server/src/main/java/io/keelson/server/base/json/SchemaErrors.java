package io.keelson.server.base.json;

import com.networknt.schema.Error;
import com.networknt.schema.path.NodePath;
import io.keelson.server.base.json.DeclaredSchema.Flaw;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * Reports the problems of a value by a schema. A value that fits no alternative of {@code oneOf} or {@code anyOf} is
 * compared with the nearest alternative only, because the library lists the errors of all.
 */
public final class SchemaErrors {

    private static final Set<String> CHOICES = Set.of("oneOf", "anyOf");
    /** Keywords that apply the schema below them to a part of the value; the first two are followed by a name. */
    private static final Set<String> NAMED = Set.of("properties", "patternProperties");
    private static final Set<String> PARTS = Set.of("items", "prefixItems", "contains", "additionalProperties",
            "unevaluatedProperties", "unevaluatedItems", "propertyNames");

    private SchemaErrors() {}

    /** In the order of the library's errors. */
    public static List<Flaw> flaws(List<Error> errors) {
        return flaws(errors, 0);
    }

    /** @param from elements of the evaluation path that are common to all errors */
    private static List<Flaw> flaws(List<Error> errors, int from) {
        List<Flaw> flaws = new ArrayList<>();
        Map<String, List<Error>> choices = new LinkedHashMap<>();
        for (Error error : errors) {
            int choice = choice(error.getEvaluationPath(), from);
            if (choice >= 0) {
                choices.computeIfAbsent(prefix(error.getEvaluationPath(), choice + 1) + " " + place(error, choice),
                        key -> new ArrayList<>()).add(error);
            } else {
                flaws.add(new Flaw(error.getInstanceLocation().toString(), String.valueOf(error.getMessage())));
            }
        }
        choices.values().forEach(each -> flaws.addAll(nearest(each, from)));
        return flaws;
    }

    private static List<Flaw> nearest(List<Error> errors, int from) {
        int choice = choice(errors.getFirst().getEvaluationPath(), from);
        String place = place(errors.getFirst(), choice);
        Map<Integer, List<Error>> branches = new TreeMap<>();
        errors.stream().filter(error -> error.getEvaluationPath().getNameCount() > choice + 1)
                .forEach(error -> branches.computeIfAbsent(
                        (Integer) error.getEvaluationPath().getElement(choice + 1), key -> new ArrayList<>())
                        .add(error));
        if (branches.isEmpty()) {
            return List.of(new Flaw(place, ambiguous(errors.getFirst())));
        }
        List<Error> all = branches.values().stream().flatMap(List::stream).toList();
        if (all.stream().allMatch(error -> isAt(error, "required", place))) {
            return List.of(new Flaw(place, "must have " + branches.values().stream()
                    .map(branch -> branch.stream().map(error -> "'" + error.getProperty() + "'")
                            .collect(Collectors.joining(" and ")))
                    .collect(Collectors.joining(" or "))));
        }
        if (all.stream().allMatch(error -> isAt(error, "type", place))) {
            return List.of(new Flaw(place, "must be " + all.stream().map(error -> words(error.getSchemaNode()))
                    .distinct().collect(Collectors.joining(" or "))));
        }
        return flaws(branches.values().stream().min(Comparator
                .comparing((List<Error> branch) -> branch.stream().anyMatch(error -> isAt(error, "type", place)))
                .thenComparing(List::size)).orElseThrow(), choice + 2);
    }

    /** Several alternatives of {@code oneOf} fit. */
    private static String ambiguous(Error error) {
        List<JsonNode> alternatives = error.getSchemaNode().valueStream().map(each -> each.path("required")).toList();
        return alternatives.stream().allMatch(JsonNode::isArray)
                ? "must have only one of " + alternatives.stream().map(SchemaErrors::quoted)
                        .collect(Collectors.joining(", "))
                : String.valueOf(error.getMessage());
    }

    private static String quoted(JsonNode names) {
        return names.valueStream().map(name -> "'" + name.asString() + "'").collect(Collectors.joining(" and "));
    }

    private static String words(JsonNode types) {
        return types.isArray() ? types.valueStream().map(JsonNode::asString).collect(Collectors.joining(" or "))
                : types.asString();
    }

    private static boolean isAt(Error error, String keyword, String place) {
        return error.getKeyword().equals(keyword) && error.getInstanceLocation().toString().equals(place);
    }

    /** The index of the first {@code oneOf} or {@code anyOf}; -1 where there is none. */
    private static int choice(NodePath path, int from) {
        for (int i = from; i < path.getNameCount(); i++) {
            if (CHOICES.contains(String.valueOf(path.getElement(i)))) {
                return i;
            }
            if (NAMED.contains(String.valueOf(path.getElement(i)))) {
                i++;
            }
        }
        return -1;
    }

    /** The part of the value to which the choice applies. */
    private static String place(Error error, int choice) {
        int depth = 0;
        for (int i = 0; i < choice; i++) {
            String element = String.valueOf(error.getEvaluationPath().getElement(i));
            if (NAMED.contains(element)) {
                depth++;
                i++;
            } else if (PARTS.contains(element)) {
                depth++;
            }
        }
        return prefix(error.getInstanceLocation(), depth);
    }

    private static String prefix(NodePath path, int elements) {
        NodePath prefix = path;
        while (prefix.getNameCount() > elements) {
            prefix = prefix.getParent();
        }
        return prefix.toString();
    }
}
