package io.keelson.server.api.http.support;

import io.keelson.server.base.db.SharedReads;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads runs for several requests of a workspace with one query ({@link SharedReads}). Runs end in batches, and a query costs the
 * database more than a few of its rows. Thread-safe.
 */
final class SharedRunReads {

    /** Reads runs of a workspace, by id. Omits runs that do not exist. */
    @FunctionalInterface
    interface Query {
        Map<UUID, ObjectNode> of(UUID workspace, Collection<UUID> runs);
    }

    private final int most;
    private final Query query;
    private final Map<UUID, Line> lines = new ConcurrentHashMap<>();

    /** @param most maximum number of runs that a query reads */
    SharedRunReads(int most, Query query) {
        this.most = most;
        this.query = query;
    }

    /** The reads of a workspace. */
    private final class Line {
        private final SharedReads<UUID, Optional<ObjectNode>> reads;
        /** The number of requests in here. It changes only within the map, which serialises changes. */
        private int in;

        private Line(UUID workspace) {
            this.reads = new SharedReads<>(most, runs -> {
                Map<UUID, ObjectNode> found = query.of(workspace, runs);
                return runs.stream().map(run -> Optional.ofNullable(found.get(run))).toList();
            });
        }

        private Line joined() {
            in++;
            return this;
        }

        /** Null without further requests. */
        private @Nullable Line left() {
            in--;
            return in == 0 ? null : this;
        }
    }

    /** The run; null where the workspace has no such run. Its document belongs to all requests for that run. */
    @Nullable ObjectNode read(UUID workspace, UUID run) {
        Line line = lines.compute(workspace, (id, there) -> (there == null ? new Line(id) : there).joined());
        try {
            return line.reads.read(run).orElse(null);
        } finally {
            lines.computeIfPresent(workspace, (id, there) -> there.left());
        }
    }
}
