package io.keelson.server.base.expr;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * The two functions that all regular expressions of jq come down to, on RE2: time linear in the text, no
 * backtracking, hence no look-around and no back references. Flags as in jq's manual; {@code x} is refused.
 */
final class JqRegex {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private record Search(Pattern pattern, boolean global, boolean skipEmpty) {}

    private JqRegex() {}

    /** {@code _match_impl(re; flags; test)}: whether it matches, or the array of match objects. */
    static JsonNode match(JsonNode in, List<JsonNode> args, EvaluationBudget budget) {
        Search search = compile(args.get(0), args.get(1));
        String text = text(in);
        return args.get(2).booleanValue() ? BooleanNode.valueOf(matcher(search, text).find()) : matches(search, text);
    }

    /** {@code _sub_impl(re; replacement; flags)}: the replacement sees the named captures as its input. */
    static void sub(JqEnv env, List<JqNode> args, JsonNode in, @Nullable JqPath path, JqOut out) {
        args.get(0).values(env, in, re -> args.get(2).values(env, in, flags -> {
            Search search = compile(re, flags);
            String text = text(in);
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
            for (String result : replaced(env, args.get(1), between, captures)) {
                out.emit(StringNode.valueOf(result + tail), JqPath.made(path));
            }
        }));
    }

    /** One text per value the replacement gives; a replacement with several multiplies. */
    private static List<String> replaced(JqEnv env, JqNode replacement, List<String> between, List<JsonNode> captures) {
        EvaluationBudget budget = env.budget();
        List<StringBuilder> results = new ArrayList<>(List.of(new StringBuilder()));
        for (int i = 0; i < captures.size(); i++) {
            List<String> values = new ArrayList<>();
            JsonNode capture = captures.get(i);
            replacement.values(env, capture, value -> {
                if (!value.isString()) {
                    throw JqError.of(JqValue.shown(value) + " cannot be added to a string");
                }
                values.add(value.stringValue());
            });
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
            captures.set(name, value == null ? NullNode.instance : StringNode.valueOf(value));
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

    private static Search compile(JsonNode re, JsonNode flags) {
        int options = 0;
        boolean global = false;
        boolean skipEmpty = false;
        for (char flag : (flags.isNull() ? "" : flags(flags)).toCharArray()) {
            switch (flag) {
                case 'g' -> global = true;
                case 'i' -> options |= Pattern.CASE_INSENSITIVE;
                case 'n' -> skipEmpty = true;
                case 'p' -> options |= Pattern.DOTALL;
                case 'l' -> options |= Pattern.LONGEST_MATCH;
                case 's' -> {}
                default -> throw JqError.of("the regular expression flag " + flag + " is not supported");
            }
        }
        try {
            return new Search(Pattern.compile(text(re), options), global, skipEmpty);
        } catch (PatternSyntaxException e) {
            throw JqError.of(e.getMessage() + " (regular expressions are RE2: no look-around, no"
                    + " back references)");
        }
    }

    private static String text(JsonNode in) {
        if (!in.isString()) {
            throw JqError.of(JqValue.shown(in) + " cannot be matched, as it is not a string");
        }
        return in.stringValue();
    }

    private static String flags(JsonNode flags) {
        if (!flags.isString()) {
            throw JqError.of(JqValue.shown(flags) + " is not a string");
        }
        return flags.stringValue();
    }

    /** Text whose reading counts against the current {@link EvaluationBudget}, so that long matches end with it. */
    private record BudgetedText(String text, EvaluationBudget budget) implements CharSequence {

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            budget.step();
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
