package io.keelson.cli.common;

import io.keelson.api.run.Run;

/** Exit codes. 124 is the code of timeout(1), 130 of an interrupted program. */
public final class ExitCode {

    public static final int OK = 0;
    public static final int FAILED = 1;
    public static final int USAGE = 2;
    static final int CANCELLED = 3;
    public static final int WAITS_FOR_HUMAN = 4;
    public static final int WITH_FAILURES = 5;
    public static final int TIMED_OUT = 124;
    public static final int INTERRUPTED = 130;

    private ExitCode() {}

    /** The exit code for an ended run; a skipped one had nothing to do. */
    public static int of(Run ended) {
        return switch (ended.state()) {
            case "completed", "skipped" -> ended.failures() > 0 ? WITH_FAILURES : OK;
            case "cancelled" -> CANCELLED;
            default -> FAILED;
        };
    }
}
