package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.client.Api;
import io.keelson.client.Json;
import io.keelson.client.KeelsonException;
import io.keelson.core.Breadth;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Commands that create, follow and end runs on one server, and their error messages. */
@Breadth.Spread
class RunCommandsTest {

    @TempDir
    static Path folder;

    private static InProcessCli inProcessCli;

    @BeforeAll
    static void start() throws Exception {
        inProcessCli = new InProcessCli(folder);
    }

    @AfterAll
    static void stop() {
        inProcessCli.close();
    }

    @Test
    void aFailureIsExitCodeOneAndNamed() throws Exception {
        String mission = inProcessCli.mission("""
                plan:
                  tasks:
                    - id: bad
                      steps: [{tool: fail, input: {code: NO_LUCK, class: permanent, message: none today}}]
                """);
        Result plain = inProcessCli.run("run", mission);
        assertThat(plain.code()).isEqualTo(1);
        assertThat(plain.out()).contains("bad failed: NO_LUCK: none today");
        Result json = inProcessCli.run("run", mission, "--json");
        assertThat(json.code()).isEqualTo(1);
        assertThat(json.json().at("/run/error_code").asString()).isEqualTo("NO_LUCK");
        assertThat(json.err()).isEmpty();
    }

    @Test
    void taskIsShownWithInputsAndResultsOfItsSteps() throws Exception {
        inProcessCli.lines("run", inProcessCli.mission("""
                inputs: {who: {default: you}}
                plan:
                  tasks:
                    - id: greet
                      steps:
                        - {name: try, tool: fail, input: {times: 1, code: BUSY, message: "not yet, ${ .inputs.who }"},
                           retry: {max_attempts: 2, base_delay_seconds: 0.01}}
                        - {name: say, tool: text.template, input: {template: "hello\\nto ${ .inputs.who }"}}
                """));
        List<String> shown = inProcessCli.lines("show", "latest", "greet");
        assertThat(String.join("\n", shown)).contains("attempt 1 failed, worker ", "not yet, you", "BUSY: not yet, you",
                "attempt 2 completed", "\"template\" : \"hello\\nto you\"", "output: \"hello\\nto you\"");
        assertThat(inProcessCli.run("show", "latest", "greet", "--json").json().at("/steps/0/attempts/0/input/message")
                .asString()).isEqualTo("not yet, you");
        assertThat(inProcessCli.lines("logs", "latest", "--follow")).containsSubsequence(
                "greet/try | BUSY: not yet, you",
                "greet/say | hello", "greet/say | to you");
        assertThat(inProcessCli.lines("logs", "latest", "greet")).contains("say | to you");
        assertThat(inProcessCli.run("logs", "latest", "nope").err()).contains("TASK_NOT_FOUND", "it has greet");
        assertThat(inProcessCli.run("show", "latest", "--svg").out()).startsWith("<svg ").contains(">greet</text>");
        assertThat(inProcessCli.run("show", "latest", "greet", "--svg").err()).contains("USAGE");
    }

