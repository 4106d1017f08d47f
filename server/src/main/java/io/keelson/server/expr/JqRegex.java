package io.keelson.server.expr;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.thisptr.jackson.jq.Expression;
import net.thisptr.jackson.jq.PathOutput;
import net.thisptr.jackson.jq.Scope;
import net.thisptr.jackson.jq.Version;
import net.thisptr.jackson.jq.exception.JsonQueryException;
import net.thisptr.jackson.jq.path.Path;
import org.jspecify.annotations.Nullable;

/**
 * The two functions that all regular expressions of jq come down to, on RE2: time linear in the text, no
 * backtracking, hence no look-around and no back references. Flags as in jq's manual; {@code x} is refused.
 */
final class JqRegex {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private record Search(Pattern pattern, boolean global, boolean skipEmpty) {}

    private JqRegex() {}

    /** {@code _match_impl(re; flags; test)}: emits whether it matches, or the array of match objects. */
    static void match(Scope scope, List<Expression> args, JsonNode in, @Nullable Path path, PathOutput output,
            Version version) throws JsonQueryException {
        String text = text(in, "match");
        args.get(0).apply(scope, in, re -> args.get(1).apply(scope, in, flags -> args.get(2).apply(scope, in, test -> {
            Search search = compile(re, flags);
            JsonNode result = test.asBoolean()
                    ? BooleanNode.valueOf(matcher(search, text).find())
                    : matches(search, text);
            output.emit(result, null);
        })));
    }

    /** {@code _sub_impl(re; replacement; flags)}: the replacement sees the named captures as its input. */
    static void sub(Scope scope, List<Expression> args, JsonNode in, @Nullable Path path, PathOutput output,
            Version version) throws JsonQueryException {
        String text = text(in, "sub");
        args.get(0).apply(scope, in, re -> args.get(2).apply(scope, in, flags -> {
            Search search = compile(re, flags);
            Matcher matcher = matcher(search, text);
            List<String> between = new ArrayList<>();
            List<JsonNode> captures = new ArrayList<>();
            int from = 0;
            while (next(search, matcher, captures.isEmpty())) {
                between.add(text.substring(from, matcher.start()));
                captures.add(named(search, matcher));
                from = matcher.end();
            }
            String tail = text.substring(from);
            for (String result : replaced(scope, args.get(1), between, captures)) {
                output.emit(TextNode.valueOf(result + tail), null);
            }
        }));
    }

    /** One text per value the replacement gives; a replacement with several multiplies. */
    private static List<String> replaced(Scope scope, Expression replacement, List<String> between,
            List<JsonNode> captures) throws JsonQueryException {
        EvaluationBudget budget = EvaluationBudget.CURRENT.get();
        List<StringBuilder> results = new ArrayList<>(List.of(new StringBuilder()));
        for (int i = 0; i < captures.size(); i++) {
            List<String> values = new ArrayList<>();
            replacement.apply(scope, captures.get(i), value -> values.add(text(value, "sub")));
            List<StringBuilder> longer = new ArrayList<>();
            for (StringBuilder before : results) {
                before.append(between.get(i));
                for (int v = 0; v < values.size(); v++) {
                    budget.step();
                    StringBuilder each = v == values.size() - 1 ? before : new StringBuilder(before);
                    longer.add(each.append(values.get(v)));
                }
            }
            results = longer;
            budget.checkValue(results.stream().mapToLong(StringBuilder::length).sum());
        }
        return results.stream().map(StringBuilder::toString).toList();
    }

    private static JsonNode matches(Search search, String text) {
        Matcher matcher = matcher(search, text);
        ArrayNode matches = NODES.arrayNode();
        int chars = 0;
        int codePoints = 0;
        while (next(search, matcher, matches.isEmpty())) {
            codePoints += text.codePointCount(chars, matcher.start());
            chars = matcher.start();
            matches.add(matchObject(search, matcher, text, codePoints));
        }
        return matches;
    }

    private static ObjectNode matchObject(Search search, Matcher matcher, String text, int offset) {
        ObjectNode match = region(text, matcher.start(), matcher.end(), offset);
        ArrayNode captures = match.putArray("captures");
        Map<Integer, String> names = new HashMap<>();
        search.pattern().namedGroups().forEach((name, group) -> names.put(group, name));
        for (int group = 1; group <= matcher.groupCount(); group++) {
            int start = matcher.start(group);
            int at = start < 0 ? -1 : offset + codePoints(text, matcher.start(), start);
            captures.add(region(text, start, matcher.end(group), at).put("name", names.get(group)));
        }
        return match;
    }

    private static int codePoints(String text, int from, int to) {
        return to >= from ? text.codePointCount(from, to) : -text.codePointCount(to, from);
    }

    private static ObjectNode region(String text, int start, int end, int offset) {
        ObjectNode region = NODES.objectNode();
        region.put("offset", offset);
        region.put("length", start < 0 ? 0 : text.codePointCount(start, end));
        region.put("string", start < 0 ? null : text.substring(start, end));
        return region;
    }

    private static ObjectNode named(Search search, Matcher matcher) {
        ObjectNode captures = NODES.objectNode();
        for (String name : search.pattern().namedGroups().keySet()) {
            String value = matcher.group(name);
            captures.set(name, value == null ? NullNode.instance : TextNode.valueOf(value));
        }
        return captures;
    }

    private static boolean next(Search search, Matcher matcher, boolean first) {
        if (!first && !search.global()) {
            return false;
        }
        boolean found = matcher.find();
        while (found && search.skipEmpty() && matcher.start() == matcher.end()) {
            found = matcher.find();
        }
        return found;
    }

    private static Matcher matcher(Search search, String text) {
        return search.pattern().matcher(new BudgetedText(text, EvaluationBudget.CURRENT.get()));
    }

    private static Search compile(JsonNode re, JsonNode flags) throws JsonQueryException {
        int options = 0;
        boolean global = false;
        boolean skipEmpty = false;
        for (char flag : (flags.isNull() ? "" : text(flags, "flags")).toCharArray()) {
            switch (flag) {
                case 'g' -> global = true;
                case 'i' -> options |= Pattern.CASE_INSENSITIVE;
                case 'n' -> skipEmpty = true;
                case 'p' -> options |= Pattern.DOTALL;
                case 'l' -> options |= Pattern.LONGEST_MATCH;
                case 's' -> {}
                default -> throw new JsonQueryException("the regular expression flag " + flag + " is not supported");
            }
        }
        try {
            return new Search(Pattern.compile(text(re, "match"), options), global, skipEmpty);
        } catch (PatternSyntaxException e) {
            throw new JsonQueryException(e.getMessage() + " (regular expressions are RE2: no look-around, no"
                    + " back references)");
        }
    }

    private static String text(JsonNode node, String where) throws JsonQueryException {
        if (!node.isTextual()) {
            throw new JsonQueryException(where + " requires a string, not " + node.getNodeType());
        }
        return node.textValue();
    }
}
