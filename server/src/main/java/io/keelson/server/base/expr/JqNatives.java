package io.keelson.server.base.expr;

import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The functions that are written in Java, by {@code name/arguments}. */
final class JqNatives {

    /** Characters of a JSON text beside which a value or a member begins, and the memory that it takes at least. */
    private static final String VALUE_MARKS = ",:[{";
    private static final long MARK_BYTES = 40;

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final Map<String, JqFunction.Native> ALL = new HashMap<>();

    private JqNatives() {}

    static {
        flow();
        paths();
        values();
        texts();
        for (JqFormat format : JqFormat.values()) {
            put("@" + format.name().toLowerCase(Locale.ROOT) + "/0",
                    (in, args, budget) -> JqValue.text(format.of(in, budget)));
        }
        JqMath.functions().forEach(JqNatives::put);
        JqLists.functions().forEach(JqNatives::put);
        ALL.put("_sub_impl/3", JqRegex::sub);
        put("_match_impl/3", JqRegex::match);
        ALL.put("secret/1", SecretNames::value);
    }

    static JqFunction.@Nullable Native get(String signature) {
        return ALL.get(signature);
    }

    private static void put(String signature, JqFunction.OfValues function) {
        ALL.put(signature, JqFunction.ofValues(function));
    }

    private static void one(String name, Function<JsonNode, JsonNode> function) {
        put(name + "/0", (in, args, budget) -> function.apply(in));
    }

    private static void flow() {
        ALL.put("empty/0", (env, args, in, path, out) -> {});
        ALL.put("error/0", (env, args, in, path, out) -> {
            throw new JqError(in);
        });
        ALL.put("error/1", (env, args, in, path, out) -> args.getFirst().values(env, in, value -> {
            throw new JqError(value);
        }));
        ALL.put("first/1", (env, args, in, path, out) -> {
            Object self = new Object();
            JqControl.until(self, () -> args.getFirst().run(env, in, path, (value, at) -> {
                out.emit(value, at);
                throw JqControl.leave(self);
            }));
        });
        ALL.put("last/1", (env, args, in, path, out) -> {
            Runnable[] last = {() -> {}};
            args.getFirst().run(env, in, path, (value, at) -> last[0] = () -> out.emit(value, at));
            last[0].run();
        });
        ALL.put("limit/2", (env, args, in, path, out) -> args.getFirst().values(env, in,
                count -> limit(env, args.get(1), count, in, path, out)));
        ALL.put("range/3", (env, args, in, path, out) -> args.get(0).values(env, in,
                from -> args.get(1).values(env, in, to -> args.get(2).values(env, in,
                        by -> range(env, List.of(from, to, by), path, out)))));
    }

    private static void limit(JqEnv env, JqNode values, JsonNode count, JsonNode in, @Nullable JqPath path, JqOut out) {
        if (!count.isNumber() || JqNumber.value(count) < 0) {
            throw JqError.of("limit doesn't support negative count");
        }
        double[] left = {JqNumber.value(count)};
        Object self = new Object();
        if (left[0] > 0) {
            JqControl.until(self, () -> values.run(env, in, path, (value, at) -> {
                left[0]--;
                out.emit(value, at);
                if (left[0] <= 0) {
                    throw JqControl.leave(self);
                }
            }));
        }
    }

    private static void range(JqEnv env, List<JsonNode> bounds, @Nullable JqPath path, JqOut out) {
        if (!bounds.stream().allMatch(JsonNode::isNumber)) {
            throw JqError.of("Range bounds must be numeric");
        }
        double by = JqNumber.value(bounds.get(2));
        JsonNode at = bounds.get(0);
        while (by > 0 ? JqNumber.compare(at, bounds.get(1)) < 0 : by < 0 && JqNumber.compare(at, bounds.get(1)) > 0) {
            env.budget().step();
            out.emit(at, JqPath.made(path));
            at = JqNumber.add(at, bounds.get(2));
        }
    }

    private static void paths() {
        ALL.put("path/1", (env, args, in, path, out) -> args.getFirst().run(env, in, JqPath.ROOT, (value, at) -> {
            JsonNode keys = JqValue.array(JqPath.keys(at, value));
            env.budget().produced(keys);
            out.emit(keys, JqPath.made(path));
        }));
        ALL.put("getpath/1", (env, args, in, path, out) -> args.getFirst().values(env, in, keys -> {
            JsonNode found = JqAccess.get(in, keys(keys, env.budget()), env.budget());
            JqPath at = path;
            for (JsonNode key : keys) {
                at = JqPath.below(at, key);
            }
            out.emit(found, at);
        }));
        put("setpath/2", (in, args, budget) -> {
            JqUpdate update = new JqUpdate(in, budget);
            update.set(keys(args.get(0), budget), args.get(1));
            return update.value();
        });
        put("delpaths/1", (in, args, budget) -> {
            List<List<JsonNode>> paths = new ArrayList<>();
            if (!args.getFirst().isArray()) {
                throw JqError.of("Paths must be specified as an array");
            }
            args.getFirst().forEach(each -> paths.add(keys(each, budget)));
            JqUpdate update = new JqUpdate(in, budget);
            update.delete(paths);
            return update.value();
        });
    }

