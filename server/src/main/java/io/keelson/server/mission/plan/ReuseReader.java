package io.keelson.server.mission.plan;

import io.keelson.core.plan.Reuse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads {@code cache} of tasks and of their steps. */
final class ReuseReader {
    private static final Duration OLDEST = Duration.ofDays(366);
    private static final Pattern AGE = Pattern.compile("([1-9][0-9]{0,8})([smhd])");
    private static final Pattern EXPRESSION = Pattern.compile("\\s*\\$\\{.*}\\s*", Pattern.DOTALL);
    private static final String TURN = "turn";

    private final Problems problems;

    ReuseReader(Problems problems) {
        this.problems = problems;
    }

    /** The rules by the steps' names; null if the task has none. */
    @Nullable Reuse read(JsonNode task, String at) {
        Map<String, Reuse.Rule> rules = new LinkedHashMap<>();
        JsonNode steps = task.path("steps");
        JsonNode whole = task.path(Reuse.CACHE);
        String pointer = at + "/" + Reuse.CACHE;
        if (whole.isObject() && !steps.isEmpty()) {
            problems.add("INVALID_VALUE", pointer, "the task has steps: give the cache to each step that may use it");
        } else if (whole.isObject()) {
            if (!whole.path("key").isString()) {
                problems.add("REQUIRED", pointer + "/key",
                        "'key' must be given: the input of an agent does not tell all that it works with");
            }
            rules.put(TURN, rule(whole, pointer));
        }
        for (int i = 0; i < steps.size(); i++) {
            JsonNode step = steps.path(i);
            if (step.path(Reuse.CACHE).isObject() && TURN.equals(JsonFields.text(step, "kind"))) {
                problems.add("INVALID_VALUE", at + "/steps/" + i + "/" + Reuse.CACHE,
                        "a turn has no cache of its own: leave out the steps, and give the cache to the task");
            } else if (step.path(Reuse.CACHE).isObject()) {
                rules.put(JsonFields.text(step, "name", StepReader.name(i)),
                        rule(step.path(Reuse.CACHE), at + "/steps/" + i + "/" + Reuse.CACHE));
            }
        }
        return rules.isEmpty() ? null : new Reuse(rules);
    }

    private Reuse.Rule rule(JsonNode raw, String at) {
        String key = JsonFields.text(raw, "key");
        return new Reuse.Rule(key == null || EXPRESSION.matcher(key).matches() ? key : "${ " + key + " }",
                age(JsonFields.text(raw, "max_age", ""), at + "/max_age"));
    }

    private long age(String text, String at) {
        Matcher matcher = AGE.matcher(text);
        if (!matcher.matches()) {
            return 0; // the schema's check reports it
        }
        long number = Long.parseLong(matcher.group(1));
        long seconds = number * switch (matcher.group(2)) {
            case "s" -> 1;
            case "m" -> 60;
            case "h" -> 3_600;
            default -> 86_400;
        };
        if (seconds > OLDEST.toSeconds()) {
            problems.add("INVALID_VALUE", at, "a result is taken over for at most " + OLDEST.toDays() + " days");
        }
        return seconds;
    }
}
