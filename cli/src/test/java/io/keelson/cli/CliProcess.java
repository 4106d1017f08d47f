package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.ChildJvm;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The program in a process of its own, as a shell starts it in a pipe.
 *
 * @param said its standard output so far
 * @param noted its standard error so far
 */
public record CliProcess(Process process, StringWriter said, StringWriter noted, CompletableFuture<String> stdout,
        CompletableFuture<String> stderr) {

    /** A mission that waits for a yes or no, without its name. */
    static final String ASKS = """
            plan:
              tasks:
                - id: gate
                  steps: [{name: sign-off, kind: approval, input: {question: "Publish it?"}}, {tool: noop}]
            """;

    private static final long TIMEOUT_SECONDS = 120;

    /** What a process said when it had ended. */
    public record Result(int code, String out, String err) {

        public JsonNode json() {
            return JsonMapper.shared().readTree(out);
        }
    }

    public static CliProcess start(Path dataDir, Map<String, String> environment, String... arguments)
            throws IOException {
        return start(dataDir, environment, command(arguments));
    }

    /** The same of a whole command. */
    public static CliProcess start(Path dataDir, Map<String, String> environment, List<String> command)
            throws IOException {
        CliProcess started = open(dataDir, environment, command);
        started.process().getOutputStream().close();
        return started;
    }

    /** With a standard input that stays open. */
    static CliProcess open(Path dataDir, Map<String, String> environment, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> variables = new HashMap<>(Map.of("KEELSON_DATA_DIR", dataDir.toString()));
        variables.putAll(environment);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(variables);
        Process process = builder.start();
        StringWriter said = new StringWriter();
        StringWriter noted = new StringWriter();
        return new CliProcess(process, said, noted, read(process.getInputStream(), said),
                read(process.getErrorStream(), noted));
    }

    public static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.add("io.keelson.cli.Main");
        command.addAll(List.of(arguments));
        return command;
    }

    /** The path of a new file with a mission, which needs no name. */
    public static String mission(Path folder, String yaml) throws IOException {
        return Files.writeString(Files.createTempFile(folder, "mission", ".yaml"), "name: test\n" + yaml).toString();
    }

    /** Waits until no process has this folder in its command line. */
    public static void assertNoneLeft(Path folder) {
        String mark = folder.toString();
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(ProcessHandle.allProcesses()
                .map(process -> process.info().commandLine().orElse("")).filter(line -> line.contains(mark)))
                .isEmpty());
    }

    private static CompletableFuture<String> read(InputStream in, StringWriter text) {
        return CompletableFuture.supplyAsync(() -> {
            try (Reader reader = new InputStreamReader(in, StandardCharsets.UTF_8)) {
                char[] some = new char[4_096];
                for (int count = reader.read(some); count >= 0; count = reader.read(some)) {
                    text.write(some, 0, count);
                }
            } catch (IOException e) {
                text.append(e.toString());
            }
            return text.toString();
        }, task -> Thread.ofVirtual().start(task));
    }

    public Result end() throws InterruptedException {
        try {
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("still running after " + TIMEOUT_SECONDS + " s");
            }
            return new Result(process.exitValue(), stdout.join(), stderr.join());
        } finally {
            process.destroyForcibly();
        }
    }

    /** As a terminal does at Ctrl-C. */
    void interrupt() throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
    }
}
