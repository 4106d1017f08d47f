package io.keelson.server.engine.store;

import io.keelson.server.engine.store.RunStore.Candidate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The order of workspaces: within a priority, the workspace after the last served one, by id. Each claimer has its own
 * and may forget it. Not thread-safe.
 */
public final class WorkspaceRoundRobin {
    private static final int MAX_PRIORITIES = 100;

    private final Map<Integer, UUID> last = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, UUID> eldest) {
            return size() > MAX_PRIORITIES;
        }
    };

    /** The candidate has been claimed. */
    public void taken(Candidate candidate) {
        last.put(candidate.priority(), candidate.workspaceId());
    }

    List<Integer> priorities() {
        return new ArrayList<>(last.keySet());
    }

    /** The workspaces served last, in the order of {@link #priorities}. */
    List<UUID> workspaces() {
        return new ArrayList<>(last.values());
    }
}
