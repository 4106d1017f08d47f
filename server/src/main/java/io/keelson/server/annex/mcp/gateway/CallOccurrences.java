package io.keelson.server.annex.mcp.gateway;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which requests of one lease have used which calls. Equal requests use equal calls in their order, each call once. A request whose
 * result its client has not got is repeated by the next equal one, and not counted again.
 */
final class CallOccurrences {
    private final Set<UUID> used = new HashSet<>();
    private final Map<String, List<Occurrence>> byContent = new HashMap<>();

    /** A call and its clients. */
    static final class Occurrence {
        private final UUID id;
        private boolean made;
        /** A client is gone when its value is true. */
        private final List<BooleanSupplier> clients = new ArrayList<>();
        private boolean delivered;

        private Occurrence(UUID id, boolean made) {
            this.id = id;
            this.made = made;
        }

        /** The id of the call's step. */
        UUID id() {
            return id;
        }
    }

    /**
     * A request's part in an occurrence.
     *
     * @param makes whether the call is yet to be made, by this request
     */
    record Entry(Occurrence occurrence, boolean makes) {}

    /**
     * The occurrence of a request.
     *
     * @param content tool and digest of the arguments
     * @param known the calls of the step with the content, the first one first
     * @param gone whether the client of the request is gone; also names the client when it leaves
     */
    synchronized Entry enter(String content, Supplier<List<UUID>> known, BooleanSupplier gone) {
        List<Occurrence> equal = byContent.computeIfAbsent(content, _ -> new ArrayList<>());
        for (Occurrence each : equal) {
            if (!each.delivered && each.clients.stream().allMatch(BooleanSupplier::getAsBoolean)) {
                each.clients.add(gone);
                return new Entry(each, !each.made);
            }
        }
        UUID unused = known.get().stream().filter(id -> !used.contains(id)).findFirst().orElse(null);
        Occurrence next = unused == null ? new Occurrence(UUID.randomUUID(), false) : new Occurrence(unused, true);
        used.add(next.id);
        equal.add(next);
        next.clients.add(gone);
        return new Entry(next, !next.made);
    }

    /** The step of the call exists. */
    synchronized void markMade(Occurrence occurrence) {
        occurrence.made = true;
    }

    /** A client leaves. */
    synchronized void leave(Occurrence occurrence, BooleanSupplier client, boolean delivered) {
        occurrence.clients.removeIf(each -> each == client);
        occurrence.delivered |= delivered;
    }

    /** The call is not made, and counts no more. */
    synchronized void forget(String content, Occurrence occurrence) {
        @Nullable List<Occurrence> equal = byContent.get(content);
        if (equal != null && equal.remove(occurrence)) {
            used.remove(occurrence.id);
        }
    }
}
