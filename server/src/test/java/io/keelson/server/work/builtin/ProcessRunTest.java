package io.keelson.server.work.builtin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keelson.core.Breadth;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Breadth.Spread
@Timeout(60)
class ProcessRunTest {

    /** Starts a child, a grandchild in a session of its own, and one that ignores TERM; then names their pids. */
    static final String TREE = """
            sleep 1000 & echo $! >> pids
            setsid sh -c 'trap "" TERM; echo $$ >> pids; sleep 1000' &
            (trap '' TERM HUP; sh -c 'echo $$ >> pids; exec sleep 1000') &
            echo $$ >> pids
            while [ $(wc -l < pids) -lt 4 ]; do sleep 0.01; done
            mv pids started
            """;

    @TempDir
    Path folder;
    private Calls calls;

    @BeforeEach
    void setUp() throws IOException {
        Files.writeString(folder.resolve("a.txt"), "x\n");
        calls = new Calls(new ToolPolicy(List.of(folder), Set.of("sh", "cat", "env", "nosuchprogram", "git"), false),
                folder.resolve("artifacts"));
    }

    @Test
    void runsWithoutAShellInTheFolder() {
        JsonNode output =
                calls.output("process.run", "{\"argv\": [\"cat\", \"a.txt\", \"-\"], \"stdin\": \"in $HOME;\"}");
        assertThat(output.get("stdout").stringValue()).isEqualTo("x\nin $HOME;");
        assertThat(output.get("exit_code").intValue()).isZero();
        assertThat(calls.log).contains("$ cat a.txt -", "exit code 0");
    }

    @Test
    void theEnvironmentIsMinimal() {
        assertThat(run("env", List.of()).get("stdout").stringValue().lines().map(line -> line.replaceAll("=.*", "")))
                .containsExactlyInAnyOrder("PATH", "PWD", "HOME", "LANG", "LC_ALL", "TZ", "KEELSON_PROCESS_TREE");
    }

    @Test
    void stdinIsEmptyWhenNoneIsGiven() {
        assertThat(run("cat", List.of()).get("stdout").stringValue()).isEmpty();
    }

    @Test
    void outputIsBounded() {
        JsonNode output = calls.output("process.run",
                """
                {"argv": ["sh", "-c", "head -c 5000000 /dev/zero | tr '\\\\0' x; echo end >&2"], "max_output_bytes": 10}""");
        assertThat(output.get("stdout").stringValue()).isEqualTo("xxxxxxxxxx");
        assertThat(output.get("stdout_truncated").booleanValue()).isTrue();
        assertThat(output.get("stderr").stringValue()).isEqualTo("end\n");
        assertThat(output.get("stderr_truncated").booleanValue()).isFalse();
    }

