package io.keelson.server.engine.commit;

import io.keelson.core.decide.RunView;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The views of the runs that one committer works on, the longest unused dropped first. Not thread-safe. */
public final class ViewCache {
    private final int maxRows;
    private final Map<UUID, RunView> views = new LinkedHashMap<>(64, 0.75f, true);
    private final Map<UUID, Integer> weights = new LinkedHashMap<>();
    private long rows;
    private @Nullable Instant outage;

    /** @param maxRows how many rows all views together may hold */
    public ViewCache(int maxRows) {
        this.maxRows = maxRows;
    }

    /**
     * The end of the latest outage. A view tells of those that there were when it was loaded, so that all go when there is
     * another: somebody may have found one while this node stood still.
     */
    void heard(@Nullable Instant latest) {
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

    /** Forgets what is over the bound; between batches only. */
    void trim() {
        Iterator<UUID> oldest = views.keySet().iterator();
        while (rows > maxRows && oldest.hasNext()) {
            UUID run = oldest.next();
            oldest.remove();
            rows -= Objects.requireNonNull(weights.remove(run));
        }
    }
}
