package io.keelson.server.outlet.webhook;

import io.keelson.core.run.TraceParent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The next message of an endpoint: one delivery, or the deliveries of a digest.
 *
 * @param contents in order, at least one
 * @param type of the first event
 * @param since when the first one was created
 * @param attempts at the first one
 * @param run the trace position of its run; null if absent
 * @param recipient of links for answers; null for messages without them
 * @param owner name of the principal that has added the endpoint for itself; null for an endpoint of the workspace
 * @param digest time for which deliveries are gathered; zero for one at a time
 * @param failing whether the last attempt at the endpoint failed
 * @param lost why there is no secret to sign with; null if there is one, and for messages for people
 */
record Outgoing(UUID endpoint, List<Content> contents, String type, Instant since, int attempts,
        @Nullable TraceParent run, UUID workspace, String url, EndpointFormat format, @Nullable String recipient,
        @Nullable String owner,
        @Nullable QuietHours quiet, Duration digest, boolean failing, List<SigningSecret> secrets,
        @Nullable String lost) {

    /** One delivery. */
    record Content(UUID id, String body) {}

    Outgoing with(List<Content> gathered) {
        return gathered.isEmpty() ? this
                : new Outgoing(endpoint, gathered, type, since, attempts, run, workspace, url, format, recipient, owner,
                        quiet, digest, failing, secrets, lost);
    }

    /** The id of the message for its receiver, the same at each attempt. */
    String id() {
        return Deliveries.wire(contents.getFirst().id);
    }

    /** Time until it may be sent: until the digest is complete, then until the end of quiet hours. */
    Duration wait(Instant now) {
        Duration gathers = Duration.between(now, since.plus(digest));
        Duration first = gathers.isPositive() && !digest.isZero() ? gathers : Duration.ZERO;
        return quiet == null ? first : first.plus(quiet.left(now.plus(first)));
    }
}
