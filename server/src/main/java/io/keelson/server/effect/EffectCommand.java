package io.keelson.server.effect;

import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command as it stands.
 *
 * @param idempotencyKey null where none was given
 * @param requestHash of the payload and the target
 * @param targetId the deployment or order that it acts upon; null for one that makes something
 * @param idempotent whether the adapter said, when the command was accepted, that repeating it does no harm
 * @param uncertain an attempt was made of which nobody knows whether it arrived
 * @param leaseEpoch the fence of whoever is at it; grows with each attempt
 * @param wakeAt when somebody looks after it; null once it has ended
 * @param response the adapter's; null unless it completed
 * @param actor who asked: a principal's name, or the run
 */
public record EffectCommand(UUID id, UUID workspaceId, String type, Source source, @Nullable String idempotencyKey,
        String requestHash, ObjectNode payload, @Nullable UUID targetId, String adapter, boolean idempotent,
        String providerKey, @Nullable String providerReference, State state, boolean uncertain, int attempts,
        int leaseEpoch, @Nullable Instant wakeAt, @Nullable ObjectNode response, @Nullable String errorCode,
        @Nullable String errorMessage, String actor, String actorKind, @Nullable UUID runId, @Nullable UUID stepId,
        Instant createdAt, Instant updatedAt, @Nullable Instant completedAt) {

    /** Gate4's names, and one for what it has no name for: nobody knows whether it was done. */
    public enum State {
        EXECUTING, AWAITING_TOOL, COMPLETED, FAILED, UNKNOWN;

        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }

        static State of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    /** Whose keys are meant: clients' or steps'. Neither can name the other's. */
    public enum Source {
        API, STEP;

        String wire() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Source of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    /** What is to be done about it by people; null where nothing is. */
    public @Nullable String advice() {
        return state != State.UNKNOWN ? null
                : "Nobody knows whether it was done, so it is not repeated. Look at the provider for the idempotency key "
                        + providerKey + "; where it does not know it, ask again under a new key.";
    }
}
