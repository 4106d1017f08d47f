package io.keelson.bench.contender;

/** One system under test. Its constructor starts it on an empty database; closing it stops all that it started. */
public interface Contender extends AutoCloseable {

    /** Does runs in a closed loop and measures them. */
    WorkloadResult load(Load load) throws Exception;

    /** Accepts so many runs of one step that do not begin before {@link #drain}. */
    default void preload(int count) throws Exception {
        throw new UnsupportedOperationException("has no queue that can be filled beforehand");
    }

    /**
     * Executes the preloaded work until it is done or the time is over.
     *
     * @param seconds the time
     */
    default WorkloadResult drain(double seconds) throws Exception {
        throw new UnsupportedOperationException("has no queue that can be filled beforehand");
    }

    /** Stops the other servers; that number does all further work. */
    default void keep(int servers) throws Exception {
        throw new UnsupportedOperationException("has no servers to choose from");
    }

    /** Claims preloaded work as a worker does, so many times so much, and reports nothing: how long does a claim take? */
    default WorkloadResult claim(int claims, int each) throws Exception {
        throw new UnsupportedOperationException("has no claims of its own");
    }
}