    private static List<JsonNode> keys(JsonNode path, EvaluationBudget budget) {
        if (!path.isArray()) {
            throw JqError.of("Path must be specified as an array");
        }
        budget.checkNesting(path.size());
        return path.valueStream().toList();
    }

    private static void values() {
        one("not", in -> JqValue.bool(!JqValue.isTrue(in)));
        one("type", in -> JqValue.text(JqValue.type(in)));
        one("length", JqNatives::length);
        one("infinite", in -> NODES.numberNode(Double.POSITIVE_INFINITY));
        one("nan", in -> NODES.numberNode(Double.NaN));
        put("has/1", (in, args, budget) -> JqValue.bool(JqAccess.has(in, args.getFirst())));
        put("contains/1", (in, args, budget) -> JqValue.bool(containing(in, args.getFirst(), budget)));
        put("indices/1", (in, args, budget) -> JqAccess.indices(in, args.getFirst(), budget));
        one("keys", in -> in.isObject()
                ? JqValue.array(JqValue.names(in).stream().map(JqValue::text).toList())
                : keys(in));
        one("keys_unsorted", in -> in.isObject()
                ? JqValue.array(in.propertyNames().stream().map(JqValue::text).toList())
                : keys(in));
        one("to_entries", in -> {
            ArrayNode entries = NODES.arrayNode();
            if (!in.isObject()) {
                throw JqError.of(JqValue.shown(in) + " has no keys");
            }
            in.properties()
                    .forEach(each -> entries.addObject().put("key", each.getKey()).set("value", each.getValue()));
            return entries;
        });
        put("from_entries/0", (in, args, budget) -> {
            ObjectNode object = NODES.objectNode();
            if (!in.isContainer()) {
                throw JqError.of("Cannot iterate over " + JqValue.shown(in));
            }
            in.forEach(each -> entry(each, object, budget));
            return object;
        });
    }

    private static boolean containing(JsonNode in, JsonNode wanted, EvaluationBudget budget) {
        if (!JqValue.type(in).equals(JqValue.type(wanted))) {
            throw JqError.of(JqValue.shown(in) + " and " + JqValue.shown(wanted)
                    + " cannot have their containment checked");
        }
        return JqValue.contains(in, wanted, budget);
    }

    private static JsonNode keys(JsonNode in) {
        if (!in.isArray()) {
            throw JqError.of(JqValue.shown(in) + " has no keys");
        }
        ArrayNode keys = NODES.arrayNode(in.size());
        for (int i = 0; i < in.size(); i++) {
            keys.add(i);
        }
        return keys;
    }

    private static void entry(JsonNode entry, ObjectNode into, EvaluationBudget budget) {
        JsonNode key = JqAccess.get(entry, JqValue.text("key"), budget);
        if (key.isNull()) {
            for (String name : List.of("k", "name", "Name", "K", "Key")) {
                key = JqValue.isTrue(key) ? key : JqAccess.get(entry, JqValue.text(name), budget);
            }
        }
        JsonNode value = entry.has("value") ? entry.get("value")
                : entry.has("v") ? entry.get("v")
                        : JqAccess.get(entry, JqValue.text("Value"), budget);
        if (key.isContainer()) {
            throw JqError.of("Cannot use " + JqValue.shown(key) + " as object key");
        }
        into.set(JqText.of(key, budget), value);
    }

    private static JsonNode length(JsonNode in) {
        return switch (in.getNodeType()) {
            case NULL, MISSING -> JqNumber.of(0L);
            case NUMBER -> JqNumber.abs(in);
            case ARRAY, OBJECT -> JqNumber.of(in.size());
            case STRING, BINARY, POJO -> JqNumber.of(JqText.length(in.asString()));
            case BOOLEAN -> throw JqError.of(JqValue.shown(in) + " has no length");
        };
    }

