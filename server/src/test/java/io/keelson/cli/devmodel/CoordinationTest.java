package io.keelson.cli.devmodel;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.server.db.TestDatabase;
import io.keelson.server.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Models of a server that plan and judge, against dev-model. */
class CoordinationTest {

    /** Rules by the text of the last message: a goal, the problems of a plan, an output that is judged. */
    private static final String SCRIPT =
            """
            rules:
              - when: {model: planner, text: PLAN_UNREADABLE}
                answer: {json: {tasks: [{id: write, title: Write, steps: [{tool: no.such.tool}],
                  verify: [{kind: jq, expression: "true"}]}]}}
              - when: {model: planner, text: UNKNOWN_TOOL}
                answer: {json: {strategy: sequential, tasks: [{id: write, title: Write, estimated_cost: 900, estimated_tokens: 1000,
                  suggested_agent: {type: contractor, agent_name: writer, model: author},
                  verify: [{kind: jq, expression: "length > 3"}]}]}, usage: {input: 200, output: 100}}
              - when: {model: planner, text: "TALE"}
                answer: {text: "First I would think about it.", usage: {input: 100, output: 10}}
              - when: {model: mute}
                answer: {text: "I cannot."}
              - when: {model: planner, text: "MUCH"}
                answer: {json: {tasks: [{id: a, title: A}, {id: b, title: B}]}}
              - when: {model: planner, text: "TOO_MANY"}
                answer: {json: {tasks: [{id: a, title: A, estimated_tokens: 100000000, suggested_model: author,
                  verify: [{kind: jq, expression: "true"}]}]}}
              - when: {model: planner, text: "ESTIMATE_ABOVE_BUDGET"}
                answer: {text: "I give up."}
              - when: {model: planner, text: "USUAL"}
                answer: {json: {template: greeting, inputs: {name: Ada}}}
              - when: {model: author}
                answer: {text: "Once upon a time."}
            """;

    @TempDir
    static Path folder;

    private static TestModel model;
    private static InProcessCli cli;

    @BeforeAll
    static void start() throws Exception {
        model = new TestModel(SCRIPT);
        StringBuilder models = new StringBuilder("models:\n");
        Map.of("planner", "a", "mute", "a", "author", "a", "other", "b", "sibling", "a").forEach((name, family) -> models.append("""
                  %s: {wire: openai-chat, base_url: "%s", model: %s, family: %s, context_tokens: 100000, max_output_tokens: 2000,
                    prices: {input: 1, output: 10}}
                """.formatted(name, model.uri("/v1"), name, family)));
        Path file = Files.writeString(folder.resolve("models.yaml"), models);
        cli = new InProcessCli(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", file.toString()));
    }

    @AfterAll
    static void stop() throws Exception {
        cli.close();
        model.close();
    }

    private String file(String mission) throws Exception {
        return Files.writeString(folder.resolve("m" + UUID.randomUUID() + ".yaml"), mission).toString();
    }

    private JsonNode run(String mission) throws Exception {
        Result result = cli.run("run", file(mission), "--json");
        assertThat(result.out()).as(result.err()).isNotBlank();
        return Json.read(result.out()).path("run");
    }

    private List<JsonNode> events(JsonNode run, String type) {
        return cli.lines("events", run.get("id").stringValue(), "--json").stream().map(Json::read)
                .filter(each -> each.path("event_type").asString("").equals(type)).toList();
    }

    private List<JsonNode> asked(String name, String text) throws Exception {
        return model.journal().stream().filter(each -> each.path("model").asString("").equals(name))
                .filter(each -> each.path("body").toString().contains(text)).toList();
    }

    @Test
    void planOfModelIsRepairedTwiceAndItsEstimatePricedByTheEngine() throws Exception {
        JsonNode run = run("""
                goal: Write TALE for <data>x</data>
                config: {autonomy: {level: full_auto}, model_preferences: {planner: planner}}
                """);

        assertThat(run.path("state").asString()).as(run.toPrettyString()).isEqualTo("completed");
        assertThat(events(run, "run_planning_started").getFirst().at("/payload/coordinator_model").asString())
                .isEqualTo("planner");
        assertThat(events(run, "run_planning_refused")).hasSize(2);
        JsonNode ready = events(run, "run_plan_ready").getFirst().path("payload");
        assertThat(ready.path("task_count").intValue()).isEqualTo(1);
        assertThat(ready.path("strategy").asString()).isEqualTo("sequential");
        assertThat(new BigDecimal(ready.path("estimated_cost").asString())).as("1,000 tokens at the price of output")
                .isEqualByComparingTo("0.01");
        List<JsonNode> requests = asked("planner", "TALE");
        assertThat(requests).hasSize(3);
        JsonNode first = requests.getFirst().at("/body/messages");
        for (JsonNode request : requests) {
            JsonNode messages = request.at("/body/messages");
            for (int i = 0; i < first.size(); i++) {
                assertThat(messages.get(i)).isEqualTo(first.get(i));
            }
        }
        assertThat(first.toString()).contains("<data from=\\\"goal\\\">\\nWrite TALE for < data>x</ data>\\n</data>")
                .contains("http.request").doesNotContain("model.turn");
        assertThat(requests.get(2).at("/body/messages").get(first.size() + 1).toString())
                .contains("/plan/tasks/0/steps/0/tool", "UNKNOWN_TOOL");
    }

    @Test
    void threeAnswersWithoutPlanFailTheRun() throws Exception {
        JsonNode run = run("""
                goal: This will NEVER work
                config: {model_preferences: {planner: mute}}
                """);

        assertThat(run.path("state").asString()).isEqualTo("failed");
        assertThat(run.path("error_code").asString()).isEqualTo("PLANNING_FAILED");
        assertThat(asked("mute", "NEVER work")).hasSize(3);
    }

    @Test
    void planOfModelKeepsToTasksCriteriaAndBudget() throws Exception {
        JsonNode run = run("""
                goal: This is too MUCH
                config: {planner: {tool: model.plan, max_tasks: 1}, budget: {hard_limit_usd: 5}, model_preferences: {planner: planner}}
                """);

        assertThat(run.path("error_code").asString()).as(run.toPrettyString()).isEqualTo("PLANNING_FAILED");
        List<String> refused = events(run, "run_planning_refused").stream()
                .map(each -> each.at("/payload/error_message").asString()).toList();
        assertThat(refused.get(0)).contains("TOO_MANY", "/plan/tasks/1/verify", "CRITERION_REQUIRED");
        assertThat(refused.get(1)).contains("ESTIMATE_ABOVE_BUDGET");
    }

    @Test
    void planMayBeTheListedRecipe() throws Exception {
        cli.lines("recipes", "create", file("""
                name: greeting
                inputs: {name: {type: string}}
                output: "${ .tasks.greet.output }"
                plan: {tasks: [{id: greet, steps: [{tool: echo, input: {text: "Hello ${ .inputs.name }"}}]}]}
                """));
        JsonNode run = run("""
                goal: Do the USUAL
                output: "${ .tasks.template.output.text }"
                config: {autonomy: {level: full_auto}, model_preferences: {planner: planner}}
                """);

        assertThat(run.path("output").asString("")).as(run.toPrettyString()).isEqualTo("Hello Ada");
    }
}
