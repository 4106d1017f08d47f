package io.keelson.cli.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.StepAttempt;
import io.keelson.cli.CliProcess;
import io.keelson.cli.InProcessCli;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkerCommandTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final List<String> TOOLS = List.of("p.json", "p.text", "p.empty", "p.number", "p.fail", "p.usage",
            "p.busy", "p.signal", "p.env", "p.models", "p.files", "p.much", "p.wait", "p.resume");

    /** One program for all tools. */
    private static final String PROGRAM = """
            case "$KEELSON_TOOL" in
            p.json) input=$(cat); printf '{"stdin": %s, "file": %s}' "$input" "$(cat "$KEELSON_INPUT_FILE")" ;;
            p.text) echo 'Hello, Ada'; echo 'thinking' >&2 ;;
            p.empty) ;;
            p.number) echo 42 ;;
            p.fail) echo first >&2; echo 'no such city' >&2; exit 3 ;;
            p.usage) echo 'API Error: 400'; exit 65 ;;
            p.busy) exit 75 ;;
            p.signal) kill -9 $$ ;;
            p.env) env ;;
            p.models) echo "token $OPENAI_API_KEY" >&2
                curl -s -H "Authorization: Bearer $OPENAI_API_KEY" "$OPENAI_BASE_URL/models" ;;
            p.files) mkdir "$KEELSON_OUT/a"; echo one >"$KEELSON_OUT/a/one.txt"; ln -s /etc/passwd "$KEELSON_OUT/link" ;;
            p.much) while :; do echo 0123456789012345678901234567890123456789; done ;;
            p.wait) echo "$$" >"$MARK/pid"; trap '' TERM; while :; do echo tick >&2; sleep 0.2; done ;;
            p.resume) if [ -f "$MARK/again" ]; then echo "from the start"; else touch "$MARK/again"; echo x >kept; kill -9 $$; fi ;;
            esac
            """;

    @TempDir
    private static Path folder;

    private static InProcessCli cli;
    private static Keelson keelson;
    private static Thread worker;

    @BeforeAll
    static void start() throws Exception {
        cli = new InProcessCli(folder);
        keelson = cli.client();
        Files.writeString(folder.resolve("program.sh"), PROGRAM);
        TOOLS.forEach(tool -> cli.lines("tools", "register", tool));
        List<String> arguments = new ArrayList<>(List.of("worker", "--slots", "4", "--grace", "0", "--drain", "0"));
        TOOLS.stream().filter(tool -> !tool.equals("p.resume"))
                .forEach(tool -> arguments.addAll(List.of("--tool", tool)));
        arguments.addAll(List.of("--env", "MARK=" + folder, "--", "sh", folder.resolve("program.sh").toString()));
        worker = serve(arguments);
    }

    private static Thread serve(List<String> arguments) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.putAll(Map.of("KEELSON_DATA_DIR", folder.toString(), "OPENAI_API_KEY", "sk-provider"));
        return Thread.ofPlatform().daemon()
                .start(() -> InProcessCli.run(environment, arguments.toArray(String[]::new)));
    }

    @AfterAll
    static void stop() throws Exception {
        worker.interrupt();
        worker.join();
        cli.close();
    }

    private static Run run(String tool) {
        return keelson.runs().execute(mission(tool), PATIENCE);
    }

    private static Mission mission(String tool) {
        return Mission.named("one").task("t", t -> t.step("s", tool, Map.of("city", "Oslo"), s -> s.maxAttempts(1)))
                .output(Mission.expr(".tasks.t.output")).start();
    }

    private static Step step(Run run) {
        return keelson.runs().steps(run.id()).getFirst();
    }

    private static StepAttempt attempt(Run run) {
        return keelson.steps().attempts(step(run).id()).getLast();
    }

    @Test
    void inputIsOnStandardInputAndInAFile() {
        assertThat(run("p.json").output().toString())
                .isEqualTo("{\"file\":{\"city\":\"Oslo\"},\"stdin\":{\"city\":\"Oslo\"}}");
    }

    @ParameterizedTest(name = "{0} gives {1}")
    @CsvSource({"p.text, '\"Hello, Ada\"'", "p.empty, null", "p.number, 42"})
    void standardOutputIsTheOutput(String tool, String output) {
        assertThat(run(tool).output().toString()).isEqualTo(output);
    }

    @Test
    void standardErrorIsTheLog() {
        assertThat(keelson.steps().logs(step(run("p.text")).id(), 0)).extracting(line -> line.message())
                .containsExactly("thinking");
    }

    @ParameterizedTest(name = "{0} fails with {1}, {2}")
    @CsvSource(delimiter = '|', value = {
            "p.fail   | PROGRAM_FAILED           | quality        | sh ended with exit code 3: first",
            "p.usage  | PROGRAM_FAILED           | permanent      | sh ended with exit code 65: standard output: API Error: 400",
            "p.busy   | PROGRAM_FAILED           | infrastructure | sh ended with exit code 75",
            "p.signal | PROGRAM_FAILED           | infrastructure | sh was ended by signal 9",
            "p.much   | PROGRAM_OUTPUT_TOO_LARGE | permanent      | the program wrote more than 1048576 bytes"})
    void endOfTheProgramSaysHowTheStepFailed(String tool, String code, String errorClass, String message) {
        StepAttempt attempt = attempt(run(tool));

        assertThat(attempt.errorCode()).isEqualTo(code);
        assertThat(attempt.errorClass()).isEqualTo(errorClass);
        assertThat(attempt.errorMessage()).startsWith(message);
    }

    @Test
    void lastLinesOfStandardErrorAreInTheFailure() {
        assertThat(attempt(run("p.fail")).errorMessage()).endsWith("first\nno such city");
    }

    @Test
    void messageOfAFailureIsShownOnceAndOnOneLineElsewhere() {
        Run run = run("p.fail");

        List<String> shown = cli.lines("show", run.id());

        assertThat(shown).filteredOn(line -> line.contains("no such city")).containsExactly(shown.stream()
                .filter(line -> line.endsWith("sh ended with exit code 3: first … no such city")).findFirst()
                .orElseThrow(), "  no such city");
        assertThat(shown).contains("t failed: PROGRAM_FAILED: sh ended with exit code 3: first")
                .noneMatch(line -> line.contains("task 't' failed"));
        assertThat(cli.lines("logs", run.id())).containsExactly("t/s | first", "t/s | no such city",
                "t/s | PROGRAM_FAILED: sh ended with exit code 3: first");
    }

    @Test
    void programHasTheVariablesOfItsStepAndNoKeys() {
        Run run = run("p.env");
        Step step = step(run);

        List<String> variables = run.output().stringValue().lines().toList();

        assertThat(variables).contains("TZ=UTC", "KEELSON_TOOL=p.env", "KEELSON_RUN_ID=" + run.id(),
                "KEELSON_STEP_ID=" + step.id(), "KEELSON_ATTEMPT=1", "MARK=" + folder);
        assertThat(variables).doesNotContain("OPENAI_API_KEY=sk-provider")
                .noneMatch(line -> line.startsWith("KEELSON_API_KEY=") || line.startsWith("KEELSON_DATA_DIR="));
        assertThat(variables).anyMatch(line -> line.startsWith("KEELSON_EFFECT_KEY="))
                .anyMatch(line -> line.startsWith("KEELSON_STARTED_AT="));
    }

    @Test
    void programFindsTheModelsAndItsTokenIsShownNowhere() {
        assertThat(run("p.env").output().stringValue().lines()).contains(
                "OPENAI_BASE_URL=" + keelson.url() + "/gateway/openai/v1", "OPENAI_API_KEY=[step token]",
                "ANTHROPIC_BASE_URL=" + keelson.url() + "/gateway/anthropic", "ANTHROPIC_AUTH_TOKEN=[step token]",
                "KEELSON_STEP_TOKEN=[step token]", "OPENAI_AGENTS_DISABLE_TRACING=1");

        Run run = run("p.models");

        assertThat(run.output().path("object").asString("")).as(run.output().toString()).isEqualTo("list");
        assertThat(keelson.steps().logs(step(run).id(), 0)).extracting(line -> line.message())
                .containsExactly("token [step token]");
    }

    @Test
    void filesOfTheOutFolderBecomeArtifactsAndLinksDoNot() {
        Run run = run("p.files");

        assertThat(run.completed()).as(String.valueOf(attempt(run).errorMessage())).isTrue();
        assertThat(keelson.runs().artifacts(run.id())).extracting(artifact -> artifact.name())
                .containsExactly("a-one.txt");
        assertThat(folder.resolve("worker").resolve(step(run).id())).doesNotExist();
    }

    @Test
    void cancelledStepEndsTheProgramThatIgnoresSigterm() throws Exception {
        Files.deleteIfExists(folder.resolve("pid"));
        Run run = keelson.runs().create(mission("p.wait"));
        long pid = pid();

        keelson.runs().cancel(run.id(), "enough");

        Awaitility.await().atMost(PATIENCE).until(() -> ProcessHandle.of(pid).isEmpty());
    }

    @Test
    void stoppedWorkerHandsTheStepBackWithoutAnAttempt() throws Exception {
        cli.lines("tools", "register", "p.stop");
        Path again = folder.resolve("second");
        List<String> command = List.of("worker", "--tool", "p.stop", "--grace", "0", "--drain", "0", "--", "sh", "-c",
                "if [ -f " + again + " ]; then echo $KEELSON_ATTEMPT; else echo $$ >" + again
                        + "; exec sleep 600; fi");
        Thread first = serve(command);
        Run run = keelson.runs().create(mission("p.stop"));
        Awaitility.await().atMost(PATIENCE).until(() -> Files.exists(again));
        first.interrupt();
        first.join();

        Thread second = serve(command);

        assertThat(keelson.runs().awaitEnd(run.id(), PATIENCE).output().toString()).isEqualTo("1");
        second.interrupt();
        second.join();
    }

    @Test
    void resumeCommandContinuesInTheFolderOfTheStep() throws Exception {
        Thread resuming = serve(List.of("worker", "--tool", "p.resume", "--resume-command", "cat kept; basename $HOME",
                "--env", "MARK=" + folder, "--", "sh", folder.resolve("program.sh").toString()));

        Run run = keelson.runs().execute(Mission.named("one")
                .task("t", t -> t.step("s", "p.resume", Map.of(), s -> s.maxAttempts(2)))
                .output(Mission.expr(".tasks.t.output")).start(), PATIENCE);

        assertThat(run.output().stringValue()).isEqualTo("x\nhome");
        resuming.interrupt();
        resuming.join();
    }

    private static long pid() throws IOException {
        Path file = folder.resolve("pid");
        Awaitility.await().atMost(PATIENCE).until(() -> Files.exists(file) && !Files.readString(file).isBlank());
        return Long.parseLong(Files.readString(file).strip());
    }

    @ParameterizedTest(name = "{0} is refused with {1}")
    @CsvSource(delimiter = '|', value = {
            "--tool a -- no-such-program     | there is no program no-such-program on the PATH [PROGRAM_NOT_FOUND]",
            "--tool a -- ./no-such-file      | there is no file",
            "--tool a -- /etc/passwd         | is not an executable file: name its interpreter",
            "--tool a --slots 0 -- sh        | --slots must be 1 to 1000, not 0 [INVALID_SLOTS]",
            "--tool mcp.a -- sh              | --tool must be a name of letters, digits, '.', '_', '-' and '/' that does not begin with mcp.",
            "--tool q,q -- sh                | --tool must be a name of letters",
            "--tool a --env NO_SUCH_ONE -- sh | --env must be NAME=VALUE",
            "--tool a --output xml -- sh     | Invalid value for option '--output'",
            "--tool a --model smal -- sh     | has no model 'smal'; it has:",
            "--tool a                        | Missing required parameter: 'PROGRAM' [USAGE]",
            "-- sh                           | Missing required option: '--tool=NAME' [USAGE]"})
    void mistakeIsReportedAtTheStart(String arguments, String message) {
        List<String> all = new ArrayList<>(List.of("worker"));
        all.addAll(List.of(arguments.strip().split(" ")));

        CliProcess.Result result = cli.run(all.toArray(String[]::new));

        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains(message);
    }

    @Test
    void wrongKeyIsReportedAtTheStart() {
        CliProcess.Result result = InProcessCli.run(
                Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_URL", keelson.url().toString(),
                        "KEELSON_API_KEY", "wrong"),
                "worker", "--tool", "a", "--", "sh");

        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err()).contains("[INVALID_API_KEY]");
    }
}
