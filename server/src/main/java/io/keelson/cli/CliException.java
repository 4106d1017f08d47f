package io.keelson.cli;

import io.keelson.core.plan.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Something that the command line itself cannot do, said so that the reader knows what to do next. */
final class CliException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String code;
    private final int exitCode;
    private final transient List<Problem> problems;

    private CliException(String code, int exitCode, String message, List<Problem> problems, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.exitCode = exitCode;
        this.problems = List.copyOf(problems);
    }

    /** The command was given something it cannot use: exit 2. */
    static CliException usage(String code, String message) {
        return new CliException(code, ExitCode.USAGE, message, List.of(), null);
    }

    /** A file or its content is wrong: exit 2. */
    static CliException invalid(String code, String message, List<Problem> problems) {
        return new CliException(code, ExitCode.USAGE, message, problems, null);
    }

    /** It did not work: exit 1. */
    static CliException failed(String code, String message, @Nullable Throwable cause) {
        return new CliException(code, ExitCode.FAILED, message, List.of(), cause);
    }

    /** Stable, UPPER_SNAKE. */
    String code() {
        return code;
    }

    int exitCode() {
        return exitCode;
    }

    List<Problem> problems() {
        return problems;
    }
}
