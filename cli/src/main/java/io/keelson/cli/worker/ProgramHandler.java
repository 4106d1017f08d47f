package io.keelson.cli.worker;

import io.keelson.client.KeelsonException;
import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.Gateway;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepFailure;
import io.keelson.client.worker.StepHandler;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.base.process.SupervisedProcess;
import java.io.IOException;
import java.net.URLConnection;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Starts a program for each step. The program ends with its process group when the step has been stopped, when this worker
 * ends, and when it has written too much.
 */
final class ProgramHandler implements StepHandler {

    private static final int TEMPORARY = 75;
    private static final Set<Integer> PERMANENT = Set.of(64, 65, 66);
    private static final int SIGNALS = 128;
    private static final int MAX_SIGNAL = 64;
    private static final int MAX_ARTIFACTS = 200;
    private static final String MASK = "[step token]";
    /** Beyond the grace: for the end of the supervisor itself. */
    private static final Duration CLEANUP = Duration.ofSeconds(5);

    /**
     * The program, and how it runs.
     *
     * @param command the first element is an absolute path
     * @param resume the command line for a shell that continues earlier work; null if absent
     * @param ownFolder whether it runs in the folder of its step instead of the worker's
     * @param coding the coding agent whose configuration is written; null for any other program
     * @param grace from SIGTERM to SIGKILL
     */
    record Program(List<String> command, @Nullable String resume, boolean ownFolder, @Nullable CodingAgent coding,
            ProgramOutput.Form form, Duration grace) {}

    private final Program program;
    private final Path root;
    private final Path workerFolder;
    private final ProgramEnvironment environment;
    private final Clock clock;
    private final Set<Thread> running = ConcurrentHashMap.newKeySet();
    private final Map<String, CountDownLatch> folders = new ConcurrentHashMap<>();

    /** @param root the folder of all steps' folders */
    ProgramHandler(Program program, Path root, Path workerFolder, ProgramEnvironment environment, Clock clock) {
        this.program = program;
        this.root = root;
        this.workerFolder = workerFolder;
        this.environment = environment;
        this.clock = clock;
    }

    /** Ends all programs. Their steps are handed back by the worker, which stops. */
    void interrupt() {
        running.forEach(Thread::interrupt);
    }

    @Override
    public JsonNode handle(StepContext step) throws StepFailure, InterruptedException {
        running.add(Thread.currentThread());
        CountDownLatch ours = new CountDownLatch(1);
        try {
            for (CountDownLatch other = folders.putIfAbsent(step.stepId(), ours); other != null; other =
                    folders.putIfAbsent(step.stepId(), ours)) {
                other.await(); // the program of a lost lease still ends
            }
            StepFolder folder = StepFolder.open(root, step);
            JsonNode output = run(step, folder);
            folder.remove();
            return output;
        } catch (IOException e) {
            if (step.cancelled() || Thread.interrupted()) {
                throw new InterruptedException();
            }
            throw new StepFailure("PROGRAM_NOT_STARTED", ErrorClass.INFRASTRUCTURE,
                    "the worker cannot use its folder for the step: " + FileProblems.reason(e));
        } finally {
            folders.remove(step.stepId(), ours);
            ours.countDown();
            running.remove(Thread.currentThread());
        }
    }

    private JsonNode run(StepContext step, StepFolder folder) throws StepFailure, InterruptedException, IOException {
        boolean resumed = program.resume != null && folder.startedBefore();
        Instant startedAt = startedAt(step, folder);
        folder.prepare(step, startedAt, resumed);
        List<String> command = program.resume != null && resumed ? List.of("/bin/sh", "-c", program.resume)
                : program.command;
        Gateway gateway = step.gateway();
        if (program.coding != null && gateway != null) {
            program.coding.configure(folder, gateway);
        }
        UnaryOperator<String> masked =
                gateway == null ? UnaryOperator.identity() : text -> text.replace(gateway.token(), MASK);
        Process process = start(command, step, folder, startedAt);
        try {
            ProgramOutput output = new ProgramOutput(process.getInputStream(), () -> end(process));
            ProgramLog log = new ProgramLog(process.getErrorStream(), masked, step::log);
            int exit = process.waitFor();
            boolean tooLong = output.awaitEnd();
            String last = log.awaitLast();
            if (tooLong) {
                throw new StepFailure("PROGRAM_OUTPUT_TOO_LARGE", ErrorClass.PERMANENT, "the program wrote more than "
                        + ProgramOutput.MAX_BYTES
                        + " bytes to its standard output: write files to $KEELSON_OUT instead");
            }
            check(exit, last, output.last(masked));
            JsonNode value = output.value(program.form, masked);
            upload(step, folder);
            return value;
        } finally {
            end(process);
        }
    }

