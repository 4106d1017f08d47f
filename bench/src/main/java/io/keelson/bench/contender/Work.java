package io.keelson.bench.contender;

/** One run's worth of work; every step is trivial. */
public enum Work {
    /** Ten steps, one after the other. */
    TEN_STEPS,
    /** Ten steps, each of which reports a cost. */
    TEN_CHARGED_STEPS,
    /** Ten steps, each of which reads the output of the one before. */
    TEN_LINKED_STEPS,
    /** Ten steps, each of which is committed before the next one begins. */
    TEN_DURABLE_STEPS,
    /** One step: the nearest there is to a job without steps. */
    ONE_STEP,
    /** Ten tasks of one step: nine side by side, then a task that joins them. */
    TEN_TASKS,
    /** Option {@code stages} (100) times: ninety-nine tasks of one step side by side, and a task that joins them. */
    BIG_RUN,
    /** One task, option {@code items} (1,000) made from its output, and a task that joins them. */
    FAN_OUT,
    /** Ten steps whose tool a remote worker serves. */
    TEN_REMOTE_STEPS,
    /** Ten steps whose tool a remote worker serves, each of which is committed before the next one begins. */
    TEN_DURABLE_REMOTE_STEPS
}
