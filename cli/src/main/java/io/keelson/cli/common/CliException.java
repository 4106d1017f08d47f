package io.keelson.cli.common;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.base.problem.StartupException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An error of the command line, with a message that names the remedy. */
public final class CliException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private static final Function<String, Optional<Integer>> NO_LINES = pointer -> Optional.empty();

    private final String code;
    private final int exitCode;
    private final transient List<PlanProblem> problems;
    private final transient Function<String, Optional<Integer>> lines;
    private final @Nullable String advice;

    private CliException(String code, int exitCode, String message, List<PlanProblem> problems,
            Function<String, Optional<Integer>> lines, @Nullable String advice, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.exitCode = exitCode;
        this.problems = List.copyOf(problems);
        this.lines = lines;
        this.advice = advice;
    }

    /** The command was given something it cannot use: exit 2. */
    public static CliException usage(String code, String message) {
        return new CliException(code, ExitCode.USAGE, message, List.of(), NO_LINES, null, null);
    }

    /**
     * A file's content is wrong: exit 2.
     *
     * @param lines the line of a pointer in that file, from 1
     */
    static CliException invalid(String code, String message, List<PlanProblem> problems,
            Function<String, Optional<Integer>> lines) {
        return new CliException(code, ExitCode.USAGE, message, problems, lines, null, null);
    }

    /** The settings cannot be used: exit 2. */
    static CliException settings(InvalidSettingsException cause) {
        return new CliException(cause.problems().getFirst().code(), ExitCode.USAGE, "the settings cannot be used",
                cause.problems(), NO_LINES, "docs/reference/configuration.md lists all settings", cause);
    }

    /** The server of this process does not start: exit 1. */
    public static CliException startup(StartupException cause) {
        return failed(cause.code(), String.valueOf(cause.getMessage()), cause);
    }

    /** It did not work: exit 1. */
    public static CliException failed(String code, String message) {
        return failed(code, message, null);
    }

    /** It did not work: exit 1. */
    public static CliException failed(String code, String message, @Nullable Throwable cause) {
        return new CliException(code, ExitCode.FAILED, message, List.of(), NO_LINES, null, cause);
    }

    /** It took longer than the caller waits: exit 124. */
    public static CliException timedOut(String message) {
        return new CliException("TIMEOUT", ExitCode.TIMED_OUT, message, List.of(), NO_LINES, null, null);
    }

    /** Stable, UPPER_SNAKE. */
    String code() {
        return code;
    }

    int exitCode() {
        return exitCode;
    }

    public List<PlanProblem> problems() {
        return problems;
    }

    /** How to correct it; null if the message says so. */
    @Nullable String advice() {
        return advice;
    }

    /** The line of a problem's pointer in the file that is wrong, from 1; empty where there is none. */
    Optional<Integer> line(String pointer) {
        return lines.apply(pointer);
    }
}
