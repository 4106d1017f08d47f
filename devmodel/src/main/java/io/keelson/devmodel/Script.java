package io.keelson.devmodel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Rules, of which the first that fits a request answers it. Safe for use by many threads. */
public final class Script {

    /** Pairs of members of which an answer has one at most. */
    private static final List<List<String>> EITHER = List.of(List.of("text", "json"), List.of("status", "text"),
            List.of("status", "json"), List.of("status", "calls"), List.of("status", "refusal"),
            List.of("status", "finish"), List.of("status", "usage"), List.of("status", "model"),
            List.of("body", "malformed"), List.of("body", "error"), List.of("endless", "body"));

    private final List<Rule> rules = new ArrayList<>();
    private final List<String> models;
    private final @Nullable Function<Question, @Nullable JsonNode> answers;

    /**
     * A request to a model.
     *
     * @param turn number of the turn that it requests, from 1
     * @param text the last message or result of a tool
     * @param system the instructions
     * @param lastTool the tool that was called last; null if absent
     */
    public record Question(String model, int turn, String text, String system, @Nullable String lastTool) {}

    /**
     * A rule.
     *
     * @param name null for its number
     */
    static final class Rule {
        final String name;
        final JsonNode answer;
        private final JsonNode when;
        /** Number of requests that fitted all conditions except counting ones. */
        private int fitted;

        private Rule(String name, JsonNode when, JsonNode answer) {
            this.name = name;
            this.when = when;
            this.answer = answer;
        }

        private synchronized boolean fits(Conversation asked, ProviderWire wire, Map<String, String> headers,
                int request) {
            boolean fits = is("wire", wire.name()) && is("model", asked.model())
                    && when.path("turn").asInt(asked.turn()) == asked.turn()
                    && is("last_tool", Objects.requireNonNullElse(asked.lastTool(), ""))
                    && asked.lastText().contains(when.path("text").asString(""))
                    && asked.systemText().contains(when.path("system").asString(""))
                    && when.path("header").properties().stream().allMatch(each -> each.getValue().asString()
                            .equals(headers.get(each.getKey().toLowerCase(Locale.ROOT))))
                    && when.path("request").asInt(request) == request;
            if (fits) {
                fitted++;
            }
            return fits && when.path("nth").asInt(fitted) == fitted && fitted <= when.path("first").asInt(fitted);
        }

        private boolean is(String condition, String found) {
            return when.path(condition).asString(found).equals(found);
        }
    }

    /** @param document valid against {@link #schema} and without {@link #contradictions} */
    public Script(JsonNode document) {
        for (JsonNode rule : document.path("rules")) {
            rules.add(new Rule(rule.path("name").asString("rule " + (rules.size() + 1)), rule.path("when"),
                    rule.path("answer")));
        }
        models = document.path("models").valueStream().map(JsonNode::asString).toList();
        answers = null;
    }

    private Script(Function<Question, @Nullable JsonNode> answers) {
        this.models = List.of();
        this.answers = answers;
    }

    /** A script whose function makes each answer, as a rule's {@code answer}; null for the default answer. */
    public static Script of(Function<Question, @Nullable JsonNode> answers) {
        return new Script(answers);
    }

    /** A script without rules: each request gets the default answer. */
    public static Script empty() {
        return new Script(Json.object());
    }

    /**
     * A problem of a script that its schema cannot express.
     *
     * @param code stable, such as {@code CONFLICT}
     * @param pointer JSON pointer into the script
     */
    public record Contradiction(String code, String pointer, String message) {}

    /**
     * The problems of a script that its schema cannot express.
     *
     * @param document valid against {@link #schema}
     */
    public static List<Contradiction> contradictions(JsonNode document) {
        List<Contradiction> problems = new ArrayList<>();
        JsonNode rules = document.path("rules");
        for (int i = 0; problems.isEmpty() && i < rules.size(); i++) {
            contradictions(rules.get(i).get("answer"), "/rules/" + i + "/answer", problems);
        }
        return problems;
    }

    private static void contradictions(JsonNode answer, String at, List<Contradiction> problems) {
        for (List<String> pair : EITHER) {
            if (pair.stream().allMatch(answer::has)) {
                problems.add(new Contradiction("CONFLICT", at + "/" + pair.getLast(),
                        "an answer has '" + pair.getFirst() + "' or '" + pair.getLast() + "', not both"));
            }
        }
        if (answer.has("error") && !answer.has("status")) {
            problems.add(new Contradiction("REQUIRED", at + "/status", "an 'error' needs a 'status'"));
        }
        JsonNode usage = answer.path("usage");
        if (usage.has("output") && usage.path("reasoning").asLong(0) > usage.get("output").asLong()) {
            problems.add(new Contradiction("OUT_OF_RANGE", at + "/usage/reasoning",
                    "reasoning tokens are part of 'output' and cannot be more"));
        }
        for (int i = 0; i < answer.path("calls").size(); i++) {
            JsonNode call = answer.get("calls").get(i);
            if (call.has("input") && call.has("arguments")) {
                problems.add(new Contradiction("CONFLICT", at + "/calls/" + i + "/arguments",
                        "a call has 'input' or 'arguments', not both"));
            }
        }
    }

    /** The JSON Schema of a script, without references. */
    public static JsonNode schema() {
        try (InputStream in = Objects.requireNonNull(Script.class.getResourceAsStream("script.schema.json"))) {
            return Json.read(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The models there are; empty where every name is one. */
    List<String> models() {
        return models;
    }

    /** @param request the number of the request, from 1 */
    Rule match(Conversation asked, ProviderWire wire, Map<String, String> headers, int request) {
        for (Rule rule : rules) {
            if (rule.fits(asked, wire, headers, request)) {
                return rule;
            }
        }
        JsonNode answer = answers == null ? null
                : answers.apply(new Question(asked.model(), asked.turn(),
                        asked.lastText(), asked.systemText(), asked.lastTool()));
        return answer == null ? new Rule("default", Json.object(), Json.object())
                : new Rule("function", Json.object(), answer);
    }
}
