package io.keelson.server.engine.execute;

import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Trace positions of runs and their steps, for systems that are called on their behalf. */
public interface Tracing {

    /** Without spans a run's given position is passed on unchanged. */
    Tracing NONE = new Tracing() {};

    /** The run's span; null if absent. */
    default @Nullable TraceParent ofRun(RunTrace trace) {
        return trace.given();
    }

    /** The span of a lease on one of its steps; null if absent. */
    default @Nullable TraceParent ofStep(RunTrace trace, UUID step, int leaseEpoch) {
        return ofRun(trace);
    }
}
