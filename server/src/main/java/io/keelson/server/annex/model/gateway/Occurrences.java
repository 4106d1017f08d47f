package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.EqualRequests;
import io.keelson.server.api.http.gateway.EqualRequests.Occurrence;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.engine.store.read.GatewayRecords;
import io.keelson.server.engine.store.read.GatewayRecords.Found;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests of one lease, their sources, and recent refusals. Thread-safe. */
final class Occurrences {
    private static final long REFUSED_NANOS = 5_000_000_000L;
    /** A program may send ever new requests that no limit pays. */
    private static final int MAX_REFUSED = 1_000;
    private static final Duration READERS_TIMEOUT = Duration.ofSeconds(30);

    private final EqualRequests<Source> requests = new EqualRequests<>();
    private final Supplier<DocumentMemory.Share> memory;
    private final Map<String, Refused> refused = new HashMap<>();
    private int replayed;
    private int sent;

    private record Refused(GatewayError error, String limits, long at) {}

    /** @param memory the memory of each exchange for events that clients have not read */
    Occurrences(Supplier<DocumentMemory.Share> memory) {
        this.memory = memory;
    }

    /**
     * The source of an answer.
     *
     * @param exchange an exchange that this server has begun; null for a record
     * @param fresh true for an exchange, which the first client of the occurrence begins
     * @param alike whether the record differs in parts that do not count
     */
    record Source(@Nullable Exchange exchange, boolean fresh, boolean alike) {}

    /**
     * The occurrence of a request. The records were read before, without a lock: an answer that was recorded or lost since then is found
     * so where it is delivered.
     *
     * @param records of requests with one of the keys, in the order in which they were sent
     * @param under the id for a request that has to be sent
     * @param flying an exchange of this server that has not ended, by its id; gives null for others
     * @param gone whether the client of the request is gone; also names the client when it leaves
     */
    synchronized Occurrence<Source> enter(ProgramRequest request, List<Found> records, UUID under,
            Function<UUID, @Nullable Exchange> flying, BooleanSupplier gone) {
        String k1 = request.keys().k1();
        return requests.enter(k1, request.retry(), gone, unused -> {
            Found found = preferred(records.stream().filter(each -> unused.test(each.id())).toList(), k1);
            if (found == null) {
                sent++;
                return new Occurrence<>(under,
                        new Source(new Exchange(under, request.stream(), memory.get(), READERS_TIMEOUT), true, false));
            }
            replayed++;
            return new Occurrence<>(found.id(), new Source(found.answered() ? null : flying.apply(found.id()), false,
                    !found.k1().equals(k1)));
        });
    }

    private static @Nullable Found preferred(List<Found> unused, String k1) {
        return unused.stream().filter(each -> each.k1().equals(k1)).findFirst()
                .orElse(unused.isEmpty() ? null : unused.getFirst());
    }

    /** A client leaves. */
    void leave(Occurrence<Source> occurrence, BooleanSupplier client, boolean delivered) {
        requests.leave(occurrence, client, delivered);
    }

    /** The request has no answer, and counts no more. */
    synchronized void forget(ProgramRequest request, Occurrence<Source> occurrence) {
        if (requests.forget(request.keys().k1(), occurrence)) {
            sent -= occurrence.facts().fresh() ? 1 : 0;
            replayed -= occurrence.facts().fresh() ? 0 : 1;
        }
    }

    /**
     * A limit does not pay the request; it is refused again for a while.
     *
     * @param limits as {@link GatewayRecords#limits} has them
     */
    synchronized void refuse(String k1, GatewayError error, String limits) {
        if (refused.size() >= MAX_REFUSED) {
            refused.clear();
        }
        refused.put(k1, new Refused(error, limits, System.nanoTime()));
    }

    /**
     * The recent refusal of an equal request under the same limits; null if absent.
     *
     * @param limits reads the present ones
     */
    @Nullable GatewayError refusal(String k1, Supplier<String> limits) {
        Refused last;
        synchronized (this) {
            last = refused.get(k1);
        }
        if (last == null || System.nanoTime() - last.at <= REFUSED_NANOS && limits.get().equals(last.limits)) {
            return last == null ? null : last.error;
        }
        synchronized (this) {
            refused.remove(k1, last);
        }
        return null;
    }

    /** Requests whose answers were replayed. */
    synchronized int replayed() {
        return replayed;
    }

    /** Whether a further request is the first new one after replayed ones. */
    synchronized boolean diverges() {
        return replayed > 0 && sent == 1;
    }
}
