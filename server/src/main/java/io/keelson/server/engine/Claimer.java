package io.keelson.server.engine;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.run.RunStore.Candidate;
import io.keelson.server.run.RunStore.Search;
import io.keelson.server.run.Turns;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes work for this node's executors from the queue whenever woken; the lookout wakes it while anything is queued. */
final class Claimer implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Claimer.class);
    private static final int MOST_AT_ONCE = 200;
    private static final long PAUSE_MS = 1_000;

    private final Claims claims;
    private final NodeWork node;
    private final WakeUps wakeUps;
    private final Collection<String> tools;
    private final String holder;
    private final Duration lease;
    private final Turns turns = new Turns();
    private volatile boolean closing;

    Claimer(Claims claims, NodeWork node, WakeUps wakeUps, Collection<String> tools, String holder, Duration lease) {
        this.claims = claims;
        this.node = node;
        this.wakeUps = wakeUps;
        this.tools = tools;
        this.holder = holder;
        this.lease = lease;
    }

    void close() {
        closing = true;
        wakeUps.nudge();
    }

    @Override
    public void run() {
        while (!closing) {
            long seen = wakeUps.tick();
            try {
                if (!claim()) {
                    wakeUps.await(seen);
                }
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                LOG.warn("looking for work failed; trying again", e);
                pause();
            }
        }
    }

    /** True when there may be more at once. */
    private boolean claim() {
        int free = Math.min(node.free(), MOST_AT_ONCE);
        if (free == 0) {
            return false;
        }
        long queued = wakeUps.queuedHere();
        List<Candidate> found = claims.find(new Search(null, tools, free, turns));
        node.keep(found.size());
        try {
            wakeUps.looked(queued, found.size() < free);
            found.forEach(turns::taken);
            List<Reply> replies = claims.claim(found, candidate -> new Command.Claim(candidate.runId(),
                    candidate.taskId(), candidate.lane(), holder, lease, Actor.agent(holder)));
            return replies.stream().anyMatch(reply -> reply instanceof Reply.Claimed);
        } finally {
            node.kept(found.size());
        }
    }

    private void pause() {
        try {
            wakeUps.await(wakeUps.tick(), PAUSE_MS);
        } catch (InterruptedException e) {
            closing = true;
        }
    }
}
