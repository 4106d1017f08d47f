package io.keelson.server.mission.bulk;

import java.util.UUID;

/** Admits retries of a bulk job to a workspace. */
@FunctionalInterface
public interface BulkRetryAdmission {

    /** The answer for one retry. */
    sealed interface Answer {

        /** @param release to be run when the retry is committed */
        record Admitted(Runnable release) implements Answer {}

        /** @param code the error code of a limit, which a later attempt may pass */
        record LimitReached(String code) implements Answer {}

        /** The workspace is closed, for ever. */
        record Closed() implements Answer {}
    }

    /** Asked before each retry. */
    Answer admit(UUID workspace);
}
