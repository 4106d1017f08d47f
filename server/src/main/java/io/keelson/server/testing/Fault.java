package io.keelson.server.testing;

import java.util.Arrays;
import java.util.Locale;

/** A failure of a worker or of its connection. */
public enum Fault {
    /** A step is claimed, and its worker ends before it begins: the step is executed after its lease has expired. */
    CRASH_AFTER_CLAIM,
    /** A step is executed, and its worker ends before it reports: the step is executed again after its lease has expired. */
    CRASH_BEFORE_REPORT,
    /** The server has the report of a step, and its answer is lost: the worker repeats the report. */
    REPORT_ANSWER_LOST;

    /** The name in requests, such as {@code crash_after_claim}. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException with the names, if there is no such fault */
    public static Fault of(String wire) {
        return Arrays.stream(values()).filter(each -> each.wire().equals(wire)).findFirst().orElseThrow(
                () -> new IllegalArgumentException("no fault " + wire + ", but "
                        + Arrays.stream(values()).map(Fault::wire).toList()));
    }
}
