package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Models of a server that plan and judge, against dev-model. */
@Breadth.Spread
class CoordinationTest {

    /** Rules by the text of the last message: a goal, the problems of a plan, an output that is judged. */
    private static final String SCRIPT =
            """
            rules:
              - when: {model: author, text: WILFUL}
                answer: {text: "WILFUL as ever.", usage: {input: 100, output: 100}}
              - when: {model: strong, text: WILFUL}
                answer: {text: "TAMED at last.", usage: {input: 100, output: 100}}
              - when: {model: judge, text: TAMED}
                answer: {json: {marks: [{criterion: 1, evidence: "TAMED", mark: 5}], feedback: "", confidence: 0.9, task_wrong: false}}
              - when: {model: judge, text: WILFUL}
                answer: {json: {marks: [{criterion: 1, evidence: "", mark: 1}], feedback: "WILFUL again.", confidence: 0.9, task_wrong: false}}
              - when: {model: author, text: STUBBORN}
                answer: {text: "STUBBORN as ever.", usage: {input: 100, output: 100}}
              - when: {model: sibling, text: STUBBORN}
                answer: {text: "STUBBORN as ever.", usage: {input: 100, output: 100}}
              - when: {model: strong, text: STUBBORN}
                answer: {text: "STUBBORN as ever.", usage: {input: 100, output: 100}}
              - when: {model: judge, text: STUBBORN}
                answer: {json: {marks: [{criterion: 1, evidence: "", mark: 1}], feedback: "STUBBORN again.", confidence: 0.9, task_wrong: false},
                  usage: {input: 100, output: 50}}
              - when: {model: planner, text: STUBBORN}
                answer: {json: {tasks: [{id: other, title: STUBBORN too, suggested_agent: {agent_name: first},
                  verify: [{kind: model, criteria: [{criterion: "It yields", must_pass: true}]}]}]}, usage: {input: 900, output: 100}}
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
                answer: {json: {tasks: [{id: a, title: A}, {id: b, title: B, steps: [{tool: echo, input: {text: "${ secret(\\"token\\") }"}}]}]}}
              - when: {model: planner, text: "TOO_MANY"}
                answer: {json: {tasks: [{id: a, title: A, estimated_tokens: 100000000, suggested_model: author,
                  verify: [{kind: jq, expression: "true"}]}]}}
              - when: {model: planner, text: "ESTIMATE_ABOVE_BUDGET"}
                answer: {text: "I give up."}
              - when: {model: planner, text: "USUAL"}
                answer: {text: "<think>It is usual.</think>\\n```json\\n{\\"template\\": \\"greeting\\", \\"inputs\\": {\\"name\\": \\"Ada\\"}}\\n```"}
              - when: {model: judge, text: IMPOSSIBLE}
                answer: {json: {marks: [{criterion: 1, evidence: "", mark: 1}], feedback: "No output can.", confidence: 0.9,
                  task_wrong: true}}
              - when: {model: planner, text: "Take the easy way"}
                answer: {json: {tasks: [{id: easy, title: Easy, steps: [{tool: echo, input: {text: easy}}],
                  verify: [{kind: jq, expression: ".text == \\"easy\\""}]}]}}
              - when: {model: planner, text: IMPOSSIBLE}
                answer: {json: {tasks: [{id: possible, title: Possible, steps: [{tool: echo, input: {text: yes}}],
                  verify: [{kind: jq, expression: "true"}]}]}}
              - when: {model: judge, text: BETTER}
                answer: {json: {marks: [{criterion: 1, evidence: "", mark: 5}, {criterion: 2, evidence: "", mark: 5},
                  {criterion: 3, evidence: "", mark: 4}], feedback: "", confidence: 0.9, task_wrong: false}, usage: {input: 100, output: 10}}
              - when: {model: judge, text: DOUBT}
                answer: {json: {marks: [{criterion: 1, evidence: "DOUBT", mark: 5}], feedback: "Hard to say.", confidence: 0.4, task_wrong: false}}
              - when: {model: judge, text: PART}
                answer: {json: {marks: [{criterion: 2, evidence: "PART", mark: 5}], feedback: "", confidence: 0.9, task_wrong: false}}
              - when: {model: judge}
                answer: {json: {marks: [{criterion: 1, evidence: "Once", mark: 5}, {criterion: 2, evidence: "", mark: 5},
                  {criterion: 3, evidence: "a time", mark: 3}], feedback: "Name the hero.", confidence: 0.9, task_wrong: false}}
              - when: {model: author, text: "Name the hero."}
                answer: {text: "Once upon a time, Ada was BETTER."}
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
        Map.of("planner", "a", "mute", "a", "author", "a", "judge", "b", "sibling", "a", "strong", "a")
                .forEach((name, family) -> models.append("""
                  %s: {wire: openai-chat, base_url: "%s", model: %s, family: %s, context_tokens: 100000, max_output_tokens: 2000,
                    prices: {input: 1, output: 10}}
                """.formatted(name, model.uri("/v1"), name, family)));
        Path file = Files.writeString(folder.resolve("models.yaml"), models);
        cli = new InProcessCli(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", file.toString()));
        cli.lines("workspaces", "tools", "default", "--deny", "files.write");
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
        List<JsonNode> requests = asked("planner", "TALE for");
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
    void planOfModelKeepsToTasksCriteriaBudgetAndNoSecrets() throws Exception {
        JsonNode run = run("""
                goal: This is too MUCH
                config: {planner: {tool: model.plan, max_tasks: 1}, budget: {hard_limit_usd: 5}, model_preferences: {planner: planner}}
                """);

        assertThat(run.path("error_code").asString()).as(run.toPrettyString()).isEqualTo("PLANNING_FAILED");
        List<String> refused = events(run, "run_planning_refused").stream()
                .map(each -> each.at("/payload/error_message").asString()).toList();
        assertThat(refused.get(0)).contains("TOO_MANY", "/plan/tasks/1/verify", "CRITERION_REQUIRED",
                "SECRET_NOT_ALLOWED");
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
                config: {autonomy: {level: full_auto}, denied_tools: ["http.*"], model_preferences: {planner: planner}}
                """);

        assertThat(run.path("output").asString("")).as(run.toPrettyString()).isEqualTo("Hello Ada");
        assertThat(asked("planner", "USUAL").getFirst().at("/body/messages").toString())
                .contains("{\\\"name\\\":\\\"files.list\\\"", "{\\\"name\\\":\\\"echo\\\"")
                .as("tools that rules of the mission and of the workspace refuse")
                .doesNotContain("http.request").doesNotContain("files.write");
    }

    /** A mission of one task of a contractor, whose output is checked so. */
    private static String judged(String title, String verify) {
        return """
                name: judged
                config: {model_preferences: {verifier: judge}}
                plan:
                  tasks:
                    - id: write
                      title: %s
                      suggested_agent: {type: contractor, agent_name: writer, model: author}
                      retry: {base_delay_seconds: 0.01}
                      verify: %s
                """.formatted(title, verify);
    }

    @Test
    void markBelowFourRejectsWhatMustPassAndFeedbackReachesTheNextAttempt() throws Exception {
        JsonNode run = run(judged("Tell it", """
                [{kind: model, criteria: [{criterion: "It has a beginning"}, {criterion: "It is short"},
                  {criterion: "It has a hero", must_pass: true}]}]"""));

        assertThat(run.path("state").asString()).as(run.toPrettyString()).isEqualTo("completed");
        JsonNode failed = events(run, "task_verification_failed").getFirst().path("payload");
        assertThat(failed.path("score").asDouble()).as("the mean of 1, 1 and 0.5 would pass").isEqualTo(0.83);
        assertThat(failed.path("verifier_feedback").asString()).contains("Name the hero.",
                "- It has a hero (must pass): 3 of 5, \"a time\"").doesNotContain("It is short");
        assertThat(failed.path("retries_remaining").asInt()).isPositive();
        assertThat(events(run, "task_verification_started").getFirst().at("/payload/verifier_model").asString())
                .isEqualTo("judge");
        JsonNode passed = events(run, "task_verification_passed").getFirst().path("payload");
        assertThat(passed.path("score").asDouble()).isEqualTo(0.92);
        String asked = asked("judge", "Tell it").getFirst().at("/body/messages").toString();
        assertThat(asked).contains("<data from=\\\"output\\\">\\nOnce upon a time.\\n</data>\\n\\nMark the output");
    }

    @Test
    void humanDecidesWhereTheJudgeDoubtsOrMarksAPart() throws Exception {
        for (String output : List.of("DOUBT", "PART")) {
            JsonNode run = run("""
                    name: %1$s
                    plan:
                      tasks:
                        - id: write
                          output: "${ .steps.say.output.text }"
                          steps: [{name: say, tool: echo, input: {text: %1$s}}]
                          verify: [{kind: model, model: judge, criteria: [{criterion: "It is sure"}%2$s]}]
                    """.formatted(output, output.equals("PART") ? ", {criterion: \"It is whole\"}" : ""));

            JsonNode asks = events(run, "task_human_review_requested").getFirst().path("payload");
            assertThat(asks.path("feedback").asString()).contains("- It is sure: "
                    + (output.equals("PART") ? "no mark" : "5 of 5, \"DOUBT\""));
            assertThat(cli.run("inbox", "--json").out()).contains("task_review", run.get("id").stringValue());
        }
    }

    @Test
    void judgeIsNotOfTheFamilyOfTheAuthorUnlessThePlanSaysSo() throws Exception {
        String check = "[{kind: model, model: sibling%s, criteria: [{criterion: \"It is good\"}]}]";
        Result refused = cli.run("run", file(judged("Tell it", check.formatted(""))));

        assertThat(refused.code()).isNotZero();
        assertThat(refused.err() + refused.out()).contains("JUDGE_NOT_INDEPENDENT", "/plan/tasks/0/verify/0",
                "'sibling'", "'author'");
        assertThat(cli.run("run", file(judged("Tell it", check.formatted(", independent: false"))), "--detach").code())
                .isZero();
    }

    @Test
    void checksWithoutCostComeFirstAndAFailureOfThemSparesTheJudge() throws Exception {
        JsonNode run = run(judged("SPARED", """
                [{kind: model, criteria: [{criterion: "It is good"}]}, {kind: length, min: 500, unit: words}]"""));

        assertThat(run.path("state").asString()).isEqualTo("failed");
        assertThat(events(run, "task_verification_failed").getFirst().at("/payload/verifier_feedback").asString())
                .contains("words, at least 500 are required");
        assertThat(asked("judge", "SPARED")).isEmpty();
    }

    @Test
    void outputOfACheapTaskIsNotJudgedAndAnEventSaysWhy() throws Exception {
        JsonNode run = run(judged("CHEAP", """
                [{kind: model, skip_below_usd: 0.05, criteria: [{criterion: "It is good"}]}]"""));

        assertThat(run.path("state").asString()).isEqualTo("completed");
        assertThat(events(run, "task_verification_skipped").getFirst().at("/payload/reason").asString())
                .contains("less than 0.05");
        assertThat(asked("judge", "CHEAP")).isEmpty();
    }

    @Test
    void unknownPreferredModelIsRefusedWithTheKnownOnes() throws Exception {
        assertThat(cli.run("run", file("""
                goal: Write TALE for once
                config: {model_preferences: {planner: planer}}
                """)).err()).contains("MODEL_UNKNOWN", "/config/model_preferences/planner", "did you mean 'planner'?",
                "this server calls author, judge, mute, planner, sibling, strong");
    }

    @Test
    void judgeWithoutPriceOrCriteriaIsRefused() throws Exception {
        assertThat(cli.run("run", file(judged("x", "[{kind: model}]"))).err())
                .contains("/plan/tasks/0/verify/0/criteria");
        assertThat(cli.run("run", file(judged("x", "[{kind: model, model: free, criteria: [{criterion: c}]}]"))).err())
                .contains("MODEL_NOT_CONFIGURED", "/plan/tasks/0/verify/0/model", "this server calls author, judge");
    }

    @Test
    void changedPlanIsCheckedAnewAndBecomesTheNextVersion() throws Exception {
        JsonNode run = run("""
                goal: Write TALE again
                config: {model_preferences: {planner: planner}}
                """);
        String id = run.get("id").stringValue();
        assertThat(run.path("state").asString()).isEqualTo("awaiting_approval");

        Result refused = cli.run("approve", id, "--plan", file("tasks: [{id: write, steps: [{tool: none.such}]}]"));
        assertThat(refused.code()).isNotZero();
        assertThat(refused.err()).contains("UNKNOWN_TOOL", "/plan/tasks/0/steps/0/tool");
        assertThat(cli.client().runs().get(id).state()).isEqualTo("awaiting_approval");

        cli.lines("approve", id, "--reason", "better so", "--watch", "--plan", file("""
                tasks:
                  - {id: say, steps: [{tool: echo, input: {text: hello}}]}
                """));

        JsonNode ended = Json.read(cli.run("show", id, "--json").out());
        assertThat(ended.at("/run/state").asString()).as(ended.toPrettyString()).isEqualTo("completed");
        assertThat(ended.at("/run/plan_version").asInt()).isEqualTo(2);
        assertThat(ended.path("tasks").valueStream().map(task -> task.path("key").asString())).contains("say")
                .doesNotContain("write");
        JsonNode approved = events(run, "run_approved").getFirst().path("payload");
        assertThat(approved.path("approved_by").asString()).isEqualTo("local");
        assertThat(approved.path("modifications").toString())
                .isEqualTo("[\"task say added\",\"task write removed\"]");
        Result late = cli.run("approve", id, "--plan", file("tasks: [{id: say, steps: [{tool: echo}]}]"));
        assertThat(late.err()).contains("only a plan that waits for approval can be changed");
    }

    @Test
    void contractorTakesTheModelOfItsRoleAndItsRetryAStrongerOne() throws Exception {
        JsonNode run = run("""
                goal: A WILFUL goal
                config:
                  retry: {backoff_base_seconds: 0, escalate_model: strong}
                  model_preferences: {writer: author, verifier: judge}
                plan:
                  tasks:
                    - id: write
                      title: Tale
                      task_type: writing
                      suggested_agent: {type: contractor, agent_name: hand}
                      verify: [{kind: model, criteria: [{criterion: "It yields", must_pass: true}]}]
                """);

        assertThat(run.path("state").asString()).as(run.toPrettyString()).isEqualTo("completed");
        JsonNode rung = events(run, "task_rung_reached").getFirst().path("payload");
        assertThat(rung.path("to").asString()).isEqualTo("retry");
        assertThat(rung.path("model").asString()).isEqualTo("strong");
        assertThat(rung.path("error_code").asString()).isEqualTo("VERIFICATION_REJECTED");
        assertThat(new BigDecimal(rung.path("cost").asString())).isPositive();
        assertThat(asked("author", "WILFUL")).hasSize(1);
        assertThat(asked("strong", "WILFUL again.")).as("the retry sees the feedback").hasSize(1);
        JsonNode task = Json.read(cli.run("show", run.get("id").stringValue(), "--json").out()).path("tasks").path(0);
        assertThat(task.path("model_override").asString()).isEqualTo("strong");
        JsonNode planned = Json.read(cli.run("show", run.get("id").stringValue(), "--json").out())
                .at("/run/plan/tasks/0");
        assertThat(planned.at("/assigned_agent/max_turns").intValue()).isEqualTo(10);
        assertThat(planned.path("timeout_seconds").intValue()).isEqualTo(300);
    }

    @Test
    void ladderIsClimbedRungByRungUnderOneBudget() throws Exception {
        for (String[] agent : new String[][] {{"first", "author"}, {"second", "sibling"}}) {
            cli.lines("agents", "create", "--file", file("{slug: %s, name: %s, model: %s, tools: [], capabilities: []}"
                    .formatted(agent[0], agent[0], agent[1])));
        }
        String mission = """
                goal: A STUBBORN goal
                config:
                  budget: {hard_limit_usd: %s}
                  retry: {max_retries_per_task: 1}
                  planner: {tool: model.plan}
                  replan: {max: 1}
                  model_preferences: {planner: planner, verifier: judge}
                  ladder: [{to: agent}, {to: model, model: strong}, {to: replan}, {to: human}]
                plan:
                  tasks:
                    - id: write
                      title: STUBBORN tale
                      suggested_agent: {agent_name: first}
                      verify: [{kind: model, criteria: [{criterion: "It yields", must_pass: true}]}]
                """;
        JsonNode run = run(mission.formatted("1"));

        assertThat(run.path("state").asString()).as(run.toPrettyString()).isEqualTo("escalated");
        List<String> rungs = events(run, "task_rung_reached").stream().map(each -> each.path("payload"))
                .map(each -> each.path("rung").asInt() + " " + each.path("to").asString() + " "
                        + each.path("agent").asString("-") + " " + each.path("model").asString("-"))
                .toList();
        assertThat(rungs).containsExactly("1 agent second sibling", "2 model second strong", "3 replan - -",
                "1 agent second sibling", "2 model second strong", "4 human - -");
        assertThat(Json.read(cli.run("show", run.get("id").stringValue(), "--json").out()).path("tasks").valueStream()
                .filter(task -> task.path("key").asString().equals("other"))
                .map(task -> task.path("model_override").asString())).contains("strong");
        assertThat(asked("author", "STUBBORN")).hasSize(2);
        assertThat(asked("sibling", "STUBBORN")).hasSize(2);
        assertThat(asked("strong", "STUBBORN")).hasSize(2);
        JsonNode ledger = Json.read(cli.run("ledger", run.get("id").stringValue(), "--json").out());
        List<JsonNode> charges = ledger.path("items").valueStream()
                .filter(each -> each.path("transaction_type").asString("").equals("charge")).toList();
        assertThat(charges).extracting(each -> each.path("purpose").asString()).contains("work", "verification",
                "planning");
        assertThat(charges.stream().map(each -> new BigDecimal(each.path("amount").asString()))
                .reduce(BigDecimal.ZERO, BigDecimal::add))
                .isEqualByComparingTo(new BigDecimal(run.path("total_cost").asString()));
    }

    private static String replanned(String title, String more) {
        return """
                name: replanned
                goal: %1$s
                config:
                  autonomy: {level: full_auto}
                  planner: {tool: model.plan}
                  model_preferences: {planner: planner, verifier: judge}
                plan:
                  tasks:
                    - id: first
                      title: %1$s
                      %2$s
                """.formatted(title, more);
    }

    @Test
    void judgeThatFindsTheTaskWrongLeadsToANewPlan() throws Exception {
        JsonNode run = run(replanned("IMPOSSIBLE", """
                steps: [{tool: echo, input: {text: IMPOSSIBLE}}]
                      verify: [{kind: model, criteria: [{criterion: "It is done", must_pass: true}]}]"""));

        assertThat(run.path("state").asString()).as(run.toPrettyString()).isEqualTo("completed");
        assertThat(events(run, "run_replanning").getFirst().at("/payload/reason").asString()).contains("TASK_WRONG");
        assertThat(events(run, "task_failed").getFirst().at("/payload/error_message").asString())
                .contains("No output can.");
    }

    @Test
    void instructionsOfAPersonReachThePlanner() throws Exception {
        Result waiting =
                cli.run("run", file(replanned("Some other goal", "steps: [{kind: approval, name: ask}]")), "--json");
        String id = Json.read(waiting.out()).at("/run/id").asString();
        cli.lines("replan", id, "--reason", "Take the easy way");

        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> cli.client().runs().get(id).state().equals("completed"));
        String asked = asked("planner", "Take the easy way").getFirst().at("/body/messages").toString();
        assertThat(asked).contains("The person who asks for a new plan says: Take the easy way", "Some other goal");
    }
}
