package io.keelson.bench.lab;

import io.keelson.bench.contender.Answer;
import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.ContenderMain;
import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Order;
import io.keelson.bench.contender.Place;
import io.keelson.bench.contender.WorkloadResult;
import io.keelson.bench.server.Launcher;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** A contender in a JVM of its own. Closing stops it, by force where it does not stop by itself. */
public final class ContenderProcess implements AutoCloseable {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration START = Duration.ofMinutes(2);
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final Duration SLACK = Duration.ofMinutes(10);
    private static final int LOG_TAIL = 2_000;

    /** It failed, or gave no answer. The message says what and ends with its log. */
    public static final class ContenderException extends Exception {
        private static final long serialVersionUID = 1L;

        ContenderException(String message) {
            super(message);
        }
    }

    private final Process process;
    private final Path log;
    private final PrintWriter orders;
    private final BufferedReader answers;

    private ContenderProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.orders = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** @param jvm options of its JVM, the same for all contenders */
    static ContenderProcess start(ContenderKind kind, Place place, List<String> jvm)
            throws IOException, ContenderException, InterruptedException {
        Path log = Path.of(place.folder()).resolve("contender.log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        command.addAll(Launcher.handedOn());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ContenderMain.class.getName(),
                kind.name()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.to(log.toFile()));
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        ContenderProcess contender = new ContenderProcess(builder.start(), log);
        try {
            contender.ask(Order.start(place), START);
            return contender;
        } catch (ContenderException | InterruptedException e) {
            contender.kill();
            throw e;
        }
    }

    public WorkloadResult load(Load load) throws ContenderException, InterruptedException {
        return outcome(ask(Order.load(load), SLACK.plusSeconds((long) load.seconds())));
    }

    public void preload(int count) throws ContenderException, InterruptedException {
        ask(Order.preload(count), SLACK);
    }

    public WorkloadResult drain(double seconds) throws ContenderException, InterruptedException {
        return outcome(ask(Order.drain(seconds), SLACK.plusSeconds((long) seconds)));
    }

    public void keep(int servers) throws ContenderException, InterruptedException {
        ask(Order.keep(servers), SLACK);
    }

    public WorkloadResult claim(int claims, int each) throws ContenderException, InterruptedException {
        return outcome(ask(Order.claim(claims, each), SLACK));
    }

    /** Processor time used so far by the contender, its servers and PostgreSQL. */
    public ProcessorTime processorTime() {
        return ProcessorTime.of(process.pid());
    }

    /**
     * Limits the processor time of the contender's servers until the result is closed.
     *
     * @param share of one processor, for each server
     */
    public ProcessorLimit limitServers(double share) throws IOException {
        return ProcessorLimit.of(process.toHandle().children().map(ProcessHandle::pid).toList(), share);
    }

    private static WorkloadResult outcome(@Nullable WorkloadResult outcome) {
        return Objects.requireNonNull(outcome, "an answer without an outcome");
    }

    private @Nullable WorkloadResult ask(Order order, Duration limit) throws ContenderException, InterruptedException {
        orders.println(JSON.writeValueAsString(order));
        String line = answer(limit);
        if (line == null) {
            throw new ContenderException(order.verb() + " was not answered within " + limit.toSeconds() + " s; "
                    + logTail());
        }
        Answer answer = JSON.readValue(line, Answer.class);
        if (answer.failure() != null) {
            throw new ContenderException(order.verb() + ": " + answer.failure() + "; " + logTail());
        }
        return answer.outcome();
    }

    /** Null when none came in time, or the process has ended. */
    private @Nullable String answer(Duration limit) throws InterruptedException {
        CompletableFuture<@Nullable String> line = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                line.complete(answers.readLine());
            } catch (IOException e) {
                line.complete(null);
            }
        });
        try {
            return line.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return null;
        }
    }

    private String logTail() {
        try {
            String text = Files.readString(log);
            return "its log ends with\n" + text.substring(Math.max(0, text.length() - LOG_TAIL));
        } catch (IOException e) {
            return "it has no log: " + e;
        }
    }

    @Override
    public void close() throws InterruptedException {
        try {
            ask(Order.stop(), STOP);
        } catch (ContenderException e) {
            kill();
        } finally {
            process.destroyForcibly();
            process.waitFor();
        }
    }

    /** With the servers that it has started. */
    private void kill() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
