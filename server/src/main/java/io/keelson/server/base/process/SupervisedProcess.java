package io.keelson.server.base.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A command under a small shell supervisor (supervise.sh) that leaves nothing of its process tree behind: not when it
 * ends, not when it is stopped, and not when this JVM is killed. The command has a session of its own; so has the
 * supervisor, so that it outlives signals sent to the server's.
 */
public final class SupervisedProcess {

    /** How a command ended. Output is cut at the bound; {@code timedOut} when it was stopped for its time. */
    public record Outcome(int exitCode, Captured stdout, Captured stderr, boolean timedOut) {}

    /** The output of a command, up to the bound. */
    public record Captured(byte[] bytes, boolean truncated) {
        public String text() {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static final String SCRIPT = script("supervise.sh");
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration GRACE = Duration.ofSeconds(1);

    private SupervisedProcess() {}

    /**
     * Runs to the end, the timeout or the thread's interrupt; in each case the whole tree has ended on return.
     *
     * @param command the first element is an absolute path
     * @param environment the whole environment; nothing is inherited from the server
     * @param output redacts its output before it is cut
     * @param errors redacts its stderr before it is cut
     * @throws IOException when it cannot be started
     */
    public static Outcome run(List<String> command, Path folder, Map<String, String> environment,
            byte @Nullable [] stdin,
            int maxOutput, UnaryOperator<InputStream> output, UnaryOperator<InputStream> errors, Duration timeout)
            throws IOException, InterruptedException {
        Path input = stdin == null ? null : Files.write(Files.createTempFile("keelson-stdin", null), stdin);
        try {
            Process process = start(command, folder, environment, input, GRACE);
            Capture out = new Capture(output.apply(process.getInputStream()), maxOutput);
            Capture err = new Capture(errors.apply(process.getErrorStream()), maxOutput);
            boolean ended = false;
            try {
                ended = process.waitFor(timeout);
            } finally {
                stop(process, STOP_TIMEOUT);
            }
            return new Outcome(process.exitValue(), out.await(), err.await(), !ended);
        } finally {
            if (input != null) {
                Files.deleteIfExists(input);
            }
        }
    }

    /**
     * Starts a command, which ends with its process tree at the latest when this JVM ends or {@link #stop} is called.
     *
     * @param command the first element is an absolute path
     * @param environment the whole environment; nothing is inherited from this JVM
     * @param input the file with its standard input, which is removed; null for an empty one
     * @param grace from SIGTERM to SIGKILL when it is stopped
     * @throws IOException when it cannot be started
     */
    public static Process start(List<String> command, Path folder, Map<String, String> environment,
            @Nullable Path input, Duration grace) throws IOException {
        List<String> session = newSession();
        List<String> line = new ArrayList<>(session);
        line.addAll(List.of("/bin/sh", "-c", SCRIPT, "keelson-supervise", UUID.randomUUID().toString(),
                input == null ? "-" : input.toString(), Long.toString(Math.max(0, grace.toMillis() / 100))));
        line.addAll(session);
        line.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(line).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** The command that starts a program in a new session: setsid on Linux, perl without setsid (macOS). */
    static List<String> newSession() throws IOException {
        Path setsid = Executables.find("setsid");
        Path perl = setsid == null ? Executables.find("perl") : null;
        if (setsid != null) {
            return List.of(setsid.toString());
        }
        if (perl == null) {
            throw new IOException("neither setsid nor perl is on the PATH, so a process could not be cleaned up after");
        }
        return List.of(perl.toString(), "-MPOSIX=setsid", "-e", "setsid(); exec {$ARGV[0]} @ARGV or exit 127");
    }

    /**
     * Closes the pipe that the supervisor watches, and waits for its cleanup.
     *
     * @param timeout after which the supervisor and its descendants are killed
     */
    public static void stop(Process process, Duration timeout) {
        closeInput(process);
        await(process, timeout);
    }

    /** Tells the supervisor to end the command. */
    static void closeInput(Process process) {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // the supervisor has ended already
        }
    }

    /** Waits for the supervisor's cleanup; kills it and its descendants when it takes longer. */
    static void await(Process process, Duration timeout) {
        boolean interrupted = false;
        long deadline = System.nanoTime() + timeout.toNanos();
        while (process.isAlive() && System.nanoTime() < deadline) {
            try {
                process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (process.isAlive()) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().onExit().join();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The text of a supervisor. */
    static String script(String name) {
        try (InputStream in = SupervisedProcess.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads a stream to its end on a thread of its own, keeping the first bytes. */
    private static final class Capture {
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
        private final Thread reader;
        private boolean truncated;

        private Capture(InputStream stream, int max) {
            reader = Thread.ofPlatform().daemon().name("process-output").start(() -> read(stream, max));
        }

        private void read(InputStream stream, int max) {
            byte[] buffer = new byte[1 << 14];
            try (stream) {
                for (int n = stream.read(buffer); n >= 0; n = stream.read(buffer)) {
                    synchronized (kept) {
                        int room = Math.min(n, max - kept.size());
                        kept.write(buffer, 0, room);
                        truncated |= room < n;
                    }
                }
            } catch (IOException e) {
                // the process was killed: the output read so far is kept
            }
        }

        private Captured await() throws InterruptedException {
            boolean whole = reader.join(DRAIN_TIMEOUT);
            synchronized (kept) {
                return new Captured(kept.toByteArray(), truncated || !whole);
            }
        }
    }
}
