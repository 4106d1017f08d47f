package io.keelson.core.decide;

import io.keelson.core.run.CallWait;

/**
 * Where the call of an open step is.
 *
 * @param rounds number of times that the other server has asked so far
 * @param epoch of the lease under which its holder stored it last
 */
public record CallRow(CallWait.State state, int rounds, int epoch) {

    /** Its last question has an answer. */
    CallRow answered() {
        return new CallRow(CallWait.State.ANSWERED, rounds, epoch);
    }
}
