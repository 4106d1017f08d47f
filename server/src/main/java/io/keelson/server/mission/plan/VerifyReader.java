package io.keelson.server.mission.plan;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.keelson.core.plan.Judge;
import io.keelson.core.plan.Models;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.server.base.json.DeclaredSchema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads the checks of a task's output: each entry except of kind human becomes a step that calls a verifying tool. */
final class VerifyReader {
    private static final String OUTPUT = "${ .task.output }";
    private static final Set<String> COMMON = Set.of("kind", "output", "retry", "timeout_seconds");

    static final String MODEL = "model";

    /**
     * Maps a {@code verify} kind to its tool, which receives the members unchanged.
     *
     * @param needed the required member; empty if absent
     */
    private record Kind(String tool, String needed, Set<String> optional) {}

    private static final Map<String, Kind> KINDS = Map.of(
            "json_schema", new Kind("verify.json_schema", "schema", Set.of()),
            "jq", new Kind("verify.jq", "expression", Set.of("feedback")),
            "regex", new Kind("verify.regex", "pattern", Set.of("absent", "feedback")),
            "required_sections", new Kind("verify.sections", "sections", Set.of()),
            "length", new Kind("verify.length", "", Set.of("min", "max", "unit")),
            "keywords", new Kind("verify.keywords", "keywords", Set.of("absent")),
            "urls", new Kind("verify.urls", "", Set.of("min", "hosts")),
            MODEL, new Kind(Models.JUDGE_TOOL, "",
                    Set.of("model", "criteria", "pass", "independent", "skip_below_usd")));

    private final StepReader steps;
    private final Problems problems;
    private final @Nullable String judge;

    /** @param judge the model that judges where an entry names none; null if absent */
    VerifyReader(StepReader steps, Problems problems, @Nullable String judge) {
        this.judge = judge;
        this.steps = steps;
        this.problems = problems;
    }

    /** The model that judges where an entry names none; null if absent. */
    static @Nullable String judge(JsonNode config) {
        JsonNode preferences = config.path("model_preferences");
        String verifier = JsonFields.text(preferences, "verifier");
        return verifier == null ? JsonFields.text(preferences, "reviewer") : verifier;
    }

    /**
     * @param task the task that they are of
     * @param at pointer of the list
     */
    List<StepSpec> read(JsonNode task, String at) {
        JsonNode list = task.path("verify");
        List<StepSpec> verifiers = new ArrayList<>();
        for (int i = 0; list.isArray() && i < list.size(); i++) {
            JsonNode raw = list.path(i);
            String here = Pointers.of(at, i);
            if (human(raw)) {
                members(raw, Set.of("kind"), here);
                if (i < list.size() - 1) {
                    problems.add("INVALID_VALUE", here + "/kind", "a person has the last word: put this entry last");
                }
            } else {
                verifiers.add(step(task, raw, name(i), here));
            }
        }
        return verifiers;
    }

    /** The least score with which an entry's verdict decides, by the name of its step. */
    static Map<String, BigDecimal> thresholds(JsonNode list) {
        Map<String, BigDecimal> thresholds = new TreeMap<>();
        for (int i = 0; list.isArray() && i < list.size(); i++) {
            JsonNode least = list.path(i).path("threshold");
            if (least.isNumber()) {
                thresholds.put(name(i), least.decimalValue());
            }
        }
        return thresholds;
    }

    private static String name(int index) {
        return "verify-" + (index + 1);
    }

    /** Whether a person has the last word. */
    static boolean review(JsonNode list) {
        return list.isArray() && list.values().stream().anyMatch(VerifyReader::human);
    }

    /** The place in the mission of a problem of a verifier's input. */
    static String asWritten(JsonNode raw, String rest) {
        boolean abridged = KINDS.containsKey(JsonFields.text(raw, "kind", ""));
        return abridged || rest.equals("/input/output") ? rest.replaceFirst("^/input", "") : rest;
    }

    private static boolean human(JsonNode raw) {
        return "human".equals(JsonFields.text(raw, "kind"));
    }

    private StepSpec step(JsonNode task, JsonNode raw, String name, String at) {
        String named = JsonFields.text(raw, "kind", "");
        Kind kind = KINDS.get(named);
        if (kind == null) {
            if (named.equals("tool")) {
                members(raw, with(COMMON, Set.of("tool", "input", "threshold")), at);
                required(raw, "tool", at);
            }
            ObjectNode input = JsonFields.object(raw, "input").deepCopy();
            return steps.call(raw, judging(raw, input), name, StepKind.VERIFY, at);
        }
        members(raw, with(with(COMMON, Set.of(kind.needed)), kind.optional), at);
        if (!kind.needed.isEmpty()) {
            required(raw, kind.needed, at);
        }
        ObjectNode input = judging(raw, JsonNodeFactory.instance.objectNode());
        if (named.equals(MODEL)) {
            judged(task, raw, input, at);
        } else {
            raw.properties().stream().filter(member -> !COMMON.contains(member.getKey()))
                    .forEach(member -> input.set(member.getKey(), member.getValue()));
        }
        meaning(raw, kind, at);
        ObjectNode call = ((ObjectNode) raw).deepCopy().put("tool", kind.tool);
        return steps.call(call, input, name, StepKind.VERIFY, at);
    }

