package io.keelson.server.engine;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.dispatch.Claims;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.WorkspaceRoundRobin;
import io.keelson.server.engine.tool.SlotKind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims queued work for this node's executors after each wake-up; the poller wakes it while work is queued. Has a thread
 * of its own instead of a background task, because it must see each wake-up that comes while it claims.
 */
final class Claimer implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Claimer.class);
    private static final int MAX_CLAIMED = 200;
    private static final long RETRY_DELAY_MS = 1_000;

    private final Claims claims;
    private final QueuedChains chains;
    private final LocalDispatcher node;
    private final WorkAvailability available;
    private final Supplier<Map<SlotKind, List<String>>> tools;
    private final String holder;
    private final Duration lease;
    private final WorkspaceRoundRobin workspaceRoundRobin = new WorkspaceRoundRobin();
    private volatile boolean closing;

    Claimer(Claims claims, QueuedChains chains, LocalDispatcher node, WorkAvailability available,
            Supplier<Map<SlotKind, List<String>>> tools, String holder, Duration lease) {
        this.claims = claims;
        this.chains = chains;
        this.node = node;
        this.available = available;
        this.tools = tools;
        this.holder = holder;
        this.lease = lease;
    }

    void close() {
        closing = true;
        available.signal();
    }

    @Override
    public void run() {
        while (!closing) {
            WorkAvailability.Watch watch = available.here();
            try {
                var _ = watch.news();
                Throwable failure = chains.failure();
                if (failure != null) {
                    LOG.warn("a claim with its report failed, retrying", failure);
                    pause();
                }
                boolean more = false;
                for (Map.Entry<SlotKind, List<String>> each : tools.get().entrySet()) {
                    more |= claim(each.getKey(), each.getValue());
                }
                if (!more) {
                    watch.await(Long.MAX_VALUE);
                }
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                LOG.warn("claiming work failed, retrying", e);
                pause();
            }
        }
    }

    /** True when more may be available at once. */
    private boolean claim(SlotKind kind, List<String> names) {
        int free = Math.min(node.free(kind), MAX_CLAIMED);
        if (free == 0) {
            return false;
        }
        long queued = available.localQueue().queued(kind);
        Set<Lane> underWay = chains.underWay();
        int limit = free + underWay.size();
        List<Candidate> all = claims.find(new Search(null, names, limit, workspaceRoundRobin));
        List<Candidate> found = all.stream()
                .filter(each -> !underWay.contains(new Lane(each.taskId(), each.lane()))).limit(free).toList();
        node.keep(kind, found.size());
        try {
            available.localQueue().looked(kind, queued, all.size() < limit);
            found.forEach(workspaceRoundRobin::taken);
            List<Candidate> others = chains.begin(found);
            List<Reply> replies = claims.claim(others, candidate -> new Command.Claim(candidate.runId(),
                    candidate.taskId(), candidate.lane(), holder, lease, Actor.agent(holder)));
            chains.claimed(others, replies);
            return others.size() < found.size() || replies.stream().anyMatch(reply -> reply instanceof Reply.Claimed);
        } finally {
            node.kept(kind, found.size());
        }
    }

    private void pause() {
        try {
            var _ = available.here().news();
            available.here().await(RETRY_DELAY_MS);
        } catch (InterruptedException e) {
            closing = true;
        }
    }
}
