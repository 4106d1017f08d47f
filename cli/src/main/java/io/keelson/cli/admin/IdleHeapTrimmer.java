package io.keelson.cli.admin;

import java.time.Duration;

/**
 * Returns memory to the system after a busy period. The heap shrinks only at a full collection, which an idle server
 * never triggers.
 */
final class IdleHeapTrimmer {

    /** How often to look. */
    static final Duration PERIOD = Duration.ofSeconds(20);

    /** More than an idle server allocates between two checks, and much less than a busy one. */
    private static final long IDLE_BYTES = 8 << 20;

    private final Runtime runtime;
    private long total;
    private long used;

    IdleHeapTrimmer(Runtime runtime) {
        this.runtime = runtime;
        this.total = runtime.totalMemory();
    }

    /** Collects when little was allocated since the last look, and the heap is larger than after the last such time. */
    void look() {
        long before = used;
        used = used();
        boolean idle = used >= before && used - before < IDLE_BYTES;
        if (idle && runtime.totalMemory() > total) {
            runtime.gc();
            total = runtime.totalMemory();
            used = used();
        }
    }

    private long used() {
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