    @Test
    void runCompletedWithFailuresIsExitCodeFive() throws Exception {
        String mission = inProcessCli.mission("""
                config: {failure_mode: continue}
                plan:
                  tasks:
                    - {id: good, steps: [{tool: echo}]}
                    - {id: bad, steps: [{tool: fail, input: {code: NO_LUCK, class: permanent, message: none today}}]}
                    - id: half
                      failure_mode: continue
                      steps:
                        - {name: first, tool: fail, input: {code: NO_WAY, class: permanent, message: shut}}
                        - {name: second, tool: echo}
                """);
        Result run = inProcessCli.run("run", mission);
        assertThat(run.code()).as(run.err()).isEqualTo(5);
        assertThat(run.out()).contains("bad failed: NO_LUCK: none today", "NO_WAY: shut",
                "run completed with failures", " completed with failures in ", "2 of 3 tasks completed, 1 failed",
                "\nbad failed: NO_LUCK: none today\n", "\nhalf completed without its step first: NO_WAY: shut\n",
                " bad\n", " --from bad --watch\n");
        assertThat(inProcessCli.run("runs", "--limit", "1").out()).contains("completed with failures");
        assertThat(inProcessCli.run("show", "latest").out()).contains("NO_LUCK: none today", "NO_WAY: shut");
        assertThat(inProcessCli.run("explain", "latest").out()).contains("ENDED  the run completed with failures: 2",
                "FAILURE_IGNORED  task 'bad' failed and the run continued without it: NO_LUCK: none today",
                "FAILURE_IGNORED  step 'first' of task 'half' failed");
        assertThat(inProcessCli.run("reports", "latest").out()).contains("summary   completed with failures",
                "incident  failed");
        assertThat(inProcessCli.run("board", "--limit", "100").out()).contains("completed with failures: 2");
        assertThat(inProcessCli.run("board", "--run", "latest").out()).contains("bad    none today");
        assertThat(inProcessCli.run("events", "latest").out()).contains("NO_LUCK: none today",
                "running → completed  with failures: 2");
        Result json = inProcessCli.run("show", "latest", "--json");
        assertThat(json.json().get("outcome").asString()).isEqualTo("completed_with_failures");
        assertThat(json.json().get("failures").toString()).isEqualTo("""
                [{"task":"bad","step":null,"error_code":"NO_LUCK","error_message":"none today"},\
                {"task":"half","step":"first","error_code":"NO_WAY","error_message":"shut"}]""");
        assertThat(inProcessCli.client().api().get("/runs/" + json.json().at("/run/id").asString() + "/status")
                .get("error").asString()).isEqualTo("COMPLETED_WITH_FAILURES: 2");
        assertThat(json.json().at("/run/failures").asInt()).isEqualTo(2);
        assertThat(json.json().at("/run/state").asString()).isEqualTo("completed");
    }

