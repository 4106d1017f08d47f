package io.keelson.server.api.http.support;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads runs for several requests with one query. Runs end in batches, and a query costs the database more than a few
 * of its rows. A request that comes while runs of its workspace are read waits for the next query, which reads the runs
 * of all that wait. A query begins after its requests, so it sees commits before them. Thread-safe.
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

    /** A request for one run. */
    private static final class Wanted {
        private final UUID run;
        private boolean read;
        private @Nullable ObjectNode found;

        private Wanted(UUID run) {
            this.run = run;
        }
    }

    /** The requests of a workspace. One of them reads at a time. */
    private final class Line {
        private final ReentrantLock reading = new ReentrantLock();
        private final Queue<Wanted> waiting = new ConcurrentLinkedQueue<>();
        /** The number of requests in here. It changes only within the map, which serialises changes. */
        private int in;

        private Line joined() {
            in++;
            return this;
        }

        /** Null without further requests. */
        private @Nullable Line left() {
            in--;
            return in == 0 ? null : this;
        }

        private @Nullable ObjectNode read(UUID workspace, UUID run) {
            Wanted mine = new Wanted(run);
            waiting.add(mine);
            reading.lock();
            try {
                if (!mine.read) {
                    read(workspace, takeWith(mine));
                }
                return mine.found;
            } finally {
                reading.unlock();
            }
        }

        /** A query that fails, fails the request that has made it. The others make one of their own. */
        private void read(UUID workspace, List<Wanted> together) {
            Map<UUID, ObjectNode> found = query.of(workspace, together.stream().map(each -> each.run).toList());
            for (Wanted each : together) {
                each.found = found.get(each.run);
                each.read = true;
            }
        }

        private List<Wanted> takeWith(Wanted mine) {
            List<Wanted> taken = new ArrayList<>();
            taken.add(mine);
            waiting.remove(mine);
            while (taken.size() < most && !waiting.isEmpty()) {
                taken.add(waiting.remove());
            }
            return taken;
        }
    }

    /** The run; null where the workspace has no such run. Its document belongs to all requests for that run. */
    @Nullable ObjectNode read(UUID workspace, UUID run) {
        Line line = lines.compute(workspace, (id, there) -> (there == null ? new Line() : there).joined());
        try {
            return line.read(workspace, run);
        } finally {
            lines.computeIfPresent(workspace, (id, there) -> there.left());
        }
    }
}
