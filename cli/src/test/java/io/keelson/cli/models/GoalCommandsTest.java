package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What the command line shows of a goal from its plan to its accepted result. */
class GoalCommandsTest {
    private static final String SCRIPT = """
            rules:
              - name: plan
                when: {model: planner}
                answer: {json: {reasoning: One text will do., tasks: [{id: write, title: Write, suggested_model: author,
                    suggested_agent: {type: contractor, agent_name: writer, model: author}, estimated_tokens: 10,
                    verify: [{kind: regex, pattern: "better"}]}]}}
              - {name: better, when: {model: author, text: not accepted}, answer: {text: "a better text"}}
              - {name: first, when: {model: author}, answer: {text: "a text"}}
            """;

    @Test
    void aGoalFromItsPlanToItsResult(@TempDir Path folder) throws Exception {
        try (TestModel model = new TestModel(SCRIPT)) {
            StringBuilder models = new StringBuilder("models:\n");
            for (String name : new String[] {"planner", "author"}) {
                models.append("""
                          %1$s: {wire: openai-chat, base_url: "%2$s/v1", model: %1$s, family: f, context_tokens: 90000,
                              max_output_tokens: 900, prices: {input: 1, output: 1}}
                        """.formatted(name, model.uri("")));
            }
            Path file = Files.writeString(folder.resolve("models.yaml"), models);
            try (InProcessCli cli = new InProcessCli(folder, TestDatabase.createUrl(),
                    Map.of("KEELSON_MODELS", file.toString()))) {
                shown(cli, folder);
            }
        }
    }

    private static void shown(InProcessCli cli, Path folder) throws Exception {
        Path goal = Files.writeString(folder.resolve("goal.yaml"), """
                name: goal
                goal: Write a text
                config: {acceptance: human, model_preferences: {planner: planner}, retry: {backoff_base_seconds: 0.01}}
                """);
        Result planned = cli.run("run", goal.toString());
        assertThat(planned.code()).isEqualTo(4);
        assertThat(planned.out()).contains("One text will do.", "approve with: keelson approve ",
                "reject with:  keelson reject ", "change it:    keelson show ");
        assertThat(cli.run("explain", "latest").err()).contains("approve with: keelson approve ");

        JsonNode plan = Json.read(cli.run("show", "latest", "--json").out()).at("/run/plan");
        Path changed = Files.writeString(folder.resolve("plan.json"),
                plan.toString().replace("\"title\":\"Write\"", "\"title\":\"Write it well\""));
        Result result = cli.run("approve", "latest", "--plan", changed.toString(), "--watch");
        assertThat(result.code()).as(result.err()).isEqualTo(4);
        assertThat(result.out().lines().filter(line -> line.endsWith("  Write")).toList()).isEmpty();
        assertThat(result.out()).contains("Write it well");
        String waits = result.out().substring(result.out().indexOf("its result waits for acceptance"));
        assertThat(waits).contains("write", "a better text").doesNotContain(".planning", "One text will do.");
        assertThat(cli.run("explain", "latest").err()).contains("approve with: keelson approve ");
        assertThat(cli.run("show", "latest", "write").err()).contains(" write --attempt all");
        assertThat(cli.run("transcript", "latest", "write", "--attempt", "1").out()).contains("\"output\":\"a text\"")
                .doesNotContain("${");

        Result accepted = cli.run("approve", "latest", "--watch");
        assertThat(accepted.code()).as(accepted.err()).isZero();
        assertThat(accepted.out())
                .endsWith("write" + System.lineSeparator() + "a better text" + System.lineSeparator());
        assertThat(cli.run("watch", "latest").out()).endsWith("a better text" + System.lineSeparator());
    }
}
