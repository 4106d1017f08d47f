package io.keelson.server.annex.effect;

import io.keelson.server.base.db.RecordColumns.Column;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command and its state.
 *
 * @param idempotencyKey null if absent
 * @param requestHash of the payload and the target
 * @param targetId the deployment or order that it acts on; null for a command that creates it
 * @param idempotent whether the adapter allowed repeats when the command was accepted
 * @param uncertain an attempt was made that may have arrived
 * @param leaseEpoch the fence of the lease; rises with each attempt
 * @param wakeAt when it is checked next; null once it has ended
 * @param response the adapter's; null unless it completed
 * @param actor the requester: a principal's name, or the run
 */
record EffectCommand(UUID id, UUID workspaceId, String type, @Column("key_source") Source source,
        @Nullable String idempotencyKey,
        String requestHash, ObjectNode payload, @Nullable UUID targetId, String adapter, boolean idempotent,
        String providerKey, @Nullable String providerReference, State state, boolean uncertain, int attempts,
        int leaseEpoch, @Nullable Instant wakeAt, @Nullable ObjectNode response, @Nullable String errorCode,
        @Nullable String errorMessage, String actor, String actorKind, @Nullable UUID runId, @Nullable UUID stepId,
        Instant createdAt, Instant updatedAt, @Nullable Instant completedAt) {

    /** Gate4's names, and one for a state that it lacks: unknown whether it was done. */
    public enum State {
        EXECUTING, AWAITING_TOOL, COMPLETED, FAILED, UNKNOWN;

        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }

        static State of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    /** The namespace of keys: clients' or steps'. Neither can name the other's. */
    public enum Source {
        API, STEP;

        String wire() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Source of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    /** The action that people should take; null if absent. */
    public @Nullable String advice() {
        return state != State.UNKNOWN ? null
                : "It is unknown whether it was done, so it is not repeated. Look at the provider for the idempotency key "
                        + providerKey + "; where it does not know it, ask again under a new key.";
    }
}
