package io.keelson.server.annex.effect;

import io.keelson.api.Absent;
import io.keelson.api.work.ExternalCommand;
import io.keelson.server.base.json.Json;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Commands, and the objects that they created, as documents. */
final class CommandDocuments {

    private CommandDocuments() {}

    static ObjectNode of(EffectCommand command) {
        return Json.document(new ExternalCommand(command.id().toString(), command.workspaceId().toString(),
                command.type(), command.state().wire(), command.idempotencyKey(), command.requestHash(),
                command.payload(), text(command.targetId()), command.adapter(), command.idempotent(),
                command.providerKey(), command.providerReference(), command.attempts(), command.wakeAt(),
                Absent.asNull(command.response()), command.errorCode(), command.errorMessage(), command.advice(),
                command.actor(), command.actorKind(), text(command.runId()), text(command.stepId()),
                command.createdAt(), command.updatedAt(), command.completedAt()));
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
