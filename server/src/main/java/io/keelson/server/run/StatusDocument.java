package io.keelson.server.run;

import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.RunState;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The status document of the run lifecycle contract (run-lifecycle §3), member for member and in its order. */
public final class StatusDocument {

    /** The contract has one word for whatever took too long (run-lifecycle §5.3). */
    private static final Set<String> TOO_LONG = Set.of("RUN_TIMEOUT", "TASK_TIMEOUT", "STEP_TIMEOUT");
    private static final String PREFIX = "run_";
    private static final String TIMEOUT = "AGENT_TIMEOUT";

    private StatusDocument() {}

    /** @param row as {@link RunReader#status} answers it */
    public static ObjectNode of(UUID run, ObjectNode row) {
        RunState state = RunState.of(row.get("state").stringValue());
        ObjectNode document = Texts.JSON.createObjectNode();
        document.put("run_id", PREFIX + run);
        document.set("agent_slug", row.get("agent_slug"));
        document.put("status", Contracts.LIFECYCLE.run().of(state, Circumstance.USUAL));
        document.set("trigger", row.get("trigger"));
        document.set("started_at", row.get("started_at"));
        document.set("finished_at", row.get("finished_at"));
        document.set("current_step", row.get("current_step"));
        document.set("steps_total", row.get("steps_total"));
        document.set("steps_completed", row.get("steps_completed"));
        document.set("proposals_created", row.get("proposals_created"));
        return document.put("error", error(row));
    }

    private static @Nullable String error(ObjectNode row) {
        String code = row.path("error_code").asString("");
        String message = row.path("error_message").asString("");
        return code.isEmpty() ? null : (TOO_LONG.contains(code) ? TIMEOUT : code) + ": " + message;
    }
}
