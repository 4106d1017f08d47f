package io.keelson.server.annex.effect;

import io.keelson.server.base.json.Json;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Commands, and the objects that they created, as documents. */
final class CommandDocuments {

    private CommandDocuments() {}

    static ObjectNode of(EffectCommand command) {
        ObjectNode document = Json.object().put("id", command.id().toString())
                .put("workspace_id", command.workspaceId().toString()).put("type", command.type())
                .put("state", command.state().wire()).put("idempotency_key", command.idempotencyKey())
                .put("request_hash", command.requestHash());
        document.set("payload", command.payload());
        document.put("target_id", text(command.targetId())).put("adapter", command.adapter())
                .put("idempotent", command.idempotent()).put("provider_key", command.providerKey())
                .put("provider_reference", command.providerReference()).put("attempts", command.attempts())
                .put("next_look_at", Json.time(command.wakeAt()));
        document.set("response", command.response());
        return document.put("error_code", command.errorCode()).put("error_message", command.errorMessage())
                .put("advice", command.advice()).put("actor", command.actor()).put("actor_kind", command.actorKind())
                .put("run_id", text(command.runId())).put("step_id", text(command.stepId()))
                .put("created_at", Json.time(command.createdAt())).put("updated_at", Json.time(command.updatedAt()))
                .put("completed_at", Json.time(command.completedAt()));
    }

    /**
     * A deployment or an order.
     *
     * @param maker the command that made it
     * @param now the adapter's current data; null if the adapter no longer finds the object
     */
    static ObjectNode made(EffectCommand maker, @Nullable ObjectNode now) {
        ObjectNode document = Json.object().put("id", maker.id().toString());
        document.setAll(maker.payload());
        document.put("status", now == null ? null : now.path("status").asString(null));
        document.put("provider_reference", maker.providerReference()).put("adapter", maker.adapter())
                .put("created_by", maker.actor()).put("run_id", text(maker.runId()))
                .put("created_at", Json.time(maker.createdAt()));
        document.set("provider", now);
        return document;
    }

    private static @Nullable String text(@Nullable UUID id) {
        return id == null ? null : id.toString();
    }
}
