package io.keelson.server.base.log;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The context of this thread's log entries, until it is closed; JSON entries have it under {@code mdc}. Open it around
 * a log entry, not around work: most work is never logged.
 */
public final class LogContext implements AutoCloseable {

    public static final String WORKSPACE = "workspace_id";
    public static final String RUN = "run_id";
    public static final String TASK = "task_id";
    public static final String STEP = "step_id";
    public static final String NODE = "node_id";

    private final List<String> names = new ArrayList<>();

    private LogContext() {}

    /** A run. */
    public static LogContext run(UUID run) {
        return new LogContext().and(RUN, run);
    }

    /** The context of a client's request. */
    public static LogContext workspace(@Nullable UUID workspace) {
        return new LogContext().and(WORKSPACE, workspace);
    }

    /** Also about that; null adds nothing. */
    public LogContext and(String name, @Nullable Object value) {
        if (value != null) {
            MDC.put(name, value.toString());
            names.add(name);
        }
        return this;
    }

    @Override
    public void close() {
        names.forEach(MDC::remove);
    }
}
