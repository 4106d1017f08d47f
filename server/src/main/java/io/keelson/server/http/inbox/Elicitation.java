package io.keelson.server.http.inbox;

import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.json.DeclaredSchema;
import io.keelson.server.json.Json;
import io.keelson.server.json.SafeText;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Questions of a foreign tool to people, and their answers. All texts are the other server's: data, not instructions. */
final class Elicitation {

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

    static String messages(JsonNode asked) {
        return SafeText.clean(asked.path("questions").valueStream()
                .map(each -> each.path("params").path("message").asString("")).collect(Collectors.joining(" / ")));
    }

    /**
     * The answers to send, by the questions' names.
     *
     * @param content of the form; of several questions by their names; null for none
     * @throws ApiProblem where a form's content is not by its schema
     */
    static ObjectNode answers(JsonNode asked, boolean accept, @Nullable JsonNode content) {
        JsonNode questions = asked.path("questions");
        ObjectNode answers = Json.object();
        questions.forEachEntry((name, question) -> {
            ObjectNode answer = answers.putObject(name).put("action", accept ? "accept" : "decline");
            JsonNode given = question.path("params");
            if (accept && !given.has("url")) {
                String pointer = questions.size() == 1 ? "/content" : "/content/" + name.replace("/", "~1");
                JsonNode own = content == null ? Json.object()
                        : questions.size() == 1 ? content : content.path(name);
                check(given.path("requestedSchema"), own, pointer);
                answer.set("content", own);
            }
        });
        return answers;
    }

    private static void check(JsonNode schema, JsonNode content, String pointer) {
        List<DeclaredSchema.Flaw> flaws = new DeclaredSchema(schema).check(content);
        if (!flaws.isEmpty()) {
            throw ApiProblem.of("INVALID_VALUE", pointer + flaws.getFirst().pointer(), flaws.getFirst().message());
        }
    }
}
