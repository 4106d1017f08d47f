package io.keelson.server.engine.commit;

import io.keelson.core.decide.RunView;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Views of one committer's runs; drops the least recently used first. Not thread-safe. */
public final class ViewCache {
    private final int maxRows;
    private final Map<UUID, RunView> views = new LinkedHashMap<>(64, 0.75f, true);
    private final Map<UUID, Integer> weights = new LinkedHashMap<>();
    private long rows;
    private @Nullable Instant outage;

    /** @param maxRows maximum rows of all views together */
    public ViewCache(int maxRows) {
        this.maxRows = maxRows;
    }

    /**
     * Receives the end of the latest outage. A view has only the outages up to its load, so a new outage drops all
     * views.
     */
    void observed(@Nullable Instant latest) {
        if (!Objects.equals(outage, latest)) {
            outage = latest;
            views.clear();
            weights.clear();
            rows = 0;
        }
    }

    @Nullable RunView get(UUID run) {
        return views.get(run);
    }

    void put(RunView view) {
        drop(view.run().id());
        views.put(view.run().id(), view);
        weights.put(view.run().id(), view.weight());
        rows += view.weight();
    }

    public void drop(UUID run) {
        if (views.remove(run) != null) {
            rows -= Objects.requireNonNull(weights.remove(run));
        }
    }

    /** Drops views over the bound; between batches only. */
    void trim() {
        Iterator<UUID> oldest = views.keySet().iterator();
        while (rows > maxRows && oldest.hasNext()) {
            UUID run = oldest.next();
            oldest.remove();
            rows -= Objects.requireNonNull(weights.remove(run));
        }
    }
}
