package io.keelson.server.engine.upkeep;

import java.time.Duration;

/** The times at which rows of long-ended runs are moved: they wait for days, so no sweep is urgent. */
final class Sweeps {
    static final Duration INTERVAL = Duration.ofMinutes(10);
    /** Most time before the first one of a server. */
    static final Duration FIRST = Duration.ofMinutes(1);

    private Sweeps() {}
}
