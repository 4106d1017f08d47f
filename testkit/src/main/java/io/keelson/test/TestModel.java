package io.keelson.test;

import io.keelson.client.Json;
import io.keelson.devmodel.Script.Question;
import io.keelson.devmodel.ScriptedModel;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The model {@code scripted} of a test's missions. Its answers come from a queue, then from a function. A request
 * without an answer fails.
 */
public final class TestModel {
    private final ScriptedModel model;

    TestModel(ScriptedModel model) {
        this.model = model;
    }

    /** Adds answers to the queue: texts. */
    public TestModel says(String... texts) {
        for (String text : texts) {
            model.add(Json.object().put("text", text));
        }
        return this;
    }

    /** Adds an answer to the queue: a JSON value, any that Jackson can write. */
    public TestModel saysJson(Object value) {
        return answers(Json.object().set("json", Json.of(value)));
    }

    /** Adds an answer to the queue: a call of a tool. */
    public TestModel calls(String tool, Object input) {
        ObjectNode answer = Json.object();
        answer.putArray("calls").addObject().put("tool", tool).set("input", Json.of(input));
        return answers(answer);
    }

    /** Adds a failure of the provider to the queue, such as 500 or 429. */
    public TestModel fails(int status) {
        return answers(ScriptedModel.failure(status));
    }

    /** Adds an answer to the queue, as a rule of {@code dev-model} has it. */
    public TestModel answers(JsonNode answer) {
        model.add(answer);
        return this;
    }

    /** Answers requests for which the queue has no answer, as rules of {@code dev-model} do. */
    public TestModel answers(Function<Question, @Nullable JsonNode> function) {
        model.otherwise(function);
        return this;
    }

    /** Requests of this test, the oldest first. */
    public List<Question> questions() {
        return model.questions();
    }
}
