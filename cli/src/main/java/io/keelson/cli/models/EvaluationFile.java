package io.keelson.cli.models;

import io.keelson.cli.common.DocumentFile;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.SchemaCheck;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An evaluation: recorded tasks, and variants of the agent that does them again.
 *
 * @param recorded whether calls have the results that they had, instead of being made
 * @param repeat trials of each case and variant, at least 1
 * @param judge the members {@code model}, {@code criteria} and {@code pass} of {@code model.judge}; null to take the marks of the
 *              tasks' own verifications
 */
record EvaluationFile(String name, boolean recorded, int repeat, @Nullable JsonNode judge, List<Case> cases,
        List<Variant> variants) {

    /** The name of the recorded task's row. */
    static final String ORIGINAL = "original";

    private static final String CODE = "INVALID_EVALUATION";

    /**
     * @param run an id, the beginning of one, or {@code latest}
     * @param turn the first that is taken again
     */
    record Case(String name, String run, String task, int turn) {}

    /** The differences of the agent from the original; null if absent. */
    record Variant(String name, @Nullable String model, @Nullable String instructions, @Nullable List<String> tools) {}

    /** @param file {@code -} for standard input */
    static EvaluationFile read(String file) {
        DocumentFile read = DocumentFile.read(file, "evaluation", CODE);
        JsonNode document = read.document();
        List<PlanProblem> problems = new ArrayList<>(SchemaCheck.of(schema(), schema()).check(document));
        if (problems.isEmpty()) {
            names(document, "cases", "task", new HashSet<>(), problems);
            names(document, "variants", "model", new HashSet<>(Set.of(ORIGINAL)), problems);
        }
        if (!problems.isEmpty()) {
            throw read.invalid(CODE, problems);
        }
        return new EvaluationFile(document.get("name").stringValue(),
                document.path("calls").asString("recorded").equals("recorded"), document.path("repeat").asInt(1),
                document.get("judge"),
                document.get("cases").valueStream().map(each -> new Case(name(each, "task"),
                        each.get("run").stringValue(), each.get("task").stringValue(), each.path("turn").asInt(1)))
                        .toList(),
                document.get("variants").valueStream().map(EvaluationFile::variant).toList());
    }

    private static Variant variant(JsonNode given) {
        return new Variant(name(given, "model"), given.path("model").stringValue(null),
                given.path("instructions").stringValue(null), given.has("tools")
                        ? given.get("tools").valueStream().map(JsonNode::stringValue).toList()
                        : null);
    }

    private static String name(JsonNode given, String otherwise) {
        return given.path("name").asString(given.path(otherwise).asString(""));
    }

    /** Rows of the table differ by their names. */
    private static void names(JsonNode document, String list, String otherwise, Set<String> taken,
            List<PlanProblem> problems) {
        for (int i = 0; i < document.get(list).size(); i++) {
            String name = name(document.get(list).get(i), otherwise);
            if (name.isEmpty()) {
                problems.add(new PlanProblem("REQUIRED", "/" + list + "/" + i + "/name",
                        "a variant of the same model needs a name"));
            } else if (!taken.add(name)) {
                problems.add(new PlanProblem("CONFLICT", "/" + list + "/" + i + "/name",
                        "'" + name + "' is the name of another one; give each a name of its own"));
            }
        }
    }

    private static JsonNode schema() {
        try (InputStream in =
                Objects.requireNonNull(EvaluationFile.class.getResourceAsStream("evaluation.schema.json"))) {
            return Json.read(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
