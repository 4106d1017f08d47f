package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.core.Breadth;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behaviour on a terminal only, each command in its own process. */
class TerminalTest {

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

    @AfterEach
    void nothingIsLeftRunning() {
        CliProcess.assertNoneLeft(folder);
    }

    @Test
    @Breadth.InPart(0)
    void interruptDuringSubmissionNamesTheCommandToUse() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CliProcess run =
                    CliProcess.start(folder, Map.of("KEELSON_URL", "http://127.0.0.1:" + silent.getLocalPort()), "run",
                            inProcessCli.mission("plan: {tasks: []}"));
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
    void inATerminalTheTreeIsDrawn() throws Exception {
        String mission =
                inProcessCli.mission(
                        "plan: {tasks: [{id: nap, title: A nap, steps: [{tool: wait, input: {seconds: 1}}]}]}");
        String line = String.join(" ", Arrays.stream(CliProcess.command("run", mission).toArray(String[]::new))
                .map(word -> "'" + word + "'").toList());
        Result run = CliProcess.start(folder, Map.of("TERM", "xterm-256color", "LANG", "C.UTF-8"),
                List.of("script", "-qefc", "stty cols 60 rows 20; " + line, "/dev/null")).end();
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out()).contains("✓", "A nap", "━━━", "1/1 task ", "\u001b[?25l", "\u001b[?25h");
    }

    @Test
    @Breadth.InPart(1)
    void promptEndsWhenDecidedElsewhereAndOldInputIsIgnored() throws Exception {
        String mission = inProcessCli.mission("""
                plan:
                  tasks:
                    - id: first
                      steps: [{name: one, kind: approval, input: {question: "Sell it?", price: 17}}]
                    - id: second
                      depends_on: [first]
                      steps: [{name: two, kind: approval, input: {question: "Ship it?"}}]
                """);
        String line =
                String.join(" ", CliProcess.command("run", mission).stream().map(word -> "'" + word + "'").toList());
        CliProcess run = CliProcess.open(folder, Map.of("TERM", "xterm-256color", "LANG", "C.UTF-8"),
                List.of("script", "-qefc", "stty cols 80 rows 20; " + line, "/dev/null"));
        said(run, "price: 17", "Sell it? [y/n]");
        assertThat(inProcessCli.run("approve", "latest").out()).contains("Sell it?", "price: 17");
        said(run, "it was already decided elsewhere", "Ship it? [y/n]");
        type(run, "n\n");
        said(run, "That line was started for an earlier question");
        type(run, "y\n");
        Result ended = run.end();
        assertThat(ended.code()).as(ended.out()).isZero();
        assertThat(ended.out()).contains("2 of 2 tasks completed");
    }

    /** The answer is typed before its question, so it arrives before the command reads the run's events again. */
    @Test
    void anAnswerGivenAtOnceCarriesTheRunOn() throws Exception {
        String mission = inProcessCli.mission(CliProcess.ASKS);
        String line =
                String.join(" ", CliProcess.command("run", mission).stream().map(word -> "'" + word + "'").toList());
        CliProcess run = CliProcess.open(folder, Map.of("TERM", "xterm-256color", "LANG", "C.UTF-8"),
                List.of("script", "-qefc", "stty cols 80 rows 20; " + line, "/dev/null"));
        said(run, "\u001b[?25l");
        type(run, "y\n");
        Result ended = run.end();
        assertThat(ended.out()).contains("Publish it? [y/n]", "1 of 1 task completed")
                .doesNotContain("keelson resume");
        assertThat(ended.code()).isZero();
    }

    private static void said(CliProcess run, String... texts) {
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(run.said().toString()).contains(texts));
    }

    private static void type(CliProcess run, String text) throws IOException {
        run.process().getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        run.process().getOutputStream().flush();
    }

    /** The terminal is being asked what it can do, and JLine closes it under the program. */
    @Test
    @Breadth.InPart(2)
    void ctrlCBeforeTheTreeIsDrawnIsNoFailure() throws Exception {
        String mission = inProcessCli.mission("plan: {tasks: [{id: nap, steps: [{tool: wait, input: {seconds: 1}}]}]}");
        String line =
                String.join(" ", CliProcess.command("run", mission).stream().map(word -> "'" + word + "'").toList());
        CliProcess run = CliProcess.open(folder, Map.of("TERM", "xterm-256color", "LANG", "C.UTF-8"),
                List.of("script", "-qefc", "stty cols 60 rows 20; " + line, "/dev/null"));
        said(run, "\u001b[c");
        type(run, "\u0003");
        Result interrupted = run.end();
        assertThat(interrupted.code()).as(interrupted.out()).isEqualTo(130);
        assertThat(interrupted.out()).contains("interrupted").doesNotContain("UNEXPECTED_ERROR");
    }

    @Test
    @Breadth.InPart(3)
    void tablesFitTheTerminal() throws Exception {
        inProcessCli.run("run", inProcessCli.mission("plan: {tasks: [{id: a, steps: [{tool: noop}]}]}"));
        String line = String.join(" ", CliProcess.command("runs").stream().map(word -> "'" + word + "'").toList());
        Result runs = CliProcess.start(folder, Map.of("TERM", "xterm-256color", "LANG", "C.UTF-8", "NO_COLOR", "1"),
                List.of("script", "-qefc", "stty cols 60 rows 20; " + line, "/dev/null")).end();
        assertThat(runs.out().lines().toList()).anySatisfy(row -> assertThat(row).contains("completed", "…"))
                .filteredOn(row -> row.contains("completed") || row.contains("STATE"))
                .allSatisfy(row -> assertThat(row.strip().length()).isLessThanOrEqualTo(60));
    }

    @Test
    @Breadth.InPart(5)
    void theInboxIsWorkedOffByAnswersLineByLine() throws Exception {
        String run = inProcessCli.run("run", inProcessCli.mission(CliProcess.ASKS), "--json").json().at("/run/id")
                .asString();
        List<String> reviewed = new ArrayList<>(List.of("sh", "-c", "printf 'what\\n\\ns\\n' | \"$@\"", "sh"));
        reviewed.addAll(CliProcess.command("inbox", "--run", run, "--review"));
        assertThat(CliProcess.start(folder, Map.of(), reviewed).end().out()).contains("Publish it?", "accept: ",
                "skipped",
                "please answer a, r, s or q");

        String proposes = inProcessCli.run("run", inProcessCli.mission("""
                plan: {tasks: [{id: a, steps: [{tool: proposal.create, input: {title: Sell it}}]}]}
                """), "--json").json().at("/run/id").asString();
        List<String> answered = new ArrayList<>(List.of("sh", "-c", "printf 's\\n' | \"$@\"", "sh"));
        answered.addAll(CliProcess.command("inbox", "--run", proposes, "--review"));
        assertThat(CliProcess.start(folder, Map.of(), answered).end().out()).contains("Sell it", "skipped")
                .doesNotContain("null");
        String proposal = inProcessCli.run("inbox", "--run", proposes, "--json").json().at("/items/0/id").asString();
        assertThat(inProcessCli.run("reject", proposal).err()).contains(proposal + " is rejected");
    }

    @Test
    @Breadth.InPart(6)
    void unreachableServerIsReported(@TempDir Path other) throws Exception {
        InProcessCli gone = new InProcessCli(other);
        String run =
                gone.run("run", gone.mission("plan: {tasks: [{id: a, steps: [{tool: wait, input: {seconds: 99}}]}]}"),
                        "--detach").out().strip();
        String url = Files.readString(other.resolve("url"));
        CliProcess watch = CliProcess.start(folder, Map.of("KEELSON_URL", url, "KEELSON_API_KEY",
                Files.readString(other.resolve("api-key"))), "watch", run);
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> watch.said().toString().contains(run));

        gone.close();

        Awaitility.await()
                .until(() -> watch.noted().toString().contains("the server is not reachable, retrying"));
        watch.process().destroyForcibly();
    }
}
