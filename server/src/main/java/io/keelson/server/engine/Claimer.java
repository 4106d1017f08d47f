package io.keelson.server.engine;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.db.Database;
import io.keelson.server.run.RunStore;
import io.keelson.server.run.RunStore.Candidate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes work for this node's executors from the queue whenever woken; the lookout wakes it while anything is queued. */
final class Claimer implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Claimer.class);
    private static final int MOST_AT_ONCE = 200;
    private static final long PAUSE_MS = 1_000;

    private final Database database;
    private final RunStore store;
    private final NodeWork node;
    private final WakeUps wakeUps;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final Collection<String> tools;
    private final String holder;
    private final Duration lease;
    private volatile boolean closing;

    Claimer(Database database, RunStore store, NodeWork node, WakeUps wakeUps,
            Function<Command, CompletableFuture<Reply>> commands, Collection<String> tools, String holder,
            Duration lease) {
        this.database = database;
        this.store = store;
        this.node = node;
        this.wakeUps = wakeUps;
        this.commands = commands;
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
                if (!claim(seen)) {
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
    private boolean claim(long seen) {
        int free = Math.min(node.free(), MOST_AT_ONCE);
        if (free == 0) {
            return false;
        }
        List<Candidate> found = database.withConnection(c -> store.candidates(c, tools, free));
        if (found.size() < free) {
            wakeUps.drained(seen);
        }
        List<CompletableFuture<Reply>> answers = new ArrayList<>();
        for (Candidate candidate : found) {
            answers.add(commands.apply(new Command.Claim(candidate.runId(), candidate.taskId(), candidate.lane(),
                    holder, lease, Actor.agent(holder))));
        }
        boolean any = false;
        for (CompletableFuture<Reply> answer : answers) {
            any |= answer.join() instanceof Reply.Claimed;
        }
        return any && found.size() == free;
    }

    private void pause() {
        try {
            wakeUps.await(wakeUps.tick(), PAUSE_MS);
        } catch (InterruptedException e) {
            closing = true;
        }
    }
}
