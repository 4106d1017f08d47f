package io.keelson.server.testing;

import java.util.Arrays;
import java.util.Locale;

/** A failure of a worker, of its connection, or of a model's provider. */
public enum NamedFault {
    /** A step is claimed, and its worker ends before it begins: the step is executed after its lease has expired. */
    CRASH_AFTER_CLAIM,
    /** A step is executed, and its worker ends before it reports: the step is executed again after its lease has expired. */
    CRASH_BEFORE_REPORT,
    /** The report of a step is lost before the server has it: the worker repeats the report. */
    REPORT_LOST,
    /** The server has the report of a step, and its answer is lost: the worker repeats the report. */
    REPORT_ANSWER_LOST,
    /** The provider answers a request to the scripted model with status 500: the step is executed again later. Has no tool. */
    PROVIDER_500;

    /** The name in requests, such as {@code crash_after_claim}. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException with the names, if there is no such fault */
    public static NamedFault of(String wire) {
        return Arrays.stream(values()).filter(each -> each.wire().equals(wire)).findFirst().orElseThrow(
                () -> new IllegalArgumentException("no fault " + wire + ", but "
                        + Arrays.stream(values()).map(NamedFault::wire).toList()));
    }
}
