package io.keelson.server.annex.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs short commands to their end. */
final class Shell {

    /** Exit status of a command that could not be started at all. */
    private static final int NOT_FOUND = 127;

    /**
     * A finished command.
     *
     * @param status 0 for success
     * @param output standard output and error together
     */
    record Result(int status, String output) {
        boolean ok() {
            return status == 0;
        }
    }

    private Shell() {}

    /** Runs the command with nothing on its standard input and waits for its end. */
    static Result run(List<String> command) {
        try {
            Process process = builder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), output.strip());
        } catch (IOException e) {
            return new Result(NOT_FOUND, notStarted(Path.of(command.getFirst())));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted while waiting for " + command.getFirst(), e));
        }
    }

    private static String notStarted(Path program) {
        if (!Files.exists(program)) {
            return program + " was not found.";
        }
        return program + (Files.isExecutable(program)
                ? " could not be started: the system has no memory or no process left."
                : " may not be executed: check its permissions, and that its file system is not mounted with noexec.");
    }

    /** A process that no PostgreSQL variable of the caller's environment can divert. */
    static ProcessBuilder builder(List<String> command) {
        var builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        return builder;
    }
}
