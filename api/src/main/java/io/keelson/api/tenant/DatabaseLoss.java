package io.keelson.api.tenant;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A time that the database went back: it lacked commits that a server remembered.
 *
 * @param id id of the entry
 * @param foundAt when the server noticed it
 * @param foundBy the server's own name
 * @param runId run of the first event that is gone, as far as that server knew the events
 * @param seq number of the first event that is gone, in its run
 * @param eventAt time of the first event that is gone
 * @param commits commits that are gone and that the server remembered; more may be gone
 * @param readAfter id of an event that is still there; readers of the feed begin again after it
 * @param acceptedAt when an operator decided to continue; null before
 * @param acceptedBy name of the operator's key; null before
 */
public record DatabaseLoss(UUID id, Instant foundAt, String foundBy, UUID runId, long seq, Instant eventAt, int commits,
        long readAfter, @Nullable Instant acceptedAt, @Nullable String acceptedBy) {}
