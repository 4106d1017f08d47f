package io.keelson.server.api.http.definitions;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.MinuteBuckets;
import java.util.UUID;

/**
 * Limits the test messages that a caller sends, so that a loop does not flood a receiver. Each server counts for itself and in memory: a shared
 * count would be a write for each message, and several servers allow that many times the number.
 */
public final class TestMessages {

    private static final int PER_MINUTE = 5;

    private record Caller(UUID workspace, String name) {}

    private final MinuteBuckets<Caller> sent = new MinuteBuckets<>(System::nanoTime);

    /** Counts a message of the caller; refuses it with 429 if the minute has had its number. */
    public void count(ApiRequest request) {
        MinuteBuckets.State rate =
                sent.count(new Caller(request.workspace(), request.actor().name()), PER_MINUTE);
        if (rate.exhausted()) {
            throw ApiProblem.of(ErrorCode.REQUEST_LIMIT_REACHED,
                    "a person or a key sends at most " + PER_MINUTE + " test messages a minute")
                    .header("Retry-After", Long.toString(rate.retryAfter()));
        }
    }
}
