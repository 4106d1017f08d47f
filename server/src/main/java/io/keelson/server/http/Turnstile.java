package io.keelson.server.http;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * While several workspaces make runs, so many of each are made at a time, the others wait in line: who submits thousands
 * takes the processors in turn with everybody else. A workspace that is alone passes freely. For any number of threads.
 */
final class Turnstile {
    /** For how long one that has come is reckoned with. */
    private static final long A_WHILE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final Turn FREE = () -> {
    };

    private final int atOnce;
    private final LongSupplier nanoTime;
    private final Map<UUID, Semaphore> lines = new ConcurrentHashMap<>();
    private @Nullable UUID last;
    private long lastCame;
    private boolean shared;
    private long sharedUntil;

    /** @param atOnce how many of one workspace are made at a time */
    Turnstile(int atOnce, LongSupplier nanoTime) {
        this.atOnce = atOnce;
        this.nanoTime = nanoTime;
    }

    /** Held while a run is being made. */
    interface Turn extends AutoCloseable {
        @Override
        void close();
    }

    /** Waits for a turn. */
    Turn enter(UUID workspace) throws InterruptedException {
        if (!shared(workspace)) {
            return FREE;
        }
        Semaphore line = lines.computeIfAbsent(workspace, id -> new Semaphore(atOnce, true));
        line.acquire();
        return line::release;
    }

    private synchronized boolean shared(UUID workspace) {
        long now = nanoTime.getAsLong();
        if (last != null && !last.equals(workspace) && now - lastCame < A_WHILE_NANOS) {
            shared = true;
            sharedUntil = now + A_WHILE_NANOS;
        }
        last = workspace;
        lastCame = now;
        shared = shared && now - sharedUntil < 0;
        return shared;
    }
}
