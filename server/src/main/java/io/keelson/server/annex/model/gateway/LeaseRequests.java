package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.db.SharedReads;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.engine.store.read.GatewayRecords.Found;
import io.keelson.server.engine.store.read.GatewayRecords.Keys;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests of one lease at this server. */
final class LeaseRequests {
    private static final Duration ORPHANS = Duration.ofSeconds(5);
    private static final int IN_FLIGHT = 128;
    /** Counts of tokens, which no limit of money bounds. */
    private static final int COUNTS_IN_FLIGHT = 8;
    private static final int TOO_MANY = 429;

    private final WorkspaceRequests ofWorkspaces;
    private final UUID workspace;
    private final SharedReads<Keys, List<Found>> finds;
    private final Occurrences occurrences;
    private final ResponseIds responses = new ResponseIds();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final Semaphore counts = new Semaphore(COUNTS_IN_FLIGHT);
    private final AtomicLong orphansClosedAt = new AtomicLong(Long.MIN_VALUE);
    private final AtomicLong recordedBytes = new AtomicLong(-1);
    private final Semaphore wakes = new Semaphore(0);
    /** Null before it was read. */
    private volatile @Nullable Boolean exactOutput;
    /** Null before they were read. */
    private volatile @Nullable List<UUID> sources;

    LeaseRequests(WorkspaceRequests ofWorkspaces, UUID workspace,
            Function<List<Keys>, List<List<Found>>> records) {
        this.ofWorkspaces = ofWorkspaces;
        this.workspace = workspace;
        this.finds = new SharedReads<>(IN_FLIGHT, records);
        this.occurrences = new Occurrences(() -> ofWorkspaces.share(workspace));
    }

    /**
     * A user of a request: its client, or the sender of the answer. The request is in flight, and takes memory of its workspace, until all
     * of its users have ended.
     */
    final class InFlight implements AutoCloseable {
        private final DocumentMemory.Share memory;
        private final AtomicInteger users;
        private final AtomicBoolean closed = new AtomicBoolean();

        private InFlight(DocumentMemory.Share memory, AtomicInteger users) {
            this.memory = memory;
            this.users = users;
            users.incrementAndGet();
        }

        /** A further user of the request. */
        InFlight shared() {
            return new InFlight(memory, users);
        }

        /** @throws GatewayError {@code too_many_requests} */
        void take(long bytes) throws GatewayError {
            WorkspaceRequests.take(memory, bytes);
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true) && users.decrementAndGet() == 0) {
                memory.close();
                inFlight.decrementAndGet();
                ofWorkspaces.end(workspace);
            }
        }
    }

    Occurrences occurrences() {
        return occurrences;
    }

    /** The records with one of the keys; requests at the same time have one query, and one connection. */
    List<Found> find(Keys keys) {
        return finds.read(keys);
    }

    ResponseIds responses() {
        return responses;
    }

    /**
     * Begins a request.
     *
     * @param bytes of memory that it takes at once
     * @throws GatewayError {@code too_many_requests}
     */
    InFlight begin(long bytes) throws GatewayError {
        if (inFlight.incrementAndGet() > IN_FLIGHT) {
            inFlight.decrementAndGet();
            throw tooMany(IN_FLIGHT + " requests");
        }
        try {
            ofWorkspaces.begin(workspace);
        } catch (GatewayError e) {
            inFlight.decrementAndGet();
            throw e;
        }
        InFlight begun = new InFlight(ofWorkspaces.share(workspace), new AtomicInteger());
        try {
            begun.take(bytes);
        } catch (GatewayError e) {
            begun.close();
            throw e;
        }
        return begun;
    }

    private static GatewayError tooMany(String what) {
        return new GatewayError(TOO_MANY, "too_many_requests", "the step has " + what + " in flight")
                .header("retry-after", "1");
    }

    /** @throws GatewayError {@code too_many_requests} */
    void beginCount() throws GatewayError {
        if (!counts.tryAcquire()) {
            throw tooMany(COUNTS_IN_FLIGHT + " counts of tokens");
        }
    }

    void endCount() {
        counts.release();
    }

    /** The length of all recorded answers; -1 before it was read. */
    AtomicLong recordedBytes() {
        return recordedBytes;
    }

    /**
     * Whether the run refuses requests whose bound of output its limits do not pay.
     *
     * @param read reads it once
     */
    boolean exactOutput(BooleanSupplier read) {
        Boolean known = exactOutput;
        if (known == null) {
            known = read.getAsBoolean();
            exactOutput = known;
        }
        return known;
    }

    /**
     * The steps whose records answer its requests.
     *
     * @param read reads them once
     */
    List<UUID> sources(Supplier<List<UUID>> read) {
        List<UUID> known = sources;
        if (known == null) {
            known = read.get();
            sources = known;
        }
        return known;
    }

    /** True once in a few seconds, when requests of servers that are gone are to be closed. */
    boolean orphansAreDue() {
        long now = System.nanoTime();
        long last = orphansClosedAt.get();
        return (last == Long.MIN_VALUE || now - last > ORPHANS.toNanos())
                && orphansClosedAt.compareAndSet(last, now);
    }

    /** Waits until a hold of the lease has ended, or for the time. */
    void awaitHold(Duration atMost) throws InterruptedException {
        var _ = wakes.tryAcquire(atMost.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** A hold has ended or leaves room: wakes one waiting request, which wakes the next if it is held. */
    void wakeOne() {
        if (wakes.availablePermits() == 0) {
            wakes.release();
        }
    }
}