    @Test
    void outputCanBeParsed() {
        assertThat(calls.output("process.run", "{\"argv\": [\"sh\", \"-c\", \"echo a; echo b\"], \"parse\": \"lines\"}")
                .get("lines").toString()).isEqualTo("[\"a\",\"b\"]");
        assertThat(calls
                .output("process.run", "{\"argv\": [\"sh\", \"-c\", \"echo '{\\\"a\\\": 1}'\"], \"parse\": \"json\"}")
                .get("json").toString()).isEqualTo("{\"a\":1}");
        assertThat(calls
                .output("process.run",
                        "{\"argv\": [\"sh\", \"-c\", \"echo 0.1000000000000000055\"], \"parse\": \"json\"}")
                .get("json").toString()).isEqualTo("0.1000000000000000055");
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "{\"argv\": [\"sh\", \"-c\", \"echo [1,2,3]\"], \"parse\": \"json\", \"max_output_bytes\": 4} => PROCESS_OUTPUT_TOO_LARGE => permanent",
            "{\"argv\": [\"ls\"]}                                    => COMMAND_NOT_ALLOWED => permanent",
            "{\"argv\": [\"/bin/sh\"]}                               => COMMAND_NOT_ALLOWED => permanent",
            "{\"argv\": [\"./sh\"]}                                  => COMMAND_NOT_ALLOWED => permanent",
            "{\"argv\": [\"nosuchprogram\"]}                         => COMMAND_NOT_FOUND => permanent",
            "{\"argv\": [\"cat\", \"a\\u0000b\"]}                    => ARGUMENT_NOT_ALLOWED => permanent",
            "{\"argv\": [\"cat\"], \"cwd\": \"..\"}                  => PATH_NOT_ALLOWED => permanent",
            "{\"argv\": [\"cat\"], \"cwd\": \"a.txt\"}               => NOT_A_FOLDER => permanent",
            "{\"argv\": []}                                          => TOOL_INPUT_INVALID => permanent",
            "{\"argv\": [\"cat\"], \"shell\": true}                  => TOOL_INPUT_INVALID => permanent",
            "{\"argv\": [\"cat\", \"nothing\"]}                      => PROCESS_EXIT_NONZERO => infrastructure",
            "{\"argv\": [\"sh\", \"-c\", \"kill -9 $$\"]}            => PROCESS_KILLED => infrastructure",
            "{\"argv\": [\"sh\", \"-c\", \"sleep 100\"], \"timeout_seconds\": 0.2} => PROCESS_TIMEOUT => infrastructure",
            "{\"argv\": [\"cat\", \"a.txt\"], \"parse\": \"json\"}   => PROCESS_OUTPUT_UNPARSEABLE => quality",
    })
    void refuses(String input, String code, String errorClass) {
        ToolFailure failure = calls.failure("process.run", input);
        assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
        assertThat(failure.errorClass()).isEqualTo(ErrorClass.fromWire(errorClass));
    }

    @Test
    void aProgramThatCannotBeStartedIsExplained() {
        assertThat(calls.failure("process.run",
                "{\"argv\": [\"cat\"" + (", \"" + "x".repeat(60_000) + "\"").repeat(60) + "]}"))
                .hasMessage("cat could not be started: its arguments are longer than the system allows")
                .extracting(ToolFailure::code).isEqualTo("PROCESS_NOT_STARTED");
    }

    @Test
    void aFailureHasTheBeginningAndTheEndOfWhatTheProgramSays() {
        assertThat(calls.failure("process.run", "{\"argv\": [\"sh\", \"-c\", \"seq 2000 >&2; exit 4\"]}").getMessage())
                .startsWith("sh ended with exit code 4: 1\n2\n").contains("\n…\n").endsWith("1999\n2000")
                .hasSizeLessThan(2_100);
    }

    @Test
    void exitCodesCanBeAllowed() {
        JsonNode output =
                calls.output("process.run", "{\"argv\": [\"sh\", \"-c\", \"exit 3\"], \"allow_exit_codes\": [0, 3]}");
        assertThat(output.get("exit_code").intValue()).isEqualTo(3);
        assertThat(calls.failure("process.run", "{\"argv\": [\"sh\", \"-c\", \"echo why >&2; exit 4\"]}"))
                .hasMessageContaining("exit code 4").hasMessageContaining("why");
    }

    @Test
    void nothingIsLeftWhenTheCommandEnds() throws Exception {
        run("sh", List.of("-c", TREE));
        assertThat(alive()).isEmpty();
    }

    @Test
    void nothingIsLeftAfterATimeout() throws Exception {
        ToolFailure failure = calls.failure("process.run", "{\"argv\": [\"sh\", \"-c\", "
                + JsonMapper.shared().writeValueAsString(TREE + "sleep 1000") + "], \"timeout_seconds\": 1}");
        assertThat(failure.code()).isEqualTo("PROCESS_TIMEOUT");
        assertThat(alive()).isEmpty();
    }

    @Test
    void nothingIsLeftAfterAnInterrupt() throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread executor = Thread.ofVirtual().start(() -> {
            try {
                run("sh", List.of("-c", TREE + "sleep 1000"));
            } catch (AssertionError e) {
                thrown.set(e.getCause());
            }
        });
        await().until(() -> Files.exists(folder.resolve("started")));
        assertThat(alive()).hasSize(4);
        executor.interrupt();
        executor.join();
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        assertThat(alive()).isEmpty();
    }

    @Test
    void nothingIsLeftWhenTheServerIsKilled() throws Exception {
        Process server = new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-cp",
                System.getProperty("java.class.path"), ProcessRunTest.class.getName(), folder.toString())
                .redirectErrorStream(true).redirectOutput(folder.resolve("server.log").toFile()).start();
        await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(folder.resolve("started")));
        assertThat(alive()).hasSize(4);
        server.destroyForcibly().waitFor();
        await().atMost(Duration.ofSeconds(60)).until(() -> alive().isEmpty());
    }

    /** The server to be killed. */
    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[0]);
        Calls calls = new Calls(new ToolPolicy(List.of(folder), Set.of("sh"), false), folder.resolve("artifacts"));
        calls.output("process.run", "{\"argv\": [\"sh\", \"-c\", "
                + JsonMapper.shared().writeValueAsString(TREE + "sleep 1000") + "]}");
    }

    private List<Long> alive() throws IOException {
        return Files.readAllLines(folder.resolve("started")).stream().map(Long::valueOf)
                .filter(Processes::alive).toList();
    }

    private JsonNode run(String program, List<String> arguments) {
        List<String> argv = new java.util.ArrayList<>(arguments);
        argv.addFirst(program);
        return calls.output("process.run", "{\"argv\": " + JsonMapper.shared().writeValueAsString(argv) + "}");
    }

    @Test
    void aWaitingThreadThatIsInterruptedBeforeStartsNothing() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(
                () -> calls.execute("process.run", "{\"argv\": [\"sh\", \"-c\", \"sleep 0.3; touch made\"]}"))
                .isInstanceOf(InterruptedException.class);
        assertThat(folder.resolve("made")).doesNotExist();
    }
}
