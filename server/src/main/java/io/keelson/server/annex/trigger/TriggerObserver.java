package io.keelson.server.annex.trigger;

/** Counts deliveries by what happened to them. */
public interface TriggerObserver {

    /** The fate of an event or request. */
    enum Happened {
        /** An event was received for the first time. */
        RECEIVED,
        /** An event was received again. */
        DUPLICATE,
        /** A request had no valid proof of its sender. */
        UNVERIFIED, STARTED, MERGED, DROPPED, REFUSED, DEAD
    }

    /** Called after it is committed. */
    void delivery(Happened happened);
}
