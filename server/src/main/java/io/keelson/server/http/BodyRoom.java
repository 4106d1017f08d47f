package io.keelson.server.http;

import java.util.concurrent.atomic.AtomicLong;

/** Room for the bodies of all requests that are under way: who finds none is told to come again. */
final class BodyRoom {

    private static final String SOON = "1";

    private final long maxBytes;
    private final AtomicLong taken = new AtomicLong();

    BodyRoom(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Takes room; whoever took it gives it back.
     *
     * @throws Refusal OVERLOADED when there is not so much; nothing is taken then
     */
    void take(int bytes) {
        if (taken.addAndGet(bytes) > maxBytes) {
            taken.addAndGet(-bytes);
            throw Refusal.of(ErrorCode.OVERLOADED, "too many large requests are under way; nothing was changed")
                    .header("Retry-After", SOON);
        }
    }

    void giveBack(long bytes) {
        taken.addAndGet(-bytes);
    }
}
