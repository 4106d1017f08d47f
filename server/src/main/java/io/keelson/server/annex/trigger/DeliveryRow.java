package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.TriggerDelivery;
import io.keelson.server.base.json.Json;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A stored delivery.
 *
 * @param formedAt time at which it was chosen to start the run of its group; null before, and without a group
 * @param groupKey key of its group; null without one
 */
record DeliveryRow(UUID id, UUID workspaceId, UUID triggerId, String key, UUID runId, State state, int repeats,
        int failures, @Nullable String errorCode, @Nullable String errorMessage, Instant receivedAt,
        Instant dueAt,
        @Nullable Instant decidedAt, @Nullable Instant formedAt, @Nullable String groupKey, ObjectNode headers,
        JsonNode body) {

    /** The outcome of a delivery. */
    enum State {
        /** Not decided yet. */
        PENDING,
        /** Has a run. */
        STARTED,
        /** Has signalled a run that existed. */
        SIGNALLED,
        /** Is part of the run of other deliveries. */
        MERGED,
        /** A rule of the trigger gives it no run. */
        DROPPED,
        /** Its inputs fit no run. */
        REFUSED,
        /** The start of its run failed repeatedly. */
        DEAD;

        String wire() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether a delivery in the state has a run, or gets it. */
        boolean hasRun() {
            return this == PENDING || this == STARTED || this == SIGNALLED || this == MERGED;
        }
    }

    private @Nullable String shownRun(boolean signals) {
        boolean waits = state == State.PENDING && (signals || groupKey != null && formedAt == null);
        return state.hasRun() && !waits ? runId.toString() : null;
    }

    /** Before its first decision it does not wait: the time is that until which a server has it for the decision. */
    private @Nullable Instant shownDue() {
        return state == State.PENDING && errorCode != null ? dueAt : null;
    }

    /**
     * The whole document, as the API shows it.
     *
     * @param signals whether its trigger signals runs: a delivery that waits has no run then
     */
    ObjectNode document(boolean signals) {
        return Json
                .document(new TriggerDelivery(id.toString(), triggerId.toString(), key, state.wire(), shownRun(signals),
                        repeats, failures, errorCode, errorMessage, receivedAt, shownDue(),
                        decidedAt, headers, body));
    }

    /** The document in lists. */
    ObjectNode listItem(boolean signals) {
        ObjectNode document = document(signals);
        document.remove("headers");
        document.remove("body");
        return document;
    }
}