    /** Adds the criteria for a judge: the entry's criteria, otherwise the task's criteria as one required criterion. */
    private void judged(JsonNode task, JsonNode raw, ObjectNode input, String at) {
        String model = JsonFields.text(raw, "model", judge == null ? "" : judge);
        if (model.isEmpty()) {
            problems.add("REQUIRED", Pointers.of(at, "model"),
                    "'model' must be given here, or as verifier in config.model_preferences");
        }
        input.put("model", model);
        ObjectNode about = input.putObject("task");
        for (String member : List.of("title", "description", "success_criteria")) {
            if (task.path(member).isString()) {
                about.set(member, task.get(member));
            }
        }
        if (raw.path("criteria").isArray()) {
            input.set("criteria", raw.get("criteria"));
        } else if (task.path("success_criteria").isString()) {
            input.putArray("criteria").addObject().put("must_pass", true)
                    .set("criterion", task.get("success_criteria"));
        } else {
            problems.add("REQUIRED", Pointers.of(at, "criteria"),
                    "'criteria' must be given here, or as success_criteria of the task");
        }
        if (raw.has("pass")) {
            input.set("pass", raw.get("pass"));
        }
        input.put("independent", raw.path("independent").asBoolean(true));
    }

    /** The judges among the entries, by the names of their steps. */
    Map<String, Judge> judges(JsonNode list) {
        Map<String, Judge> judges = new TreeMap<>();
        for (int i = 0; list.isArray() && i < list.size(); i++) {
            JsonNode raw = list.path(i);
            if (MODEL.equals(JsonFields.text(raw, "kind"))) {
                JsonNode least = raw.path("skip_below_usd");
                judges.put(name(i), new Judge(JsonFields.text(raw, "model", judge == null ? "" : judge),
                        least.isNumber() ? least.decimalValue() : null));
            }
        }
        return judges;
    }

    /** The entries as they are stored: a judge with its model. */
    JsonNode normal(JsonNode list) {
        JsonNode normal = list.deepCopy();
        normal.forEach(raw -> {
            if (MODEL.equals(JsonFields.text(raw, "kind")) && raw instanceof ObjectNode entry && judge != null) {
                entry.putIfAbsent("model", JsonNodeFactory.instance.stringNode(judge));
            }
        });
        return normal;
    }

    private void required(JsonNode raw, String key, String at) {
        if (!raw.has(key)) {
            problems.add("REQUIRED", Pointers.of(at, key), "'" + key + "' must be given");
        }
    }

    private static ObjectNode judging(JsonNode raw, ObjectNode input) {
        if (raw.has("output")) {
            input.set("output", raw.path("output"));
        } else if (!input.has("output")) {
            input.put("output", OUTPUT);
        }
        return input;
    }

    private void meaning(JsonNode raw, Kind kind, String at) {
        JsonNode rule = raw.path(kind.needed);
        String here = Pointers.of(at, kind.needed);
        if (kind.needed.equals("schema") && (rule.isObject() || rule.isBoolean())) {
            new DeclaredSchema(rule).flaws()
                    .forEach(flaw -> problems.add("INVALID_SCHEMA", here + flaw.pointer(), flaw.message()));
        } else if (kind.needed.equals("pattern") && rule.isString()) {
            try {
                Pattern.compile(rule.stringValue());
            } catch (PatternSyntaxException e) {
                problems.add("INVALID_VALUE", here, "not a regular expression (RE2): " + e.getDescription());
            }
        }
    }

    private void members(JsonNode raw, Set<String> allowed, String at) {
        raw.propertyNames().stream().filter(key -> !allowed.contains(key) && known(key))
                .forEach(key -> problems.add("INVALID_VALUE", Pointers.of(at, key), "'" + key + "' is not for kind "
                        + Pointers.shown(JsonFields.text(raw, "kind", "")) + ", which has "
                        + String.join(", ", new TreeSet<>(allowed))));
    }

    /** Other keys are the published schema's to name. */
    private static boolean known(String key) {
        return COMMON.contains(key) || Set.of("tool", "input", "threshold").contains(key)
                || KINDS.values().stream().anyMatch(kind -> kind.needed.equals(key) || kind.optional.contains(key));
    }

    private static Set<String> with(Set<String> some, Set<String> others) {
        Set<String> all = new TreeSet<>(some);
        all.addAll(others);
        return all;
    }
}
