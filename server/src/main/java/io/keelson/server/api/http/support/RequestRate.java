package io.keelson.server.api.http.support;

import io.keelson.api.tenant.LimitName;
import io.keelson.server.tenant.auth.Caller;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Request rate limit per API key. Reports the remaining requests in the headers of draft-ietf-httpapi-ratelimit-headers. */
public final class RequestRate {

    private final MinuteBuckets<UUID> keys;

    public RequestRate(LongSupplier nanoTime) {
        this.keys = new MinuteBuckets<>(nanoTime);
    }

    /** Counts a request; null where the key has no limit. */
    MinuteBuckets.@Nullable State count(Caller caller) {
        Long limit = caller.limits().of(LimitName.REQUESTS_PER_MINUTE);
        return limit == null ? null : keys.count(caller.keyId(), Math.max(1, limit));
    }
}
