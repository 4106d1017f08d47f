package io.keelson.client.worker;

import io.keelson.client.KeelsonException;

/** Whether repeating a failed call unchanged can succeed. */
final class Refusal {

    private Refusal() {}

    /**
     * True for a server that is away, restarting, overloaded or failing, and for a key that is not accepted (it may be
     * again); false when the server has judged the content of the call.
     */
    static boolean mayPass(KeelsonException e) {
        int status = e.status();
        return status == 0 || status >= 500 || status == 401 || status == 403 || status == 408 || status == 429;
    }
}
