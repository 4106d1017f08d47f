package io.keelson.server.engine.tool;

import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Questions of agents to people: the input of {@code agent.ask}. */
public final class AgentQuestions {
    private static final int MAX_SHOWN = 20;

    /** JSON Schema of a question. */
    public static final JsonNode SCHEMA = Json.read("""
            {"type": "object", "additionalProperties": false, "required": ["question"], "properties": {
              "question": {"type": "string", "minLength": 1, "maxLength": 4000},
              "schema": {"type": "object", "description": "JSON Schema of the answer; any answer without it"}}}""");
    private static final DeclaredSchema QUESTION = new DeclaredSchema(SCHEMA);

    private AgentQuestions() {}

    /** Why people cannot be asked, with JSON pointers into the input; empty for a question that can be answered. */
    public static String problems(JsonNode input) {
        List<DeclaredSchema.Flaw> flaws = QUESTION.check(input);
        Stream<String> problems = flaws.isEmpty() && input.has("schema")
                ? new DeclaredSchema(input.get("schema")).flaws().stream().map(flaw -> text("/schema", flaw))
                : flaws.stream().map(flaw -> text("", flaw));
        return problems.limit(MAX_SHOWN).collect(Collectors.joining("; "));
    }

    private static String text(String at, DeclaredSchema.Flaw flaw) {
        return at + flaw.pointer() + ": " + flaw.message();
    }
}
