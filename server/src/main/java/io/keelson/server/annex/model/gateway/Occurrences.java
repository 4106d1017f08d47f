package io.keelson.server.annex.model.gateway;

import io.keelson.server.engine.store.read.GatewayRecords;
import io.keelson.server.engine.store.read.GatewayRecords.Found;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which requests of one lease have used which records. Equal requests use equal records in their order, each record once. A request
 * whose answer its client has not got to the end is repeated by the next equal one, and not counted again.
 */
final class Occurrences {
    private static final long REFUSED_NANOS = 5_000_000_000L;

    private final Set<UUID> used = new HashSet<>();
    private final Map<String, List<Occurrence>> byKey = new HashMap<>();
    private final Map<String, Refused> refused = new HashMap<>();
    private int replayed;
    private int sent;

    private record Refused(GatewayError error, long at) {}

    /** A request of the lease: a record or an exchange, and its clients. */
    static final class Occurrence {
        private final UUID id;
        private final @Nullable Exchange exchange;
        private final boolean fresh;
        private final boolean alike;
        /** A client is gone when its value is true. */
        private final List<BooleanSupplier> clients = new ArrayList<>();
        private boolean delivered;

        private Occurrence(UUID id, @Nullable Exchange exchange, boolean fresh, boolean alike) {
            this.id = id;
            this.exchange = exchange;
            this.fresh = fresh;
            this.alike = alike;
        }

        UUID id() {
            return id;
        }

        /** The exchange that this server has begun; null for a record. */
        @Nullable Exchange exchange() {
            return exchange;
        }

        /** True for an exchange, which the first client of the occurrence begins. */
        boolean fresh() {
            return fresh;
        }

        /** Whether the record differs in parts that do not count. */
        boolean alike() {
            return alike;
        }
    }

    /**
     * The occurrence of a request.
     *
     * @param under the id for a request that has to be sent
     * @param flying an exchange of this server that has not ended, by its id; gives null for others
     * @param gone whether the client of the request is gone; also names the client when it leaves
     */
    synchronized Occurrence enter(ProgramRequest request, GatewayRecords records, UUID step, UUID under,
            Function<UUID, @Nullable Exchange> flying, BooleanSupplier gone) {
        List<Occurrence> equal = byKey.computeIfAbsent(request.keys().k1(), _ -> new ArrayList<>());
        Occurrence again = repeated(equal, request.retry());
        if (again != null) {
            again.clients.add(gone);
            return again;
        }
        Found found = find(records.find(step, request.keys().k1(), request.keys().k2()), request.keys().k1());
        Occurrence next = found == null ? new Occurrence(under, new Exchange(under, request.stream()), true, false)
                : new Occurrence(found.id(), found.answered() ? null : flying.apply(found.id()), false,
                        !found.k1().equals(request.keys().k1()));
        used.add(next.id);
        equal.add(next);
        next.clients.add(gone);
        if (next.fresh) {
            sent++;
        } else {
            replayed++;
        }
        return next;
    }

    private static @Nullable Occurrence repeated(List<Occurrence> equal, boolean retry) {
        for (Occurrence each : equal) {
            if (!each.delivered && each.clients.stream().allMatch(BooleanSupplier::getAsBoolean)) {
                return each;
            }
        }
        return retry && !equal.isEmpty() ? equal.getLast() : null;
    }

    private @Nullable Found find(List<Found> found, String k1) {
        List<Found> unused = found.stream().filter(each -> !used.contains(each.id())).toList();
        return unused.stream().filter(each -> each.k1().equals(k1)).findFirst()
                .orElse(unused.isEmpty() ? null : unused.getFirst());
    }

    /** A client leaves. */
    synchronized void leave(Occurrence occurrence, BooleanSupplier client, boolean delivered) {
        occurrence.clients.removeIf(each -> each == client);
        occurrence.delivered |= delivered;
    }

    /** The request has no answer, and counts no more. */
    synchronized void forget(ProgramRequest request, Occurrence occurrence) {
        List<Occurrence> equal = byKey.get(request.keys().k1());
        if (equal != null && equal.remove(occurrence)) {
            used.remove(occurrence.id);
            sent -= occurrence.fresh ? 1 : 0;
            replayed -= occurrence.fresh ? 0 : 1;
        }
    }

    /** A limit does not pay the request; it is refused again for a while. */
    synchronized void refuse(String k1, GatewayError error) {
        refused.put(k1, new Refused(error, System.nanoTime()));
    }

    /** The recent refusal of an equal request; null if absent. */
    synchronized @Nullable GatewayError refusal(String k1) {
        Refused last = refused.get(k1);
        if (last != null && System.nanoTime() - last.at > REFUSED_NANOS) {
            refused.remove(k1);
            return null;
        }
        return last == null ? null : last.error;
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
