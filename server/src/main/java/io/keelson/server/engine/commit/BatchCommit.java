package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.Created;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.money.CreditBalances;
import io.keelson.core.money.Funds;
import io.keelson.core.money.OptimisticBalances;
import io.keelson.core.money.Prices;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.store.BalanceTooLowException;
import io.keelson.server.engine.store.CreditSlots;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.engine.store.LockedCredits;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.store.RunStore.Locked;
import io.keelson.server.engine.store.RunStore.Reading;
import io.keelson.server.engine.store.StaleViewException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One batch of commands in one transaction: decide on views, write set-wise, commit. The number of messages to the
 * database does not depend on the number of commands.
 *
 * <p>A view is proven current in one of two ways. If all views are cached, the batch is decided on them at once. Its
 * own write proves them, because it changes a run's head from the version that was decided on. If a view is missing or
 * the proof fails, the runs are locked first, in the order of their ids, and views are brought up to date under the
 * lock.
 *
 * <p>Credits are proven by the write, too: decisions assume that workspaces have enough credits, and the last
 * statement, which changes one slot of each balance, proves it. If it is refused, the batch is decided again with the
 * runs and then all slots of the balances locked.
 *
 * <p>Thread-safe. Commits at the same time must not concern the same run.
 */
public final class BatchCommit {
    private final RunStore store;
    private final ViewCache views;
    private final Ids ids;
    private final CommitListener node;
    private final DatabaseTime time;
    private final Supplier<Prices> prices;
    private final List<Observer> observers;

    /** The result of a try; an undone try leaves nothing. */
    private enum Outcome {
        COMMITTED,
        /** A view was not current. */
        STALE,
        /** A workspace's balance, or this connection's slot of the balance, is too low, or unknown. */
        INSUFFICIENT_CREDITS
    }

    /**
     * The facts of decisions.
     *
     * @param existing the runs that exist
     * @param used the idempotency keys in use
     * @param slots the slots of balances to change
     * @param locked true when no other transaction can change the runs meanwhile
     */
    private record CommitContext(Instant now, Set<UUID> existing, Set<KeyUse.Id> used, Funds funds,
            CreditSlots slots, boolean locked) {}

    public BatchCommit(RunStore store, ViewCache views, Ids ids, CommitListener node, DatabaseTime time,
            Supplier<Prices> prices, List<Observer> observers) {
        this.store = store;
        this.views = views;
        this.ids = ids;
        this.node = node;
        this.time = time;
        this.prices = prices;
        this.observers = observers;
    }

    /** The slot of balances that commits of this connection change. */
    public CreditSlots ownSlot(Connection connection) throws SQLException {
        CreditSlots own = store.ownSlot(connection);
        connection.rollback();
        return own;
    }

    /** A connection was lost: the next one may lead to a database without the latest commits, so no view is used on it. */
    void connectionLost() {
        views.clear();
        observers.forEach(Observer::connectionLost);
    }

    /**
     * Commits the batch and sets every command's reply, without sending it yet.
     *
     * @param own the {@link #ownSlot} of the connection
     * @throws SQLException when the database refused or was unreachable; the transaction is not committed, or its
     *                      outcome is unknown. The views concerned have been dropped
     */
    public void run(Connection connection, CreditSlots own, List<PendingCommand> commands) throws SQLException {
        long begun = System.nanoTime();
        Observer.BatchPath path = Observer.BatchPath.REFUSED;
        try {
            Batch batch = new Batch(commands, views);
            path = path(connection, own, batch);
            batch.returnViews();
        } finally {
            long nanos = System.nanoTime() - begun;
            for (Observer observer : observers) {
                observer.batchEnded(path, commands.size(), nanos);
            }
        }
    }

    private Observer.BatchPath path(Connection connection, CreditSlots own, Batch batch) throws SQLException {
        Observer.BatchPath path = Observer.BatchPath.AT_HAND;
        Outcome outcome = onViewsAtHand(connection, own, batch);
        if (outcome == Outcome.STALE) {
            path = Observer.BatchPath.STALE;
            outcome = locked(connection, own, batch);
        }
        if (outcome == Outcome.INSUFFICIENT_CREDITS) {
            path = Observer.BatchPath.INSUFFICIENT_CREDITS;
            locked(connection, null, batch);
        }
        return path;
    }

    private Outcome onViewsAtHand(Connection connection, CreditSlots own, Batch batch) throws SQLException {
        Instant now = time.now();
        if (now == null && batch.atHand()) {
            now = read(connection, batch);
        }
        if (now == null || !batch.atHand()) {
            return Outcome.STALE;
        }
        try {
            commit(connection, batch, new CommitContext(now, batch.existing(), new HashSet<>(),
                    funds(new OptimisticBalances()), own, false));
            return Outcome.COMMITTED;
        } catch (StaleViewException e) {
            return undone(connection, batch, Outcome.STALE);
        } catch (BalanceTooLowException e) {
            return undone(connection, batch, Outcome.INSUFFICIENT_CREDITS);
        }
    }

    /** The database's time; drops the views where there was an outage. */
    private Instant read(Connection connection, Batch batch) throws SQLException {
        Reading reading = store.read(connection);
        batch.observed(reading.outage());
        return time.set(reading.now());
    }

