package io.keelson.server.engine.dispatch;

import io.keelson.core.run.StepAssignment;
import io.keelson.server.engine.dispatch.WorkAvailability.Offer;
import io.keelson.server.engine.dispatch.WorkAvailability.Watch;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Workers that claim again as soon as they have an answer. Between two claims, commits of this node give them steps as while
 * a claim waits, and what this node knows of the queue stays known. A series ends when no claim follows within
 * {@link #LONGEST_GAP}; steps that the worker has not got by then are released. So a worker whose next claim may arrive at
 * another server gets no steps between its claims: only a claim that follows another one has such a gap. Thread-safe.
 */
final class ClaimSeries implements AutoCloseable {
    static final Duration LONGEST_GAP = Duration.ofMillis(250);

    /** @param follows whether it continues a series */
    record Begun(Watch watch, boolean follows) {}

    private record Worker(UUID workspace, String id) {}

    /** The time between two claims. Has no equality of its own: the next gap of the same worker is another one. */
    private static final class Gap {
        private final Worker worker;
        private final Set<String> tools;
        private final String version;
        private final Watch watch;
        private volatile boolean used;

        private Gap(Worker worker, Set<String> tools, String version, Watch watch) {
            this.worker = worker;
            this.tools = tools;
            this.version = version;
            this.watch = watch;
        }
    }

    private final WorkAvailability available;
    private final BiConsumer<Duration, Runnable> delayed;
    private final BiConsumer<String, List<StepAssignment>> release;
    private final Map<Worker, Gap> gaps = new ConcurrentHashMap<>();
    /** Claims in progress that follow another one. */
    private final Map<Worker, Gap> following = new ConcurrentHashMap<>();

    /**
     * @param delayed runs a short action after a time
     * @param release gives these steps of a worker back
     */
    ClaimSeries(WorkAvailability available, BiConsumer<Duration, Runnable> delayed,
            BiConsumer<String, List<StepAssignment>> release) {
        this.available = available;
        this.delayed = delayed;
        this.release = release;
    }

    /** The search of a claim: that of the claim before it, or a new one. */
    Begun begin(UUID workspace, String worker, Set<String> tools, String version) {
        Gap gap = gaps.remove(new Worker(workspace, worker));
        if (gap != null && gap.tools.equals(tools) && gap.version.equals(version)) {
            gap.watch.begin();
            following.put(gap.worker, gap);
            return new Begun(gap.watch, true);
        }
        end(gap);
        return new Begun(available.watch(workspace, tools::contains, version), false);
    }

    /** The search of a worker's claim or gap in a series; null if absent. Prolongs the gap. */
    @Nullable Watch live(UUID workspace, String worker, Set<String> tools, String version) {
        Worker of = new Worker(workspace, worker);
        Gap gap = gaps.getOrDefault(of, following.get(of));
        if (gap == null || !gap.tools.equals(tools) || !gap.version.equals(version)) {
            return null;
        }
        gap.used = true;
        return gap.watch;
    }

    /**
     * A claim ends, and the next one is expected.
     *
     * @param left the offer for steps until the next claim
     */
    void pause(UUID workspace, Set<String> tools, Begun claim, Offer left) {
        Gap gap = new Gap(new Worker(workspace, left.worker()), tools, left.version(), claim.watch);
        if (claim.follows) {
            claim.watch.offer(left);
        }
        forget(gap.worker, claim);
        end(gaps.put(gap.worker, gap));
        endLater(gap);
    }

    private void endLater(Gap gap) {
        delayed.accept(LONGEST_GAP, () -> {
            if (gap.used) {
                gap.used = false;
                if (gaps.get(gap.worker) == gap) {
                    endLater(gap);
                }
            } else if (gaps.remove(gap.worker, gap)) {
                // It may wait for a commit.
                Thread.startVirtualThread(() -> end(gap));
            }
        });
    }

    /** A claim ends, and none follows. Returns steps that it has not got. */
    List<StepAssignment> end(UUID workspace, String worker, Begun claim) {
        forget(new Worker(workspace, worker), claim);
        return claim.watch.end();
    }

    private void forget(Worker worker, Begun claim) {
        following.computeIfPresent(worker, (_, gap) -> gap.watch == claim.watch ? null : gap);
    }

    /** Ends a worker's series, if it has one and no claim waits. */
    void end(UUID workspace, String worker) {
        end(gaps.remove(new Worker(workspace, worker)));
    }

    private void end(@Nullable Gap gap) {
        if (gap != null) {
            List<StepAssignment> unseen = gap.watch.end();
            if (!unseen.isEmpty()) {
                release.accept(gap.worker.id, unseen);
            }
        }
    }

    @Override
    public void close() {
        gaps.keySet().forEach(worker -> end(gaps.remove(worker)));
    }
}
