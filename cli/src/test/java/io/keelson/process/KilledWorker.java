package io.keelson.process;

import io.keelson.ChildJvm;
import io.keelson.server.ServerProxy;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A {@link ChainWorker} in a process that is killed at a point of a chain, and started again. */
final class KilledWorker implements AutoCloseable {
    private static final String REPORT = "POST /api/v1/dispatch/complete";
    private static final long SECONDS = 300;

    private final Path executed;
    private final Path log;
    private final String key;
    private final ServerProxy gate;
    private Process process;

    /** @param server where the server is now, and its API key, as the environment of a program has them */
    KilledWorker(Path folder, Map<String, String> server) throws IOException {
        this.executed = folder.resolve("executed");
        this.log = folder.resolve("worker.log");
        this.key = server.get("KEELSON_API_KEY");
        this.gate = new ServerProxy(() -> URI.create(server.get("KEELSON_URL")));
        this.process = launch();
    }

    private Process launch() throws IOException {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.addAll(List.of(ChainWorker.class.getName(), executed.toString()));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(Map.of("KEELSON_URL", gate.url().toString(), "KEELSON_API_KEY", key));
        return builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    /** Ends the process at the begin of the next step with this number. */
    void killAtStep(int number) throws IOException, InterruptedException {
        new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true).println(number);
        restart();
    }

    /** Kills the process when it has begun to send a report, of which the server gets nothing. */
    void killBeforeReport() throws IOException, InterruptedException {
        gate.withholdRequest(REPORT, this::kill);
        restart();
    }

    /** Kills the process when the server has begun to answer a report. */
    void killBeforeAnswer() throws IOException, InterruptedException {
        gate.withholdAnswer(REPORT, this::kill);
        restart();
    }

    private void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** Waits for the end of the process, and starts another one. */
    private void restart() throws IOException, InterruptedException {
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the worker did not get to where it is killed, see " + log);
        }
        process = launch();
    }

    /** The effect keys of all executions, which were begun. */
    Path executed() {
        return executed;
    }

    @Override
    public void close() throws IOException {
        kill();
        gate.close();
    }
}