    @Test
    void forkIsAdvisedForTasksOfThePlanOnly() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                config: {hooks: {after_run: {tool: fail, input: {class: permanent}}}}
                plan: {tasks: [{id: a, steps: [{tool: noop}]}]}
                """));
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(5);
        assertThat(run.out() + run.err()).contains(" .after_run\n").doesNotContain(" fork ");
    }

    @Test
    void restartShowsEarlierWorkAndDoesNotEndTheRun() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                config: {failure_mode: retry, max_attempts: 2, level_retry: {base_delay_seconds: 0.05}}
                plan:
                  tasks:
                    - {id: early, steps: [{tool: echo}]}
                    - id: late
                      depends_on: [early]
                      failure_mode: continue
                      steps:
                        - {name: first, tool: fail, input: {code: NO_LUCK, times: 99}, retry: {max_attempts: 1}}
                        - {name: second, tool: echo}
                    - {id: last, depends_on: [late], steps: [{tool: fail, input: {times: 99}, retry: {max_attempts: 1}}]}
                """));
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).contains("late continues without first: NO_LUCK")
                .doesNotContain("completed with failures")
                .doesNotContainPattern("Z [0-9a-f]{8}-");
        assertThat(run.out().split(" early completed", -1)).hasSize(3);
        List<String> events = inProcessCli.lines("events", "latest");
        assertThat(events).filteredOn(line -> line.contains("task_started  task early  ")).hasSize(2);
        assertThat(String.join("\n", events)).contains("step late/first  ").doesNotContain("with failures:")
                .doesNotContainPattern("(task|step) [0-9a-f]{8}-");
    }

    @Test
    void aFailedRunIsExplainedByTheStepAndItsMessage() throws Exception {
        inProcessCli.run("run", inProcessCli.mission("""
                plan: {tasks: [{id: bad, steps: [{name: ask, tool: fail, input: {code: NO_LUCK, class: permanent, message: none today}}]}]}
                """));
        assertThat(inProcessCli.run("explain", "latest").out()).contains("ENDED  the run is failed: NO_LUCK: ",
                "FAILED  step 'bad/ask': it failed: NO_LUCK: none today");
        inProcessCli.run("run", inProcessCli.mission("""
                plan: {tasks: [{id: bad, steps: [{name: ask, tool: fail, input: {code: NO_LUCK, class: permanent, message: "exit code 1: reading\\n  File x\\nValueError: no city"}}]}]}
                """));
        assertThat(inProcessCli.run("explain", "latest").out().lines().toList()).hasSize(4)
                .satisfies(lines -> assertThat(lines.getFirst()).startsWith("ENDED  the run is failed: NO_LUCK: ")
                        .endsWith("reading … ValueError: no city"))
                .contains("    File x", "  ValueError: no city");
    }

    @Test
    void aValueOfAnInputThatCannotBeUsedIsAFaultOfTheOption() throws Exception {
        String mission = inProcessCli.mission("inputs: {count: {type: integer, default: 1}}\nplan: {tasks: []}");
        Result wrong = inProcessCli.run("run", mission, "--input", "cuont=3", "--input", "count=three");
        assertThat(wrong.code()).isEqualTo(ExitCode.USAGE);
        assertThat(wrong.err()).contains("2 values given with --input cannot be used [INVALID_INPUT]",
                "  --input cuont: no input 'cuont' is declared; did you mean 'count'?; declared: count [INPUT_UNKNOWN]",
                "  --input count: ").doesNotContain("(line");
        Result both =
                inProcessCli.run("run", inProcessCli.mission("plan: {tasks: [{id: a, stepz: []}]}"), "--input", "x=1");
        assertThat(both.err()).contains("--input x: no input 'x' is declared [INPUT_UNKNOWN]", "stepz", "(line 2)");
    }

    @Test
    void aTypeThatIsNoneIsOneProblemWithTheNearestName() throws Exception {
        Result wrong =
                inProcessCli.run("validate", inProcessCli.mission("inputs: {n: {type: numbr}}\nplan: {tasks: []}"));
        assertThat(wrong.err()).contains("1 problem ", "did you mean 'number'?").doesNotContain("array expected");
    }

    @Test
    void invalidScheduleGetsAllProblems() throws Exception {
        String mission = inProcessCli.mission("plan: {tasks: []}");
        assertThat(
                inProcessCli.run("schedules", "create", "s", "--mission", mission, "--cron", "x", "--overlap", "never",
                        "--zone",
                        "Nowhere").err())
                .contains("/cron: ", "/overlap: ", "/time_zone: ");
        assertThat(inProcessCli.run("schedules", "create", "s", "--mission", mission, "--cron", "@daily", "--end",
                "never").err()).contains("'never' is not a time");
    }

    @Test
    void theTableOfAWatchedRunHasNoEmptyColumns() throws Exception {
        inProcessCli.run("run", inProcessCli.mission(CliProcess.ASKS));
        assertThat(inProcessCli.run("watch", "latest").out()).containsPattern("(?m)^TASK +STATE +TOOK +REMARK$");
    }

    @Test
    void valueOfATextInputIsNotParsed() throws Exception {
        Path recipe = Files.writeString(folder.resolve("versioned.yaml"), """
                name: versioned
                inputs: {version: {type: string}}
                plan: {tasks: [{id: a, steps: [{tool: echo, input: {text: "${ .inputs.version }"}}]}]}
                """);
        inProcessCli.lines("recipes", "create", recipe.toString());
        String mission = inProcessCli.mission("recipe: versioned\n");
        assertThat(inProcessCli.run("validate", mission, "--input", "version=1.4").err()).isEmpty();
        Result run = inProcessCli.run("run", mission, "--input", "version=1.4", "--json");
        assertThat(run.json().at("/run/inputs/version").toString()).isEqualTo("\"1.4\"");
        String id = inProcessCli.run("recipes", "show", "versioned", "--json").json().get("id").stringValue();
        Result byId = inProcessCli.run("run", inProcessCli.mission("recipe: " + id + "\n"), "--input", "version=1.4",
                "--json");
        assertThat(byId.json().at("/run/inputs/version").toString()).as(byId.err()).isEqualTo("\"1.4\"");
    }

    @Test
    void valueOfATextInputOfTheTemplateOfAKindIsNotParsed() throws Exception {
        Path recipe = Files.writeString(folder.resolve("template.yaml"), """
                name: template
                kind: upgrade
                inputs: {version: {type: string}}
                plan: {tasks: [{id: a, steps: [{tool: noop}]}]}
                """);
        inProcessCli.lines("recipes", "create", recipe.toString());
        Result run = inProcessCli.run("run", inProcessCli.mission("goal: Upgrade it\nkind: upgrade\n"), "--input",
                "version=1.4", "--detach", "--json");
        assertThat(run.out()).as(run.err()).contains("\"version\" : \"1.4\"");
    }

    @Test
    void aProgramWithAnOpenExpressionIsOneProblem() throws Exception {
        Result wrong = inProcessCli.run("validate", inProcessCli.mission("""
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: json.transform, input: {input: 1, expression: "${ . "}}]
                      verify: [{kind: jq, expression: "${ . + }"}]
                """));
        assertThat(wrong.err()).contains("2 problems ", "/plan/tasks/0/steps/0/input/expression: ",
                "/plan/tasks/0/verify/0/expression: ").doesNotContain("UNEXPECTED_ERROR");
        assertThat(wrong.err().split("EXPRESSION_SYNTAX", -1)).hasSize(3);
    }

    @Test
    void aPlanIsCountedWithoutTheTasksOfItsPlanner() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                goal: two tasks
                config:
                  planner: {tool: echo, input: {tasks: [{id: a, steps: [{tool: echo}]}, {id: b, steps: [{tool: echo}]}]}}
                """));
        assertThat(run.code()).isEqualTo(ExitCode.WAITS_FOR_HUMAN);
        assertThat(run.out()).contains("its plan of 2 tasks is to be approved").doesNotContain("more task");
    }

    @Test
    void runWithFailedPartsOnlyIsExitCodeFiveThoughSkipped() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                config: {agent_failure_mode: continue}
                plan: {tasks: [{id: bad, steps: [{tool: fail, input: {code: NO_LUCK, class: permanent}}]}]}
                """), "--json");
        assertThat(run.code()).isEqualTo(5);
        assertThat(run.json().at("/run/state").asString()).isEqualTo("skipped");
    }

    @Test
    void taskWithIgnoredStepsOnlyShowsItsError() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                plan:
                  tasks:
                    - id: bad
                      failure_mode: continue
                      steps: [{tool: fail, input: {code: NO_LUCK, class: permanent, message: none today}}]
                    - {id: good, steps: [{tool: echo}]}
                """));
        assertThat(run.code()).isEqualTo(5);
        assertThat(run.out()).contains("bad skipped: NO_LUCK: none today");
        assertThat(inProcessCli.run("show", "latest").out()).contains("NO_LUCK: none today (failure ignored)");
    }

    @Test
    void impossibleTimeoutIsRefusedAndDoubtfulOneExplained() throws Exception {
        String never = """
                plan: {tasks: [{id: a, timeout_seconds: 60, steps: [{tool: noop,
                  retry: {base_delay_seconds: 60, max_delay_seconds: 60, jitter: 0}}]}]}
                """;
        Result refused = inProcessCli.run("validate", inProcessCli.mission(never));
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.out() + refused.err()).contains("NEVER_IN_TIME", "/plan/tasks/0/steps/0/retry",
                "begin 60 s after the first");
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                config: {timeouts: {run_max_duration_seconds: 7200}}
                plan:
                  tasks:
                    - {id: nap, steps: [{tool: wait, input: {seconds: 259200}}]}
                    - {id: late, steps: [{tool: fail, retry: {base_delay_seconds: 3000, max_delay_seconds: 3000}}]}
                """), "--timeout", "5", "--json");
        String id = run.json().at("/run/id").asString();
        assertThat(inProcessCli.run("explain", id).out()).contains("TIMER  ", "STEP_BACKOFF  ",
                "DEADLINE  the run runs out of its time of 7200 s before that");
        assertThat(inProcessCli.run("cancel", id).code()).isZero();
    }

    @Test
    void explanationOfALargeRunSaysHowManyTasksItLeavesOut() throws Exception {
        String tasks = IntStream.range(0, 103)
                .mapToObj(i -> "{id: t" + i + ", steps: [{kind: approval, input: {question: Go on?}}]}")
                .collect(Collectors.joining(", "));
        String id = inProcessCli.run("run", inProcessCli.mission("plan: {tasks: [" + tasks + "]}"), "--timeout", "0",
                "--json").json().at("/run/id").asString();
        assertThat(inProcessCli.run("explain", id).err())
                .contains("open tasks that are not listed: 3; `keelson explain " + id + " TASK`");
        assertThat(inProcessCli.run("explain", id, "--json").json().get("tasks_left_out").asInt()).isEqualTo(3);
        assertThat(inProcessCli.run("explain", id, "t102").err()).doesNotContain("not listed");
        assertThat(inProcessCli.run("cancel", id).code()).isZero();
    }

    @Test
    void aTimeoutKeepsTheRun() throws Exception {
        String mission =
                inProcessCli.mission("plan: {tasks: [{id: nap, steps: [{tool: wait, input: {seconds: 3600}}]}]}");
        Result run = inProcessCli.run("run", mission, "--timeout", "0", "--json");
        assertThat(run.code()).isEqualTo(124);
        assertThat(run.err()).contains("timeout reached", "the run continues");
        String id = run.json().at("/run/id").asString();
        assertThat(inProcessCli.run("logs", id).err()).contains("run " + id + " has no log lines");
        assertThat(inProcessCli.run("delete", id).err()).contains("INVALID_STATE_TRANSITION");
        assertThat(inProcessCli.run("cancel", id).out()).contains("is cancelled");
        assertThat(inProcessCli.run("delete", id).out()).contains("run " + id + " is deleted");
        assertThat(inProcessCli.run("show", id).err()).contains("RUN_NOT_FOUND");
    }

    @Test
    void stepWithoutAWorkerIsReportedOnceOnStderr() throws Exception {
        Api api = inProcessCli.client().api();
        api.post("/dispatch/claim", Json.object().put("worker_id", "w").put("max", 1).put("wait_ms", 0)
                .set("tools", Json.of(List.of("lonely"))));
        api.post("/workers/w/drain", null);
        String mission = inProcessCli.mission("""
                plan: {tasks: [{id: a, steps: [{name: s, tool: lonely}]}, {id: b, steps: [{name: s, tool: lonely}]}]}
                """);
        Result run = inProcessCli.run("run", mission, "--timeout", "12", "--json");
        assertThat(run.err()).containsOnlyOnce("no worker that serves 'lonely' has sent a request lately")
                .startsWith("step 'a/s': ");
        assertThat(inProcessCli.run("cancel", run.json().at("/run/id").asString()).code()).isZero();
    }

    @Test
    void goalWithoutAPlannerNamesWhatIsMissing() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("goal: Fly"), "--timeout", "12", "--json");
        assertThat(run.code()).as(run.err()).isEqualTo(124);
        assertThat(run.err()).containsOnlyOnce("waits for a worker that serves the planning tool 'plan'");
        assertThat(inProcessCli.run("explain", "latest").out()).contains("the planning tool 'plan'");
        assertThat(inProcessCli.run("cancel", run.json().at("/run/id").asString()).code()).isZero();
    }

    @Test
    void artifactsAreListedAndRemoved() throws Exception {
        inProcessCli.lines("run", inProcessCli.mission("""
                plan: {tasks: [{id: note, steps: [{tool: artifact.write, input: {name: n.txt, content: some}}]}]}
                """));
        Path copy = folder.resolve("copy.txt");
        assertThat(inProcessCli.run("artifacts", "latest", "--get", "n.txt", "--to", copy.toString()).err())
                .contains(copy + ", 4 ");
        assertThat(copy).hasContent("some");
        assertThat(inProcessCli.run("artifacts", "latest", "--remove", "n.txt").err()).contains("n.txt is removed");
        assertThat(inProcessCli.run("artifacts", "latest").out()).contains("n.txt", "no longer");
    }

    @Test
    void wrongUseIsExitCodeTwo() throws Exception {
        assertThat(inProcessCli.run("run").code()).isEqualTo(2);
        assertThat(inProcessCli.run("fly").err()).contains("[USAGE]");
        assertThat(inProcessCli.run("run", "m.yaml", "--input", "x").err())
                .startsWith("error: Value for option '--input'");
        assertThat(inProcessCli.run("signal", "latest").err()).startsWith("error: Missing required parameter");
        Result invalid =
                inProcessCli.run("validate",
                        inProcessCli.mission("plan:\n  tasks:\n    - id: a\n      steps: [{tool: nope}]\n"
                                + "      depends_on: [b]\n"));
        assertThat(invalid.code()).isEqualTo(2);
        assertThat(invalid.err()).contains("[INVALID_MISSION]").contains("(line 5)", "[UNKNOWN_TOOL]").contains(
                "(line 6)",
                "[DEPENDENCY_UNKNOWN]");
        Result json = inProcessCli.run("run", inProcessCli.mission("plan: {tasks: [{id: a, stepz: 1}]}"), "--json");
        assertThat(json.code()).isEqualTo(2);
        assertThat(json.json().at("/problems/0/pointer").asString()).isEqualTo("/plan/tasks/0/stepz");
        Result level = inProcessCli.run("run",
                inProcessCli
                        .mission("goal: Ship\nkind: release\nconfig: {autonomy: {level: high}}\ninput: {version: 1}"));
        assertThat(level.err()).contains("/config/autonomy/level", "(line 4)").doesNotContain("PLAN_REQUIRED");
        assertThat(inProcessCli.run("show", "01a1fc1a-2040-79ed-8302-73f10cc0903c").err()).contains("[RUN_NOT_FOUND]");
    }

    @Test
    void offlineCommandsStartNoServer() throws Exception {
        Path untouched = folder.resolve("untouched");
        for (List<String> arguments : List.of(List.of("--version"), List.of("--help"), List.of("tools", "echo"),
                List.of("lifecycles", "run", "--format", "mermaid"), List.of("run", "--help"))) {
            Result result = InProcessCli.run(Map.of("KEELSON_DATA_DIR", untouched.toString()),
                    arguments.toArray(String[]::new));
            assertThat(result.code()).as(arguments + result.err()).isZero();
            assertThat(result.out()).isNotBlank();
        }
        assertThat(untouched).doesNotExist();
    }

    @Test
    void aFolderForArtifactsThatCannotBeWrittenIsRefusedBeforeTheRun() throws Exception {
        String mission = inProcessCli.mission("plan: {tasks: [{id: a, steps: [{tool: noop}]}]}");
        Result refused = inProcessCli.run("run", mission, "--name", "never-made", "--out", mission + "/below");
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err()).contains("cannot write to the folder", "[OUT_NOT_WRITABLE]");
        assertThat(inProcessCli.run("runs").out()).doesNotContain("never-made");
    }

    @Test
    void filesThatAreNoMissionAreNamedInWords() {
        assertThat(inProcessCli.run("run", "").err()).contains("the name of the mission file is empty");
        assertThat(inProcessCli.run("run", inProcessCli.folder().toString()).err())
                .contains("is a folder, not a mission file");
    }

    @Test
    void missionIsValidatedWithoutItsRequiredInputs() throws Exception {
        String mission = inProcessCli.mission("""
                inputs: {who: {type: string}, n: {type: integer}}
                plan: {tasks: [{id: a, steps: [{tool: echo, input: {text: "${ .inputs.who }"}}]}]}
                """);
        assertThat(inProcessCli.lines("validate", mission).getFirst()).contains("valid, 1 task", "--input for who, n");
        assertThat(inProcessCli.lines("validate", mission, "--input", "who=a", "--input", "n=1").getFirst())
                .endsWith("1 task");
        assertThat(inProcessCli.run("validate", mission, "--input", "n=x").err()).contains("--input n: ");
        assertThat(inProcessCli.lines("validate", inProcessCli.mission("goal: Do it")).getFirst())
                .contains("a planner");
    }

    @Test
    void missionIsValidIfARunCanBeCreated() throws Exception {
        Map<String, String> alone = Map.of("KEELSON_DATA_DIR", folder.resolve("no-server").toString());
        String shipIt = inProcessCli.mission("goal: Ship it\nkind: shipping\ninput: {version: '1.4'}\n");
        assertThat(InProcessCli.run(alone, "validate", shipIt).out())
                .contains("its plan comes from a planner or the template of its type");
        assertThat(inProcessCli.run("validate", shipIt).err()).contains("/input/version", "(line 4)",
                "no recipe of the kind 'shipping'");
        inProcessCli.lines("recipes", "create", inProcessCli.mission("""
                kind: shipping
                inputs: {version: {type: string}}
                plan: {tasks: [{id: a, steps: [{tool: noop}]}, {id: b, steps: [{tool: noop}]}]}
                """));
        assertThat(inProcessCli.run("validate", shipIt, "--json").json().toString()).contains("\"tasks\":2",
                "\"server\"");
        String named = inProcessCli.mission("recipe: test\n");
        assertThat(InProcessCli.run(alone, "validate", named, "-i", "version=v1").out())
                .contains("its plan comes from a recipe");
        assertThat(inProcessCli.lines("validate", named).getFirst()).contains("a run needs --input for version");
        assertThat(inProcessCli.lines("validate", named, "--input", "version=v1").getFirst())
                .endsWith("valid, 2 tasks");
        assertThat(inProcessCli.run("run", named, "--input", "version=v1").code()).isZero();
        String tool = inProcessCli.mission("plan: {tasks: [{id: a, steps: [{tool: far.away}]}]}");
        assertThat(inProcessCli.run("validate", tool).err()).contains("UNKNOWN_TOOL");
        assertThat(inProcessCli.run("validate", tool, "--tool", "far.away").code()).isZero();
    }

    @Test
    void validateWarnsOfAPromptThatIsRejectedAndSentAgain() throws Exception {
        Map<String, String> alone = Map.of("KEELSON_DATA_DIR", folder.resolve("no-server").toString());
        String mission = """
                plan: {tasks: [{id: a, steps: [{tool: model.generate, input: {model: m, prompt: "%s"}}],
                  verify: [{kind: model, model: judge, criteria: [{criterion: It is good}]}]}]}""";
        String blind = inProcessCli.mission(mission.formatted("Write"));
        Result warned = InProcessCli.run(alone, "validate", blind);

        assertThat(warned.err()).contains("task 'a'", "${ .task.failure.message }");
        assertThat(InProcessCli.run(alone, "validate", blind, "--json").json().path("warnings")).hasSize(1);
        assertThat(InProcessCli.run(alone, "validate",
                inProcessCli.mission(mission.formatted("Write ${ .task.failure.message }"))).err())
                .doesNotContain("warning");
    }

    @Test
    void problemsAsJsonEqualTheHttpResponse() throws Exception {
        String yaml = "plan: {tasks: [{id: a, stepz: 1}, {id: b, steps: [{tool: none}]}]}\nnam: x\n";
        String mission = inProcessCli.mission(yaml);
        JsonNode http = null;
        try {
            inProcessCli.client().api().post("/runs", MissionFile.read(mission).document());
        } catch (KeelsonException e) {
            http = e.document().get("problems");
        }
        assertThat(http).hasSizeGreaterThan(2);
        assertThat(inProcessCli.run("validate", mission, "--json").json().get("problems")).isEqualTo(http);
        assertThat(inProcessCli.run("run", mission, "--json").json().get("problems")).isEqualTo(http);
        Map<String, String> alone = Map.of("KEELSON_DATA_DIR", folder.resolve("no-server").toString());
        assertThat(InProcessCli.run(alone, "validate", mission, "--json").json().get("problems")).isEqualTo(http);
        assertThat(InProcessCli.run(alone, "run", mission, "--json").json().get("problems")).isEqualTo(http);
    }

    @Test
    void itemsOfAFanOutHaveNames() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                inputs: {shop: {type: string, default: north}}
                plan:
                  tasks:
                    - id: order
                      title: Order all
                      for_each: '${ [{name: "nails"}, {name: "screws"}] }'
                      label: "Order ${ .item.name } (${ .index }) at ${ .inputs.shop }"
                      steps: [{tool: noop}]
                """), "--json");
        assertThat(run.code()).as(run.err() + run.out()).isZero();
        assertThat(run.json().path("tasks").valueStream().map(task -> task.path("title").asString()).toList())
                .containsExactlyInAnyOrder("Order all", "Order nails (0) at north", "Order screws (1) at north");
        assertThat(inProcessCli.run("show", "latest").out()).contains("Order screws (1) at north");
        Result asks = inProcessCli.run("run", inProcessCli.mission("""
                plan:
                  tasks:
                    - id: order
                      for_each: '${ ["nails"] }'
                      label: "Order ${ .item }"
                      steps: [{name: ok, kind: approval, input: {question: Go on?}}]
                """));
        assertThat(asks.out()).contains("order[0] (Order nails) running");
        assertThat(inProcessCli.run("explain", "latest").out()).contains("step 'order[0]/ok' (Order nails): a person");
        assertThat(inProcessCli.run("inbox", "--run", "latest", "--details").out())
                .contains("task order[0] (Order nails)");
        assertThat(inProcessCli.run("approve", "latest", "--watch").code()).isZero();

        assertThat(inProcessCli.run("validate", inProcessCli.mission("""
                plan: {tasks: [{id: a, label: "x", steps: [{tool: noop}]}]}
                """)).err()).contains("LABEL_WITHOUT_FOR_EACH");
        assertThat(inProcessCli.run("validate", inProcessCli.mission("""
                plan: {tasks: [{id: a, for_each: "${ [1] }", label: "${ .inputs.x }", steps: [{tool: noop}]}]}
                """)).err()).contains("UNKNOWN_REFERENCE", "/plan/tasks/0/label");
    }

    @Test
    void aFirstMissionIsWrittenAndRuns() throws Exception {
        String file = inProcessCli.folder().resolve("first.yaml").toString();
        assertThat(inProcessCli.run("init", file).err()).contains("run " + file);
        assertThat(inProcessCli.run("run", file).out()).contains("Hello Ada!", "letter.txt");
        assertThat(inProcessCli.run("init", file).err()).contains("[FILE_EXISTS]");
    }

    @Test
    void helpAndCompletionAreCommands() {
        assertThat(inProcessCli.run("help", "validate").out()).contains("Checks a mission file");
        assertThat(inProcessCli.run("completion").out()).contains("complete -F", "--external-id-policy");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            shwo latest        | did you mean `%s show`?
            recipe show x      | did you mean `%s recipes`?
            workspace creat x  | did you mean `%s workspaces create`?
            inbox asign x      | did you mean `%s inbox assign`?
            runs list          | `%s runs` lists them without 'list'
            runs --sate failed | did you mean --state?
            tools files.lst    | unknown tool files.lst; did you mean 'files.list'?
            """)
    void similarNameIsSuggested(String words, String hint) {
        Result result = inProcessCli.run(words.split(" "));
        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains(hint.replace("%s", ProgramName.current()));
    }

    @Test
    void filesThatCannotBeReadOrWrittenAreNamedInPlainWords() throws Exception {
        Path latin = folder.resolve("latin.yaml");
        Files.write(latin, "name: x\ngoal: caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(inProcessCli.run("validate", latin.toString()).err()).contains("invalid UTF-8: line 2");
        Path file = Files.writeString(folder.resolve("plain.txt"), "x");
        Result out = inProcessCli.run("show", "latest", "--out", file.resolve("below").toString());
        assertThat(out.err()).contains("[OUT_NOT_WRITABLE]").doesNotContain("Exception", "bug");
        for (String config : List.of(folder.resolve("none.conf").toString(), latin.toString())) {
            assertThat(InProcessCli.run(Map.of("KEELSON_CONFIG", config), "runs").err())
                    .contains("[CONFIG_FILE_UNREADABLE]").doesNotContain("Exception", "Input length");
        }
    }

    @Test
    void aFolderThatIsNotAllowedIsNotTriedAgain() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                plan: {tasks: [{id: a, steps: [{tool: files.read, input: {path: /nowhere/x}}]}]}
                """));
        assertThat(run.out()).contains("PATH_NOT_ALLOWED", "add the folder to KEELSON_ALLOWED_FOLDERS")
                .doesNotContain("try again with");
    }

    @Test
    void completionHasHelp() {
        assertThat(inProcessCli.run("completion", "--help").out()).contains("source <(");
    }

    @Test
    void aMisspeltSettingIsNamed() {
        Result result =
                InProcessCli.run(Map.of("KEELSON_DATA_DIR", inProcessCli.folder().toString(), "KEELSON_HTTP_PROT", "1"),
                        "runs");
        assertThat(result.err()).contains("KEELSON_HTTP_PROT is no setting", "did you mean 'KEELSON_HTTP_PORT'?");
        assertThat(result.code()).isZero();
    }

    @Test
    void aSettingThatResemblesNoneByItsWordsHasNoHint() {
        Result result = InProcessCli.run(Map.of("KEELSON_DATA_DIR", inProcessCli.folder().toString(),
                "KEELSON_ALLOWED_COMMANDS", "git", "KEELSON_SECRET_KEYS_OLD", "x"), "runs");
        assertThat(result.err())
                .contains("KEELSON_ALLOWED_COMMANDS is no setting", "KEELSON_SECRET_KEYS_OLD is no setting",
                        "docs/reference/configuration.md lists the settings")
                .doesNotContain("did you mean");
    }

    @Test
    void anIdMayBeCutWhereItIsUnique() throws Exception {
        String mission = inProcessCli.mission("plan: {tasks: [{id: a, steps: [{tool: noop}]}]}");
        String id = inProcessCli.run("run", mission, "--json").json().at("/run/id").asString();
        inProcessCli.run("run", mission);

        assertThat(inProcessCli.run("show", id.substring(0, 30)).out()).contains(id);
        CliProcess.Result ambiguous = inProcessCli.run("show", id.substring(0, 4));
        assertThat(ambiguous.err()).contains("[RUN_AMBIGUOUS]", "give more");
        assertThat(ambiguous.code()).isEqualTo(1);
        assertThat(inProcessCli.run("show", "ffffffff").code()).isNotZero();
    }
}
