package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.LifecycleError;
import io.keelson.core.lifecycle.RunState;
import io.keelson.server.base.json.Json;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The status document of the run lifecycle contract, member for member and in its order. */
public final class StatusDocument {

    private static final String PREFIX = "run_";

    private StatusDocument() {}

    /** @param row as {@link RunReader#status} returns it */
    public static ObjectNode of(UUID run, ObjectNode row) {
        RunState state = RunState.of(row.get("state").stringValue());
        ObjectNode document = Json.object();
        document.put("run_id", PREFIX + run);
        document.set("agent_slug", row.get("agent_slug"));
        document.put("status", Contracts.LIFECYCLE.run().of(state, start(row)));
        document.set("trigger", row.get("trigger"));
        document.set("started_at", row.get("started_at"));
        document.set("finished_at", row.get("finished_at"));
        document.set("current_step", row.get("current_step"));
        document.set("steps_total", row.get("steps_total"));
        document.set("steps_completed", row.get("steps_completed"));
        document.set("proposals_created", row.get("proposals_created"));
        return document.put("error", error(row));
    }

    /** Whether a run has begun, by {@code begun} of a row. */
    public static Circumstance start(ObjectNode row) {
        return Circumstance.ofStart(row.get("begun").booleanValue());
    }

    /**
     * The contract's error for a run that failed; empty for other runs, and for an error that keeps its own code.
     *
     * @param row with the columns of {@link ReadSql#failure}
     */
    public static Optional<LifecycleError> errorOf(ObjectNode row) {
        String code = row.path("error_code").asString("");
        return code.isEmpty() || !RunState.FAILED.wire().equals(row.get("state").stringValue()) ? Optional.empty()
                : LifecycleError.of(code, row.path("error_of_turn").asBoolean(false),
                        row.path("error_retried").asBoolean(false));
    }

    /** The number of failed parts of a completed run; the contract has no state of its own for it. */
    private static @Nullable String error(ObjectNode row) {
        String code = row.path("error_code").asString("");
        if (code.isEmpty()) {
            int failures = row.path("failures").asInt(0);
            boolean ended = RunState.of(row.get("state").stringValue()).terminal();
            return ended && failures > 0 ? "COMPLETED_WITH_FAILURES: " + failures : null;
        }
        return errorOf(row).map(LifecycleError::name).orElse(code) + ": " + row.path("error_message").asString("");
    }
}