    private Process start(List<String> command, StepContext step, StepFolder folder, Instant startedAt)
            throws StepFailure, IOException {
        Map<String, String> variables = environment.of(step, folder, startedAt);
        Path input = folder.standardInput();
        try {
            return SupervisedProcess.start(command, program.ownFolder ? folder.work() : workerFolder, variables, input,
                    program.grace);
        } catch (IOException e) {
            throw new StepFailure("PROGRAM_NOT_STARTED", ErrorClass.INFRASTRUCTURE,
                    command.getFirst() + " could not be started: " + e.getMessage());
        }
    }

    /** The time of the first execution on any worker, which the step's details pass on. */
    private Instant startedAt(StepContext step, StepFolder folder) throws IOException {
        String known = step.previousDetails().path("started_at").asString("");
        Instant startedAt = known.isEmpty() ? folder.startedAt(clock.instant()) : Instant.parse(known);
        step.details(Map.of("started_at", startedAt.toString()));
        return startedAt;
    }

    private void end(Process process) {
        SupervisedProcess.stop(process, program.grace.plus(CLEANUP));
    }

    /**
     * Fails the step if the program has failed. Some programs write the reason to their standard output.
     *
     * @param errors the end of standard error
     * @param output the end of standard output
     */
    private void check(int exit, String errors, String output) throws StepFailure {
        if (exit == 0) {
            return;
        }
        boolean signal = exit > SIGNALS && exit <= SIGNALS + MAX_SIGNAL;
        ErrorClass errorClass = exit == TEMPORARY || signal ? ErrorClass.INFRASTRUCTURE
                : PERMANENT.contains(exit) ? ErrorClass.PERMANENT : ErrorClass.QUALITY;
        String how = signal ? " was ended by signal " + (exit - SIGNALS) : " ended with exit code " + exit;
        throw new StepFailure("PROGRAM_FAILED", errorClass,
                Path.of(program.command.getFirst()).getFileName() + how + (errors.isEmpty() ? "" : ": " + errors)
                        + (output.isEmpty() ? "" : (errors.isEmpty() ? ": " : "\n") + "standard output: " + output));
    }

    private void upload(StepContext step, StepFolder folder) throws StepFailure, InterruptedException, IOException {
        List<Path> files = folder.artifacts();
        if (files.size() > MAX_ARTIFACTS) {
            throw new StepFailure("PROGRAM_OUTPUT_TOO_LARGE", ErrorClass.PERMANENT, "the program left " + files.size()
                    + " files in $KEELSON_OUT; at most " + MAX_ARTIFACTS + " are allowed");
        }
        for (Path file : files) {
            String name = folder.out().relativize(file).toString().replace('/', '-'); // an artifact's name is no path
            String type = URLConnection.guessContentTypeFromName(name);
            try {
                step.artifact(name, type == null ? "application/octet-stream" : type, file);
            } catch (KeelsonException e) {
                if (e.code().equals("INTERRUPTED")) {
                    throw new InterruptedException();
                }
                if (e.isTransient()) {
                    throw e;
                }
                throw new StepFailure("PROGRAM_ARTIFACT_REFUSED", ErrorClass.PERMANENT,
                        "the server refuses the file " + name + " of $KEELSON_OUT: " + e.getMessage());
            }
        }
    }
}
