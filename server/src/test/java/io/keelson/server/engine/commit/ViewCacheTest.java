package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.plan.RunPolicy;
import io.keelson.server.engine.commit.ViewCache.Weighed;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ViewCacheTest {
    private static final Instant OUTAGE = Instant.parse("2026-01-01T12:00:00Z");

    private final ViewCache cache = new ViewCache(3);

    @Test
    void aViewIsInOneHand() {
        List<UUID> runs = views(2);
        assertThat(taken(runs)).containsOnlyKeys(runs);
        assertThat(taken(runs)).isEmpty();
    }

    @Test
    void theLeastRecentlyUsedIsDroppedFirst() {
        List<UUID> runs = views(3);
        Map<UUID, Weighed> used = new HashMap<>();
        Instant outage = cache.take(runs.subList(0, 1), used);
        cache.put(used.values(), outage, cache.generation());
        views(1);
        assertThat(taken(runs)).containsOnlyKeys(runs.get(0), runs.get(2));
    }

    @Test
    void newOutageDropsAllViewsIncludingThoseInCommits() {
        UUID kept = views(1).getFirst();
        UUID inCommit = views(1).getFirst();
        Map<UUID, Weighed> used = new HashMap<>();
        Instant before = cache.take(Set.of(inCommit), used);
        cache.observed(OUTAGE);
        cache.put(used.values(), before, cache.generation());
        assertThat(taken(List.of(kept, inCommit))).isEmpty();

        cache.put(used.values(), OUTAGE, cache.generation());
        cache.observed(OUTAGE);
        assertThat(taken(List.of(inCommit))).containsOnlyKeys(inCommit);
    }

    @Test
    void clearDropsViewsOfCommitsInProgress() {
        UUID kept = views(1).getFirst();
        UUID inCommit = views(1).getFirst();
        long generation = cache.generation();
        Map<UUID, Weighed> used = new HashMap<>();
        cache.take(Set.of(inCommit), used);
        cache.clear();
        cache.put(used.values(), null, generation);
        assertThat(taken(List.of(kept, inCommit))).isEmpty();
    }

    private List<UUID> views(int count) {
        List<Weighed> views = Stream.generate(UUID::randomUUID).limit(count)
                .map(id -> new Weighed(new RunView(new RunRow(id, id, "r", 0, RunPolicy.DEFAULT, null), null), 1))
                .toList();
        cache.put(views, null, cache.generation());
        return views.stream().map(Weighed::run).toList();
    }

    private Map<UUID, Weighed> taken(List<UUID> runs) {
        Map<UUID, Weighed> taken = new HashMap<>();
        cache.take(runs, taken);
        return taken;
    }
}