    /** @param own the slot to change; null to lock all slots of the workspaces, so that their balances are known */
    private Outcome locked(Connection connection, @Nullable CreditSlots own, Batch batch) throws SQLException {
        Locked locked = store.lock(connection, batch.runs);
        time.set(locked.now());
        refresh(connection, batch, locked);
        Set<KeyUse.Id> used = store.used(connection, batch.keys());
        CreditBalances balances = new OptimisticBalances();
        CreditSlots slots = own;
        if (slots == null) {
            LockedCredits credits = store.credits(connection, batch.workspaces(), locked.now());
            balances = credits.balances();
            slots = credits;
        }
        try {
            commit(connection, batch,
                    new CommitContext(locked.now(), locked.versions().keySet(), used, funds(balances), slots, true));
            return Outcome.COMMITTED;
        } catch (BalanceTooLowException e) {
            return undone(connection, batch, Outcome.INSUFFICIENT_CREDITS);
        }
    }

    private static Outcome undone(Connection connection, Batch batch, Outcome outcome) throws SQLException {
        connection.rollback();
        batch.commands.forEach(PendingCommand::reset);
        return outcome;
    }

    private Funds funds(CreditBalances balances) {
        return new Funds(prices.get(), balances);
    }

    private void commit(Connection connection, Batch batch, CommitContext commitContext) throws SQLException {
        LocalCapacity capacity = node.offer();
        ChangeSet changes = new ChangeSet();
        List<KeyUse> keys = new ArrayList<>();
        boolean committed = false;
        try {
            for (PendingCommand pending : batch.commands) {
                if (pending.key != null && commitContext.used.contains(pending.key.id())) {
                    pending.failure = new Commands.KeyUsed();
                } else {
                    decide(pending, batch, commitContext, changes, capacity);
                    use(pending, commitContext.used, keys);
                }
            }
            if (commitContext.funds.balances() instanceof OptimisticBalances balances && balances.needsLock()) {
                throw new BalanceTooLowException("the balance was not read");
            }
            if (!commitContext.locked) {
                store.prove(connection, batch.untouched(changes));
            }
            if (changes.runs().isEmpty() && changes.timers().isEmpty() && changes.queue().isEmpty()
                    && keys.isEmpty()) {
                connection.rollback();
            } else if (commitContext.locked) {
                store.commit(connection, changes, keys, commitContext.slots, commitContext.now);
            } else {
                store.commitUnlocked(connection, changes, keys, commitContext.slots, commitContext.now);
            }
            committed = true;
            node.committed(changes, batch::view, commitContext.now);
            observers.forEach(each -> each.committed(changes, commitContext.now));
        } finally {
            node.settled(capacity);
            if (!committed) {
                batch.dropViews();
            }
        }
        batch.drop(changes.runs().stream().filter(run -> run.state().terminal()).map(RunRow::id).toList());
    }

    /** A refused command does not use its key: the client may correct it and repeat it. */
    private static void use(PendingCommand pending, Set<KeyUse.Id> used, List<KeyUse> keys) {
        if (pending.key != null && pending.reply != null && !(pending.reply instanceof Reply.Rejected)) {
            used.add(pending.key.id());
            keys.add(pending.key);
        }
    }

    /** Absent runs were deleted. */
    private void refresh(Connection connection, Batch batch, Locked locked) throws SQLException {
        batch.observed(locked.outage());
        List<UUID> stale = batch.stale(locked.versions());
        if (!stale.isEmpty()) {
            batch.drop(stale);
            store.load(connection, stale).values().forEach(batch::put);
        }
    }

    private void decide(PendingCommand pending, Batch batch, CommitContext commitContext, ChangeSet changes,
            LocalCapacity capacity) {
        UUID run = pending.command.runId();
        RunView view = commitContext.existing.contains(run) || changes.isNew(run) ? batch.view(run) : null;
        if (pending.command instanceof Command.Create create) {
            if (view != null) {
                pending.reply = Reply.UNCHANGED;
            } else {
                Created created = create(pending, create, commitContext, changes, capacity);
                pending.reply = created.reply();
                view = created.view();
                if (view != null) {
                    batch.put(view);
                }
            }
            if (view != null) {
                report(pending, view, commitContext, changes, capacity);
            }
        } else if (view == null) {
            pending.failure = new Commands.RunNotFound();
        } else if (pending.executed != null && pending.command instanceof Command.Claim claim
                && !Decider.waits(view, claim, pending.executed.first())) {
            pending.reply = Reply.rejected("NOT_CLAIMABLE", "the executed step does not wait for its first claim");
        } else {
            pending.reply = Decider.decide(view, pending.command, changes, commitContext.now, ids, capacity,
                    commitContext.funds);
            if (pending.reply instanceof Reply.Claimed) {
                report(pending, view, commitContext, changes, capacity);
            }
        }
    }

    /** Records the end of steps that were executed before this commit, if there is one. */
    private void report(PendingCommand pending, RunView view, CommitContext commitContext, ChangeSet changes,
            LocalCapacity capacity) {
        if (pending.executed != null && pending.executed.report() != null) {
            pending.reportReply = Decider.decide(view, pending.executed.report(), changes, commitContext.now, ids,
                    capacity, commitContext.funds);
        }
    }

    /** Steps that were executed before this commit keep the ids and the slot of their execution. */
    private Created create(PendingCommand pending, Command.Create create, CommitContext commitContext,
            ChangeSet changes, LocalCapacity capacity) {
        Executed executed = pending.executed;
        if (executed == null) {
            return Decider.create(create, changes, commitContext.now, ids, capacity, commitContext.funds);
        }
        capacity.executes(executed.tool());
        try {
            return Decider.create(create, changes, commitContext.now, executed.ids(ids), capacity,
                    commitContext.funds);
        } finally {
            capacity.executes(null);
        }
    }
}
