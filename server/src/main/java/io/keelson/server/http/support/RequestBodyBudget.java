package io.keelson.server.http.support;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The memory for bodies of all requests under way. A workspace may hold as much as it leaves free, so that one that holds
 * all it may still leaves half to the others.
 */
public final class RequestBodyBudget {

    private static final String RETRY_DELAY = "1";

    private final long maxBytes;
    private final Map<@Nullable UUID, Long> taken = new HashMap<>();
    private long total;

    public RequestBodyBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Reserves memory; the caller gives it back.
     *
     * @param workspace null for requests without a key
     * @throws ApiProblem OVERLOADED when there is not so much; nothing is reserved then
     */
    synchronized void take(@Nullable UUID workspace, int bytes) {
        long own = taken.getOrDefault(workspace, 0L) + bytes;
        if (own > maxBytes - total - bytes) {
            throw ApiProblem.of(ErrorCode.OVERLOADED, "too many large requests are in progress; nothing was changed")
                    .header("Retry-After", RETRY_DELAY);
        }
        taken.put(workspace, own);
        total += bytes;
    }

    synchronized void giveBack(@Nullable UUID workspace, long bytes) {
        taken.computeIfPresent(workspace, (id, own) -> own == bytes ? null : own - bytes);
        total -= bytes;
    }
}
