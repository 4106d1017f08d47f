package io.keelson.server.api.http.gateway;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one lease of a step, by their content. Equal requests use equal records in their order, each record once. A request
 * whose client is gone before the end of its answer is joined by the next equal one, and not counted again. Thread-safe.
 *
 * @param <T> further facts of an occurrence
 */
public final class EqualRequests<T> {
    private final Set<UUID> used = new HashSet<>();
    private final Map<String, List<Occurrence<T>>> byContent = new HashMap<>();

    /** A request with its repetitions, and their clients. */
    public static final class Occurrence<T> {
        private final UUID id;
        private final T facts;
        /** A client is gone when its value is true. */
        private final List<BooleanSupplier> clients = new ArrayList<>();
        private boolean delivered;

        /** @param id of the record */
        public Occurrence(UUID id, T facts) {
            this.id = id;
            this.facts = facts;
        }

        public UUID id() {
            return id;
        }

        public T facts() {
            return facts;
        }

        private boolean isLeft() {
            return !delivered && clients.stream().allMatch(BooleanSupplier::getAsBoolean);
        }
    }

    /**
     * The occurrence of a request.
     *
     * @param repetition whether the client marks the request as a repetition of the last equal one
     * @param gone whether the client is gone; also names the client when it leaves
     * @param next makes a further occurrence, of an unused record or of a new one
     */
    public synchronized Occurrence<T> enter(String content, boolean repetition, BooleanSupplier gone,
            Function<Predicate<UUID>, Occurrence<T>> next) {
        List<Occurrence<T>> equal = byContent.computeIfAbsent(content, _ -> new ArrayList<>());
        Occurrence<T> entered = joined(equal, repetition);
        if (entered == null) {
            entered = next.apply(id -> !used.contains(id));
            used.add(entered.id);
            equal.add(entered);
        }
        entered.clients.add(gone);
        return entered;
    }

    private @Nullable Occurrence<T> joined(List<Occurrence<T>> equal, boolean repetition) {
        for (Occurrence<T> each : equal) {
            if (each.isLeft()) {
                return each;
            }
        }
        return repetition && !equal.isEmpty() ? equal.getLast() : null;
    }

    /** A client leaves. */
    public synchronized void leave(Occurrence<T> occurrence, BooleanSupplier client, boolean delivered) {
        occurrence.clients.removeIf(each -> each == client);
        occurrence.delivered |= delivered;
    }

    /** The request has no answer, and counts no more. Returns false if it did not count. */
    public synchronized boolean forget(String content, Occurrence<T> occurrence) {
        List<Occurrence<T>> equal = byContent.get(content);
        if (equal == null || !equal.remove(occurrence)) {
            return false;
        }
        if (equal.isEmpty()) {
            byContent.remove(content);
        }
        return used.remove(occurrence.id);
    }
}
