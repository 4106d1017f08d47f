package io.keelson.server.engine.execute;

import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Where in a trace a run and its steps are, for whoever is told or called on their behalf. */
public interface Tracing {

    /** Where nobody makes spans, what came with a run is handed on as it came. */
    Tracing NONE = new Tracing() {};

    /** The run's span; null where there is none. */
    default @Nullable TraceParent ofRun(RunTrace trace) {
        return trace.given();
    }

    /** The span of a lease on one of its steps; null where there is none. */
    default @Nullable TraceParent ofStep(RunTrace trace, UUID step, int leaseEpoch) {
        return ofRun(trace);
    }
}
