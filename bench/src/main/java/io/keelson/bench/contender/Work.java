package io.keelson.bench.contender;

/** One run's worth of work; every step is trivial. */
public enum Work {
    /** Ten steps, one after the other. */
    TEN_STEPS,
    /** One step: the nearest there is to a job without steps. */
    ONE_STEP,
    /** Ten tasks of one step: nine side by side, then one that joins them. */
    TEN_TASKS,
    /** Ten thousand tasks of one step: a hundred times ninety-nine side by side and one that joins them. */
    TEN_THOUSAND_TASKS,
    /** One task, a thousand made from its output, one that joins them. */
    FAN_OUT,
    /** Ten steps whose tool a remote worker serves. */
    TEN_REMOTE_STEPS,
    /** One step that holds its lease for half a minute. */
    LONG_STEP
}
