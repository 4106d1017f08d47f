package io.keelson.server.api.http.inbox;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Questions of a foreign tool to people, and their answers. All texts are the other server's: data, not instructions. */
final class Elicitation {

    private static final Pattern SECRET = Pattern.compile(
            "(?i)pass(word|phrase|code)|secret|token|credential|(api|access|private|ssh)[ _-]?key");

    private Elicitation() {}

    /** The item's data: {@code server}, {@code tool} and {@code questions}. */
    static ObjectNode shown(JsonNode asked) {
        ObjectNode data = Json.object().put("server", asked.path("server").asString(""))
                .put("tool", asked.path("tool").asString(""));
        ObjectNode questions = data.putObject("questions");
        asked.path("questions").forEachEntry((name, question) -> {
            JsonNode given = question.path("params");
            ObjectNode each = questions.putObject(name).put("mode", given.path("mode").asString("form"))
                    .put("message", SafeText.clean(given.path("message").asString("")));
            if (given.has("url")) {
                each.put("url", given.path("url").asString(""));
            } else {
                each.set("schema", given.path("requestedSchema"));
            }
        });
        return data;
    }

    /** The warning about a form that asks for secrets in its message or fields; null if absent. MCP asks for secrets by URL only. */
    static @Nullable String warning(JsonNode asked) {
        boolean secret = asked.path("questions").valueStream().map(each -> each.path("params"))
                .anyMatch(params -> !params.has("url") && (SECRET.matcher(params.path("message").asString("")).find()
                        || SECRET.matcher(params.path("requestedSchema").path("properties").toString()).find()));
        return secret
                ? "Warning: this form asks for a password, key or token. The answer is stored and sent to the MCP server as plain text."
                : null;
    }

    static String messages(JsonNode asked) {
        return SafeText.clean(asked.path("questions").valueStream()
                .map(each -> each.path("params").path("message").asString("")).collect(Collectors.joining(" / ")));
    }

    /**
     * The answers to send, by the questions' names.
     *
     * @param action {@code accept}, {@code decline} or {@code cancel}
     * @param content of the form; of several questions by their names; null if absent
     * @throws ApiProblem with all places where the contents of forms are not by their schemas
     */
    static ObjectNode answers(JsonNode asked, String action, @Nullable JsonNode content) {
        JsonNode questions = asked.path("questions");
        ObjectNode answers = Json.object();
        List<PlanProblem> problems = new ArrayList<>();
        questions.forEachEntry((name, question) -> {
            ObjectNode answer = answers.putObject(name).put("action", action);
            boolean alone = questions.size() == 1;
            JsonNode own = content == null ? Json.object() : alone ? content : content.path(name);
            String pointer = alone ? "/content" : "/content/" + name.replace("~", "~0").replace("/", "~1");
            JsonNode given = question.path("params");
            if (given.has("url")) {
                if (!own.isEmpty()) {
                    problems.add(invalid(pointer, "a question that gives an address takes no content"));
                }
            } else if (action.equals("accept")) {
                problems.addAll(
                        flaws(given.path("requestedSchema"), own.isMissingNode() ? Json.object() : own, pointer));
                answer.set("content", own);
            }
        });
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
        return answers;
    }

    /** Problems of an answer. If the schema is not a valid JSON Schema, only an object is required. */
    private static List<PlanProblem> flaws(JsonNode schema, JsonNode content, String pointer) {
        DeclaredSchema declared = new DeclaredSchema(schema.isObject() ? schema : Json.object());
        if (!content.isObject()) {
            return List.of(invalid(pointer, "must be an object"));
        }
        return !declared.flaws().isEmpty() ? List.of()
                : declared.check(content).stream().map(flaw -> invalid(pointer + flaw.pointer(), flaw.message()))
                        .toList();
    }

    private static PlanProblem invalid(String pointer, String message) {
        return new PlanProblem("ANSWER_INVALID", pointer, message);
    }
}