    private static void texts() {
        put("tostring/0", (in, args, budget) -> JqValue.text(JqText.of(in, budget)));
        put("tojson/0", (in, args, budget) -> JqValue.text(JqText.json(in, budget)));
        one("fromjson", JqNatives::fromJson);
        one("tonumber", JqNatives::toNumber);
        one("toboolean", in -> {
            if (in.isString() && (in.stringValue().equals("true") || in.stringValue().equals("false"))) {
                return JqValue.bool(in.stringValue().equals("true"));
            }
            if (in.isBoolean()) {
                return in;
            }
            throw JqError.of(JqValue.shown(in) + " cannot be parsed as a boolean");
        });
        text("utf8bytelength", "%s only strings have UTF-8 byte length",
                in -> JqNumber.of(in.getBytes(StandardCharsets.UTF_8).length));
        put("explode/0", (in, args, budget) -> {
            if (!in.isString()) {
                throw JqError.of(JqValue.shown(in) + " cannot be exploded");
            }
            budget.checkValue(in.stringValue().length() * 48L);
            return JqValue.array(in.stringValue().codePoints().mapToObj(JqNumber::of).toList());
        });
        one("implode", in -> JqValue.text(JqText.implode(in)));
        text("ascii_downcase", "ascii_downcase input must be a string", in -> JqValue.text(cased(in, 'A', 'Z', 32)));
        text("ascii_upcase", "ascii_upcase input must be a string", in -> JqValue.text(cased(in, 'a', 'z', -32)));
        text("trim", "trim input must be a string", in -> JqValue.text(JqText.trim(in, true, true)));
        text("ltrim", "trim input must be a string", in -> JqValue.text(JqText.trim(in, true, false)));
        text("rtrim", "trim input must be a string", in -> JqValue.text(JqText.trim(in, false, true)));
        affix("startswith", "startswith", (text, part) -> JqValue.bool(text.startsWith(part)));
        affix("endswith", "endswith", (text, part) -> JqValue.bool(text.endsWith(part)));
        affix("ltrimstr", "startswith", (text, part) -> JqValue.text(without(text, part, true, false)));
        affix("rtrimstr", "endswith", (text, part) -> JqValue.text(without(text, part, false, true)));
        affix("trimstr", "startswith", (text, part) -> JqValue.text(without(text, part, true, true)));
        put("split/1", (in, args, budget) -> {
            if (!in.isString() || !args.getFirst().isString()) {
                throw JqError.of("split input and separator must be strings");
            }
            budget.checkValue(in.stringValue().length() * 48L);
            return JqValue.array(JqText.split(in.stringValue(), args.getFirst().stringValue()));
        });
        put("format/1", (in, args, budget) -> {
            JqFormat format = args.getFirst().isString() ? JqFormat.named(args.getFirst().stringValue()) : null;
            if (format == null) {
                throw JqError.of(JqText.of(args.getFirst(), budget) + " is not a valid format");
            }
            return JqValue.text(format.of(in, budget));
        });
        one("todateiso8601", in -> {
            if (!in.isNumber()) {
                throw JqError.of("strftime/1 requires parsed datetime inputs");
            }
            try {
                return JqValue.text(Instant.ofEpochSecond((long) Math.floor(JqNumber.value(in))).toString());
            } catch (DateTimeException e) {
                throw JqError.of(JqValue.shown(in) + " is no time");
            }
        });
        one("fromdateiso8601", in -> {
            try {
                return JqNumber.of(Instant.parse(in.asString()).truncatedTo(ChronoUnit.SECONDS).getEpochSecond());
            } catch (DateTimeException e) {
                throw JqError.of("date \"" + in.asString() + "\" does not match format \"%Y-%m-%dT%H:%M:%SZ\"");
            }
        });
    }

    private interface OfTwo {
        JsonNode of(String text, String part);
    }

    private static void affix(String name, String test, OfTwo function) {
        put(name + "/1", (in, args, budget) -> {
            if (!in.isString() || !args.getFirst().isString()) {
                throw JqError.of(test + "() requires string inputs");
            }
            return function.of(in.stringValue(), args.getFirst().stringValue());
        });
    }

    private static void text(String name, String otherwise, Function<String, JsonNode> function) {
        one(name, in -> {
            if (!in.isString()) {
                throw JqError.of(otherwise.replace("%s", JqValue.shown(in)));
            }
            return function.apply(in.stringValue());
        });
    }

    private static String without(String text, String part, boolean start, boolean end) {
        String rest = start && text.startsWith(part) ? text.substring(part.length()) : text;
        return end && rest.endsWith(part) ? rest.substring(0, rest.length() - part.length()) : rest;
    }

    private static String cased(String text, char first, char last, int by) {
        StringBuilder changed = new StringBuilder(text);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= first && c <= last) {
                changed.setCharAt(i, (char) (c + by));
            }
        }
        return changed.toString();
    }

    private static JsonNode fromJson(JsonNode in) {
        if (!in.isString()) {
            throw JqError.of(JqValue.shown(in) + " cannot be parsed as JSON");
        }
        String text = in.stringValue().strip();
        if (text.equals("nan") || text.equals("NaN") || text.equals("-NaN")) {
            return NODES.numberNode(Double.NaN);
        }
        long values = text.chars().filter(each -> VALUE_MARKS.indexOf(each) >= 0).count();
        EvaluationBudget.CURRENT.get().checkValue(values * MARK_BYTES);
        try {
            return Json.read(text);
        } catch (JacksonException e) {
            throw JqError.of(e.getOriginalMessage() + " (while parsing '" + text + "')");
        }
    }

    private static JsonNode toNumber(JsonNode in) {
        if (in.isNumber()) {
            return in;
        }
        String text = in.isString() ? in.stringValue() : "";
        if (!text.matches("[-+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)?")) {
            throw JqError.of(JqValue.shown(in) + " cannot be parsed as a number");
        }
        return JqNumber.parse(text);
    }
}
