package io.keelson.server.engine;

import io.keelson.core.run.Changes;
import io.keelson.core.run.Command;
import io.keelson.core.run.Decider;
import io.keelson.core.run.Ids;
import io.keelson.core.run.Offer;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunView;
import io.keelson.server.run.RunStore;
import io.keelson.server.run.RunStore.Locked;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * One batch of commands in one transaction: lock the runs in id order, bring the views up to date, decide, write, commit.
 * The number of statements does not depend on the number of commands.
 */
final class Flush {
    private final RunStore store;
    private final ViewCache views;
    private final Ids ids;
    private final Aftermath node;

    Flush(RunStore store, ViewCache views, Ids ids, Aftermath node) {
        this.store = store;
        this.views = views;
        this.ids = ids;
        this.node = node;
    }

    /**
     * Commits the batch and sets every command's reply, without answering yet.
     *
     * @throws SQLException when the database refused or could not be reached; the transaction is not committed, or its
     *             outcome is unknown. The views concerned have been dropped
     */
    void run(Connection connection, List<Pending> batch) throws SQLException {
        Set<UUID> runs = new TreeSet<>();
        batch.forEach(pending -> runs.add(pending.command.runId()));
        Offer offer = node.offer();
        Changes changes = new Changes();
        boolean committed = false;
        try {
            Locked locked = store.lock(connection, runs);
            refresh(connection, locked);
            Instant now = locked.now();
            for (Pending pending : batch) {
                decide(pending, locked, changes, now, offer);
            }
            if (changes.runs().isEmpty() && changes.timers().isEmpty() && changes.queue().isEmpty()) {
                connection.rollback();
            } else {
                store.write(connection, changes, now);
                connection.commit();
            }
            committed = true;
            node.committed(changes, now);
        } finally {
            node.settled(offer);
            if (!committed) {
                runs.forEach(views::drop);
            }
        }
        dropEnded(changes);
        views.trim();
    }

    private void refresh(Connection connection, Locked locked) throws SQLException {
        List<UUID> stale = new ArrayList<>();
        for (UUID run : locked.versions().keySet()) {
            RunView view = views.get(run);
            if (view == null || view.run().version() != locked.versions().get(run)) {
                stale.add(run);
            }
        }
        if (!stale.isEmpty()) {
            store.load(connection, stale).values().forEach(views::put);
        }
    }

    private void decide(Pending pending, Locked locked, Changes changes, Instant now, Offer offer) {
        UUID run = pending.command.runId();
        RunView view = locked.versions().containsKey(run) ? views.get(run) : null;
        if (pending.command instanceof Command.Create create) {
            if (view != null) {
                pending.reply = Reply.UNCHANGED;
            } else {
                views.put(Decider.create(create, changes, now, ids, offer));
                pending.reply = Reply.CHANGED;
            }
        } else if (view == null) {
            pending.failure = new Commands.RunNotFound();
        } else {
            pending.reply = Decider.decide(view, pending.command, changes, now, ids, offer);
        }
    }

    private void dropEnded(Changes changes) {
        changes.runs().stream().filter(run -> run.state().terminal()).forEach(run -> views.drop(run.id()));
    }
}
