package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.Cmd.Result;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program as a user has it, each command a process, all of them on one data folder with its embedded database. No
 * server runs unless a test starts one.
 */
class CommandLineTest {

    private static final Map<String, String> NOTHING = Map.of();

    @TempDir
    static Path folder;

    @AfterEach
    void nothingIsLeftRunning() {
        String mark = data().toString();
        Awaitility.await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> assertThat(ProcessHandle.allProcesses()
                .map(process -> process.info().commandLine().orElse("")).filter(line -> line.contains(mark)))
                .isEmpty());
    }

    @Test
    void aRunInAPipeTellsWhatHappensAndLeavesItsArtifacts() throws Exception {
        Path out = folder.resolve("out");
        Files.createDirectories(folder.resolve("some"));
        Files.writeString(folder.resolve("some/a.txt"), "one\ntwo\n");
        Result run = keelson("run", mission("""
                inputs: {path: {type: string, format: path}}
                plan:
                  tasks:
                    - id: list
                      steps:
                        - {tool: files.list, input: {path: "${ .inputs.path }", lines: true, entries: false}}
                    - id: note
                      depends_on: [list]
                      steps:
                        - {tool: artifact.write, input: {name: n.txt, content: "${ .tasks.list.output.summary.lines | tostring }"}}
                """), "--input", "path=" + folder.resolve("some"), "--out", out.toString());
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains(" list running\n", " note completed (", " run completed\n", "n.txt")
                .doesNotContain("\u001b").matches("(?s)\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ run .*");
        assertThat(out.resolve("n.txt")).hasContent("2");
        assertThat(keelson("artifacts", "latest", "--get", "n.txt", "--to", "-").out()).isEqualTo("2");
        assertThat(keelson("artifacts", "latest", "--remove", "n.txt").err()).contains("n.txt is removed");
        assertThat(keelson("artifacts", "latest").out()).contains("n.txt", "no longer");
    }

    @Test
    void theFirstRunMakesADataFolderThatNobodyElseReads() throws Exception {
        Path fresh = folder.resolve("deep/fresh");
        Result run = Cmd.start(fresh, NOTHING, "run", mission("plan: {tasks: []}")).end();
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fresh))).isEqualTo("rwx------");
    }

    @Test
    void ctrlCWhileTheRunIsBeingMadeSaysWhereToLook() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Cmd run = Cmd.start(data(), Map.of("KEELSON_URL", "http://127.0.0.1:" + silent.getLocalPort()), "run",
                    mission("plan: {tasks: []}"));
            try (Socket request = silent.accept()) {
                assertThat(request.getInputStream().read()).isEqualTo('P');
                run.interrupt();
                Result interrupted = run.end();
                assertThat(interrupted.code()).isEqualTo(130);
                assertThat(interrupted.err()).contains("interrupted", "keelson runs").doesNotContain("Exception");
            }
        }
    }

    @Test
    void aFailureIsExitCodeOneAndNamed() throws Exception {
        String mission = mission("""
                plan:
                  tasks:
                    - id: bad
                      steps: [{tool: fail, input: {code: NO_LUCK, class: permanent, message: none today}}]
                """);
        Result plain = keelson("run", mission);
        assertThat(plain.code()).isEqualTo(1);
        assertThat(plain.out()).contains("bad failed: NO_LUCK: none today");
        Result json = keelson("run", mission, "--json");
        assertThat(json.code()).isEqualTo(1);
        assertThat(json.json().at("/run/error_code").asString()).isEqualTo("NO_LUCK");
        assertThat(json.err()).isEmpty();
    }

    @Test
    void anApprovalWaitsWithoutAnyProcessAndGoesOnLater() throws Exception {
        String mission = mission("""
                plan:
                  tasks:
                    - id: gate
                      steps: [{name: sign-off, kind: approval, input: {question: "Publish it?"}}, {tool: noop}]
                """);
        Result run = keelson("run", mission, "--json");
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        String id = run.json().at("/run/id").asString();
        assertThat(run.json().at("/waiting/0/input/question").asString()).isEqualTo("Publish it?");
        assertThat(keelson("states", id, "--json").json().at("/contracts/steps/run").asString())
                .isEqualTo("WAITING_APPROVAL");
        assertThat(keelson("states", "latest").out().lines().map(line -> line.replaceAll(" +", " "))).contains(
                "IN WORDS OF RUN TASKS STEPS", "canonical running 1 running 1 pending, 1 waiting_approval",
                "handoff RUNNING", "gate4 awaiting_user_confirmation 1 executing");
        Result plain = keelson("watch", id);
        assertThat(plain.code()).isEqualTo(4);
        assertThat(plain.out()).contains("Publish it?", "keelson approve " + id + " --watch");
        Result wrong = keelson("approve", id, "--step", "other");
        assertThat(wrong.code()).isEqualTo(1);
        assertThat(wrong.err()).contains("[STEP_NOT_FOUND]").contains("sign-off");
        Result approved = keelson("approve", id, "--step", "sign-off", "--watch", "--json");
        assertThat(approved.code()).as(approved.err()).isZero();
        assertThat(approved.json().at("/run/state").asString()).isEqualTo("completed");
    }

    @Test
    void whoeverIsToJudgeSeesWhat() throws Exception {
        String mission = mission("""
                config: {acceptance: human}
                plan:
                  tasks:
                    - {id: report, steps: [{tool: echo, input: {text: all is well}}], verify: [{kind: human}]}
                """);
        Result review = keelson("run", mission);
        assertThat(review.code()).as(review.err()).isEqualTo(4);
        assertThat(review.out()).contains("the output of report is to be approved", "all is well");
        assertThat(keelson("runs").out()).contains("running, waits for a human");
        assertThat(keelson("show", "latest").out()).contains("all is well");
        Result accept = keelson("task", "approve", "latest/report", "--watch");
        assertThat(accept.code()).as(accept.err()).isEqualTo(4);
        assertThat(accept.out()).contains("its result is to be accepted", "all is well");
        assertThat(keelson("approve", "latest", "--watch").code()).isZero();
        assertThat(keelson("runs").out()).doesNotContain("waits for a human");
    }

    @Test
    void ctrlCKeepsTheRunWhichWatchCarriesOn() throws Exception {
        String mission = mission("plan: {tasks: [{id: nap, steps: [{tool: wait, input: {seconds: 6}}]}]}");
        Cmd run = Cmd.start(data(), NOTHING, "run", mission, "--name", "interrupted");
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(50))
                .until(() -> run.said().toString().contains("nap running"));
        run.interrupt();
        Result interrupted = run.end();
        assertThat(interrupted.code()).as(interrupted.out()).isEqualTo(130);
        assertThat(interrupted.err()).contains("the run is kept").contains("keelson watch ")
                .doesNotContain("Exception");
        String id = interrupted.err().replaceAll("(?s).*watch ([0-9a-f-]{36}).*", "$1");
        assertThat(keelson("watch", id).code()).isZero();
    }

    @Test
    void aTimeoutKeepsTheRun() throws Exception {
        String mission = mission("plan: {tasks: [{id: nap, steps: [{tool: wait, input: {seconds: 3600}}]}]}");
        Result run = keelson("run", mission, "--timeout", "0", "--json");
        assertThat(run.code()).isEqualTo(124);
        assertThat(run.err()).contains("the run is kept");
        assertThat(keelson("cancel", run.json().at("/run/id").asString()).out()).contains("is cancelled");
    }

    @Test
    void aTicketIsListedAndAnswered() throws Exception {
        Result run = keelson("run", mission("""
                config: {escalation: {on_exhausted: true}}
                plan:
                  tasks:
                    - id: bad
                      steps: [{name: try, tool: fail, input: {message: no luck}, retry: {max_attempts: 1}}]
                    - {id: next, depends_on: [bad], trigger_rule: all_done, steps: [{tool: noop}]}
                """), "--json");
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        String ticket = run.json().at("/waiting/0/id").asString();
        String id = run.json().at("/run/id").asString();
        Result shown = keelson("show", id);
        assertThat(shown.out()).contains("escalated", "ticket " + ticket, "no luck",
                "keelson resolve " + ticket + " resume|skip|fail|cancel");
        Result listed = keelson("escalations");
        assertThat(listed.out()).contains(ticket, "error", "attempt_budget_exhausted", "no luck");
        assertThat(listed.err()).contains("keelson resolve TICKET");
        assertThat(keelson("resolve", ticket, "forget").code()).isEqualTo(2);
        Result resolved = keelson("resolve", "latest", "skip", "--comment", "known", "--watch", "--json");
        assertThat(resolved.code()).as(resolved.err()).isZero();
        assertThat(resolved.json().at("/tasks/1/state").asString()).isEqualTo("completed");
        assertThat(keelson("escalations", "--run", id).out()).contains("no tickets");
        assertThat(keelson("escalations", "--all", "--json").json().at("/items/0/comment").asString())
                .isEqualTo("known");
        Result fork = keelson("fork", id, "--from", "next", "--name", "again", "--watch", "--json");
        assertThat(fork.code()).isEqualTo(4);
        assertThat(fork.json().at("/run/forked_from").asString()).isEqualTo(id);
        assertThat(keelson("fail", "latest", "--reason", "enough").out()).contains("is failed");
    }

    @Test
    void theInboxIsWorkedOff() throws Exception {
        String asks = mission("""
                plan:
                  tasks:
                    - id: ask
                      steps: [{name: sign-off, kind: approval, input: {question: Publish it?}}]
                """);
        String first = keelson("run", asks, "--json").json().at("/run/id").asString();
        String item = keelson("inbox", "--run", first, "--json").json().at("/items/0/id").asString();
        assertThat(item).startsWith("step_");
        assertThat(keelson("inbox", "assign", item, "@me", "--due", "2h").out()).contains(item);
        Result listed = keelson("inbox", "--mine", "--kind", "approval_step");
        assertThat(listed.out()).contains(item, "Publish it?", "in 1h");
        assertThat(listed.err()).contains("keelson inbox --review");
        List<String> reviewed = new ArrayList<>(List.of("sh", "-c", "printf 's\\n' | \"$@\"", "sh"));
        reviewed.addAll(Cmd.command("inbox", "--run", first, "--review"));
        assertThat(Cmd.start(data(), NOTHING, reviewed).end().out()).contains("Publish it?", "accept: ", "skipped");
        Result approved = keelson("approve", item, "--comment", "yes", "--watch");
        assertThat(approved.code()).as(approved.err()).isZero();
        assertThat(keelson("inbox", "--run", first).out()).contains("nothing waits for you");
    }

    @Test
    void anOutputIsJudged() throws Exception {
        Result run = keelson("run", mission("""
                plan:
                  tasks:
                    - id: draft
                      retry: {base_delay_seconds: 0}
                      verify: [{kind: human}]
                      steps: [{tool: noop, input: {output: a text}}]
                """));
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        assertThat(run.out()).contains("draft waits for a human", "the output of draft is to be approved",
                "keelson task approve|reject ");
        Result other = keelson("task", "approve", "latest/drift");
        assertThat(other.err()).contains("[TASK_NOT_FOUND]", "it has draft");
        assertThat(keelson("task", "approve", "latest/draft", "--attempt", "7").err()).contains("[GATE_CHANGED]");
        Result again = keelson("task", "reject", "latest/draft", "--again", "--comment", "longer", "--watch");
        assertThat(again.code()).as(again.err()).isEqualTo(4);
        assertThat(keelson("show", "latest").out()).containsPattern("draft +awaiting_human +2 ");
        Result approved = keelson("task", "approve", "latest/draft", "--watch");
        assertThat(approved.code()).as(approved.err()).isZero();
        assertThat(approved.err()).contains("draft is completed");
    }

    @Test
    void aRunWhoseBudgetIsUsedUpSaysHowToRaiseIt() throws Exception {
        Result run = keelson("run", mission("""
                config: {budget: {hard_limit_usd: 0.5}}
                plan:
                  tasks:
                    - id: dear
                      steps: [{tool: noop, input: {cost: 0.5}}, {tool: noop, input: {cost: 0.1}}]
                """));
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        assertThat(run.out()).contains("its budget", "keelson budget ", "--hard-limit USD --watch",
                "keelson credits grant").doesNotContain("keelson resume");
        Result raised = keelson("budget", "latest", "--hard-limit", "1", "--watch");
        assertThat(raised.code()).as(raised.err()).isZero();
        Result example = keelson("run", Path.of("../examples/budget.yaml").toRealPath().toString(), "--input",
                "drafts=50", "--external-id", "b-1");
        assertThat(example.code()).as(example.err()).isEqualTo(4);
        assertThat(keelson("show", "latest").out()).contains(", external id b-1");
        assertThat(keelson("budget", "latest", "--hard-limit", "5", "--watch").code()).isZero();
    }

    @Test
    void aServerIsFoundByTheOtherCommands() throws Exception {
        Cmd server = Cmd.start(data(), Map.of("KEELSON_HTTP_PORT", "0"), "server");
        try {
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> url() != null);
            String mission = mission("plan: {tasks: [{id: nap, steps: [{tool: wait, input: {seconds: 3600}}]}]}");
            Result started = keelson("run", mission, "--detach");
            assertThat(started.code()).as(started.err()).isZero();
            String id = started.out().strip();
            assertThat(keelson("pause", id).out()).contains("is paused");
            Result paused = keelson("watch", id);
            assertThat(paused.code()).isEqualTo(4);
            assertThat(paused.out()).contains("keelson resume " + id);
            assertThat(keelson("resume", id).out()).contains("is running");
            assertThat(keelson("cancel", id, "--reason", "enough").out()).contains("is cancelled");
            assertThat(keelson("watch", id).code()).isEqualTo(3);
            assertThat(keelson("show", id, "--json").json().at("/steps/0/state").asString()).isEqualTo("cancelled");
            assertThat(keelson("runs", "--state", "cancelled", "--json").json().at("/items/0/id").asString())
                    .isEqualTo(id);
            Result refused = keelson("pause", id);
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.err()).contains("[INVALID_STATE_TRANSITION]").doesNotContain("\tat ");
            assertThat(keelson("tools", "--server", "--json").json().get("items")).isNotEmpty();
            Result second = Cmd.start(data(), Map.of("KEELSON_HTTP_PORT", "0"), "server").end();
            assertThat(second.code()).isEqualTo(1);
            assertThat(second.err()).contains("[DATA_DIR_IN_USE]").hasLineCount(1);
        } finally {
            server.process().destroy();
        }
        Result ended = server.end();
        assertThat(ended.code()).isEqualTo(143);
        assertThat(ended.err()).contains("Keelson listens at http://127.0.0.1:", data().resolve("api-key").toString());
        assertThat(keelson("run", mission("plan: {tasks: []}"), "--detach").err()).contains("[NO_SERVER]");
        assertThat(keelson("run", "absent.yaml").err()).contains("[FILE_NOT_FOUND]");
    }

    @Test
    void whatStandsInAServersWayIsOneLine() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertOneLine(
                    Cmd.start(data(), Map.of("KEELSON_HTTP_PORT", port, "KEELSON_LOG_LEVEL", "error"), "server").end(),
                    1, "PORT_IN_USE");
        }
        assertOneLine(
                Cmd.start(data(), Map.of("KEELSON_DATABASE_URL", "postgresql://u:p@127.0.0.1:1/d"), "server").end(),
                1, "DATABASE_UNREACHABLE");
        Path file = Files.writeString(folder.resolve("file"), "");
        assertOneLine(Cmd.start(file.resolve("data"), NOTHING, "server").end(), 1, "DATA_DIR_NOT_WRITABLE");
        Result settings = Cmd.start(data(), Map.of("KEELSON_HTTP_PORT", "many", "KEELSON_LOG_LEVEL", "loud"), "server")
                .end();
        assertThat(settings.code()).isEqualTo(2);
        assertThat(settings.err()).contains("[SETTING_INVALID]").contains("KEELSON_HTTP_PORT=many",
                "KEELSON_LOG_LEVEL=loud");
    }

    @Test
    void wrongUseIsExitCodeTwo() throws Exception {
        assertThat(keelson("run").code()).isEqualTo(2);
        assertThat(keelson("fly").err()).contains("[USAGE]");
        assertThat(keelson("budget", "latest").err()).startsWith("error: Missing required argument");
        Result invalid = keelson("validate", mission("plan:\n  tasks:\n    - id: a\n      steps: [{tool: nope}]\n"
                + "      depends_on: [b]\n"));
        assertThat(invalid.code()).isEqualTo(2);
        assertThat(invalid.err()).contains("[INVALID_MISSION]").contains("(line 5)", "[UNKNOWN_TOOL]").contains(
                "(line 6)",
                "[DEPENDENCY_UNKNOWN]");
        Result json = keelson("run", mission("plan: {tasks: [{id: a, stepz: 1}]}"), "--json");
        assertThat(json.code()).isEqualTo(2);
        assertThat(json.json().at("/problems/0/pointer").asString()).isEqualTo("/plan/tasks/0/stepz");
        assertThat(keelson("show", "01a1fc1a-2040-79ed-8302-73f10cc0903c").err()).contains("[RUN_NOT_FOUND]");
    }

    @Test
    void whatNeedsNoServerStartsNone() throws Exception {
        Path untouched = folder.resolve("untouched");
        for (List<String> arguments : List.of(List.of("--version"), List.of("--help"), List.of("tools", "echo"),
                List.of("lifecycles", "run", "--format", "mermaid"), List.of("run", "--help"))) {
            Result result = Cmd.start(untouched, NOTHING, Cmd.command(arguments.toArray(String[]::new))).end();
            assertThat(result.code()).as(arguments + result.err()).isZero();
            assertThat(result.out()).isNotBlank();
        }
        assertThat(untouched).doesNotExist();
    }

    @Test
    void doctorLooksAtEverything() throws Exception {
        Result well = Cmd.start(data(), Map.of("KEELSON_HTTP_PORT", "0", "KEELSON_HTTP_PROT", "1"), "doctor", "--json")
                .end();
        assertThat(well.code()).as(well.out()).isZero();
        assertThat(well.json().get("checks").findValuesAsString("check")).contains("Java", "data folder", "disk space",
                "git", "port", "embedded PostgreSQL", "database", "clocks", "settings");
        Result ill = Cmd.start(data(), Map.of("KEELSON_DATABASE_URL", "postgresql://u@127.0.0.1:1/d"), "doctor").end();
        assertThat(ill.code()).isEqualTo(1);
        assertThat(ill.out()).contains("fail  database", "DATABASE_UNREACHABLE");
    }

    @Test
    void inATerminalTheTreeIsDrawn() throws Exception {
        String mission =
                mission("plan: {tasks: [{id: nap, title: A nap, steps: [{tool: wait, input: {seconds: 1}}]}]}");
        String line = String.join(" ", Arrays.stream(Cmd.command("run", mission).toArray(String[]::new))
                .map(word -> "'" + word + "'").toList());
        Result run = Cmd.start(data(), Map.of("TERM", "xterm-256color", "LANG", "C.UTF-8"),
                List.of("script", "-qefc", "stty cols 60 rows 20; " + line, "/dev/null")).end();
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out()).contains("✓", "A nap", "━━━", "1/1 tasks", "\u001b[?25l", "\u001b[?25h");
    }

    private static void assertOneLine(Result result, int code, String name) {
        assertThat(result.code()).as(result.err()).isEqualTo(code);
        assertThat(result.err()).contains("[" + name + "]").hasLineCount(1);
    }

    private static Path data() {
        return folder.resolve("data");
    }

    private static String url() throws IOException {
        Path file = data().resolve("url");
        return Files.exists(file) ? Files.readString(file) : null;
    }

    private static Result keelson(String... arguments) throws Exception {
        return Cmd.start(data(), NOTHING, arguments).end();
    }

    private static String mission(String text) throws IOException {
        return Files.writeString(Files.createTempFile(folder, "mission", ".yaml"), "name: test\n" + text).toString();
    }
}
