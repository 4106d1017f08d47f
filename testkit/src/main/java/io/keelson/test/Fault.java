package io.keelson.test;

import io.keelson.server.testing.NamedFault;

/** A failure of a worker, of its connection, or of a model's provider, for {@link TestKeelson#fault(Fault)}. */
public enum Fault {
    /** A step is claimed, and its worker ends before it begins: the step is executed after its lease has expired. */
    CRASH_AFTER_CLAIM(NamedFault.CRASH_AFTER_CLAIM),
    /** A step is executed, and its worker ends before it reports: the step is executed again after its lease has expired. */
    CRASH_BEFORE_REPORT(NamedFault.CRASH_BEFORE_REPORT),
    /** The report of a step is lost before the server has it: the worker repeats the report. */
    REPORT_LOST(NamedFault.REPORT_LOST),
    /** The server has the report of a step, and its answer is lost: the worker repeats the report. */
    REPORT_ANSWER_LOST(NamedFault.REPORT_ANSWER_LOST),
    /** The provider answers a request to the scripted model with status 500: the step is executed again later. Has no tool. */
    PROVIDER_500(NamedFault.PROVIDER_500);

    private final NamedFault named;

    Fault(NamedFault named) {
        this.named = named;
    }

    NamedFault ofServer() {
        return named;
    }
}
