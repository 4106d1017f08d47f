package io.keelson.server.api.http.streams;

import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StateType;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.base.json.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Events as texts of event streams. */
final class EventTexts {

    private EventTexts() {}

    /** An event of a run's stream, whose id is its number in the run. */
    static byte[] numbered(ObjectNode event) {
        return text(event.get("seq").asString(), named(event));
    }

    /** One event of a stream. */
    static byte[] text(String id, ObjectNode data) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        text.writeBytes(("id: " + id + "\nevent: " + data.get("type").stringValue() + "\ndata: ")
                .getBytes(StandardCharsets.UTF_8));
        text.writeBytes(Json.write(data));
        text.writeBytes("\n\n".getBytes(StandardCharsets.UTF_8));
        return text.toByteArray();
    }

    /** The event with the members that the run lifecycle contract puts before it: a type and its subject. */
    static ObjectNode named(ObjectNode event) {
        ObjectNode data = Json.object();
        String type = event.get("event_type").stringValue();
        JsonNode payload = event.path("payload");
        String status = status(type, event);
        if (status != null) {
            data.put("type", "run.status.changed").set("runId", event.get("run_id"));
            data.put("status", status);
        } else if (type.equals("step_completed")) {
            data.put("type", "run.step.completed").set("runId", event.get("run_id"));
            data.set("step", event.get("step"));
        } else if (type.equals("proposal_created")) {
            data.put("type", "proposal.created").set("runId", event.get("run_id"));
            data.put("proposalId", IdKind.PROPOSAL.prefixed(UUID.fromString(payload.get("proposal_id").stringValue())));
        } else {
            data.put("type", type).set("runId", event.get("run_id"));
        }
        data.setAll(event);
        return type.equals("step_completed") ? data : data.without(List.of("step"));
    }

    /** The run's new status in that contract's words; null where it has none. */
    private static @Nullable String status(String type, ObjectNode event) {
        JsonNode payload = event.path("payload");
        if (type.equals("run_created")) {
            return status(RunState.CREATED, Circumstance.USUAL);
        }
        if (!event.get("task_id").isNull() || !event.get("agent_id").isNull() || !payload.path("to").isString()) {
            return null;
        }
        RunState from = RunState.of(payload.path("from").stringValue());
        boolean begins = payload.path("begins").booleanValue(false);
        Circumstance before = begins ? Circumstance.NOT_BEGUN : Circumstance.USUAL;
        Circumstance after = from.type() == StateType.PENDING ? Circumstance.NOT_BEGUN : Circumstance.USUAL;
        String status = status(RunState.of(payload.path("to").stringValue()), after);
        return status.equals(status(from, before)) ? null : status;
    }

    private static String status(RunState state, Circumstance when) {
        return Contracts.LIFECYCLE.run().of(state, when);
    }
}
