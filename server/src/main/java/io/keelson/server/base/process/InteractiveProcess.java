package io.keelson.server.base.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A command that this server talks to through its standard input and output, under a supervisor (supervise-pipes.sh) that
 * leaves nothing of its process tree behind, also when this JVM is killed. Its output ends when the command ends.
 */
public final class InteractiveProcess implements AutoCloseable {
    private static final String SCRIPT = SupervisedProcess.script("supervise-pipes.sh");
    private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(300);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(4);

    private final Process process;

    private InteractiveProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts a process.
     *
     * @param command the first element is an absolute path, or a name on the server's {@code PATH}
     * @param environment variables in addition to {@code PATH} and {@code LANG}; nothing else is inherited
     * @throws IOException when it cannot be started
     */
    public static InteractiveProcess start(List<String> command, Path folder, Map<String, String> environment)
            throws IOException {
        List<String> session = SupervisedProcess.newSession();
        List<String> line = new ArrayList<>(session);
        line.addAll(List.of("/bin/sh", "-c", SCRIPT, "keelson-supervise", UUID.randomUUID().toString()));
        line.addAll(session);
        line.add(program(command.getFirst()).toString());
        line.addAll(command.subList(1, command.size()));
        Map<String, String> whole = new HashMap<>(Map.of("PATH", Executables.PATH, "LANG", "C.UTF-8"));
        whole.putAll(environment);
        ProcessBuilder builder = new ProcessBuilder(line).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().putAll(whole);
        return new InteractiveProcess(builder.start());
    }

    private static Path program(String name) throws IOException {
        @Nullable Path found = name.startsWith("/") ? Path.of(name) : Executables.find(name);
        if (found == null) {
            throw new IOException(name + " is not on the server's PATH");
        }
        return found;
    }

    /** The command's standard input. */
    public OutputStream input() {
        return process.getOutputStream();
    }

    /** The command's standard output. */
    public InputStream output() {
        return process.getInputStream();
    }

    /** The command's standard error. */
    public InputStream errors() {
        return process.getErrorStream();
    }

    public boolean alive() {
        return process.isAlive();
    }

    /**
     * Ends the command and its process tree, within five seconds. Idempotent. A command that does not read its input blocks a
     * write, and with it the end of the input; then a signal tells the supervisor.
     */
    @Override
    public void close() {
        Thread closing =
                Thread.ofPlatform().daemon().name("process-close").start(() -> SupervisedProcess.closeInput(process));
        boolean interrupted = false;
        try {
            if (!closing.join(CLOSE_TIMEOUT)) {
                process.destroy();
            }
        } catch (InterruptedException e) {
            interrupted = true;
            process.destroy();
        }
        SupervisedProcess.await(process, STOP_TIMEOUT);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
