package io.keelson.server.run;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.RunView;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.LockedBalances;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.Plan;
import io.keelson.core.run.TimerKind;
import io.keelson.server.db.DbClock;
import io.keelson.server.run.sql.RowSetStatement.Moment;
import io.keelson.server.run.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The engine's face of the store. Every method is a fixed number of statements, however many rows it concerns. A method
 * uses the connection it is given, does not close it, and does not commit but where it says so. Safe for any number of threads.
 */
public final class RunStore {
    private static final Duration GRACE = Duration.ofSeconds(5);

    /**
     * Runs whose rows are locked.
     *
     * @param versions the version of each run that exists, in order of their ids
     * @param now the database's time once all locks were held, in microseconds
     * @param outage the end of the latest time without any engine; null when there was none
     */
    public record Locked(Map<UUID, Integer> versions, Instant now, @Nullable Instant outage) {}

    /**
     * Something in the queue that may be claimed.
     *
     * @param model that its step's input names; empty for none
     */
    public record Candidate(UUID runId, UUID taskId, int lane, String tool, String model, UUID workspaceId,
            int priority) {}

    /**
     * What is looked for in the queue.
     *
     * @param workspaceId null for all of them
     * @param workspaceRoundRobin whose turn it is among workspaces
     */
    public record Search(@Nullable UUID workspaceId, Collection<String> tools, int limit,
            WorkspaceRoundRobin workspaceRoundRobin) {}

    /**
     * A lease whose time is over.
     *
     * @param epoch the lease that was found to be over; a later one is none of the finder's business
     * @param lease its length
     * @param timedOut true when the holder is alive but the execution took longer than its deadline allows
     */
    public record Expired(UUID runId, UUID taskId, int lane, UUID stepId, int epoch, Duration lease,
            boolean timedOut) {}

    /** A place among the runs that have not ended. */
    public record Place(UUID workspaceId, UUID runId) {
        public static final Place FIRST = new Place(new UUID(0, 0), new UUID(0, 0));
    }

    /**
     * What a look at some open runs came to.
     *
     * @param next where to go on; the first place again when all have been looked at
     */
    public record Sweep(List<UUID> stuck, Place next) {}

    public record DueTimer(UUID runId, TimerKind kind, UUID subject) {}

    /**
     * What wants to be done at this moment.
     *
     * @param ready something is queued that nobody holds, for whatever tool
     * @param lapsed a lease ran out, or an execution is past its deadline and the grace
     * @param timers a timer is due
     * @param turns a run waits under its concurrency key
     * @param schedules a schedule wants to be looked at
     * @param webhooks there are deliveries to be made or sent
     * @param commands a command to the world outside was left, or is to be tried again
     * @param nextLease how long until the next lease ends; null where there is none
     */
    public record Due(boolean ready, boolean lapsed, boolean timers, boolean turns, boolean schedules, boolean webhooks,
            boolean commands,
            @Nullable Duration nextLease) {}

    private final DbClock clock;
    private final Function<String, Plan> plans;
    private final DueWork due;
    private final Duration artifactRetention;

    /**
     * @param plans reads a plan's document as it was stored
     * @param artifactRetention how long artifacts are kept after the end of their run, where they have no time of their own
     */
    public RunStore(DbClock clock, Function<String, Plan> plans, Duration artifactRetention) {
        this.artifactRetention = artifactRetention;
        this.clock = clock;
        this.plans = plans;
        this.due = new DueWork(clock);
    }

    /** Locks the rows of those runs that exist, in order of their ids, until the transaction ends. */
    public Locked lock(Connection c, Collection<UUID> runIds) throws SQLException {
        return RunsTable.lock(c, runIds, clock);
    }

    /**
     * Views of those runs that exist. The plan is in a view only where a command may need it: before the tasks exist, for
     * a run that failed, and for one that begins again by itself when it fails.
     */
    public Map<UUID, RunView> load(Connection c, Collection<UUID> runIds) throws SQLException {
        ViewLoader loader = new ViewLoader();
        RunsTable.load(c, runIds, plans, loader);
        Collection<UUID> found = loader.views.keySet();
        if (!found.isEmpty()) {
            AgentsTable.load(c, found, loader);
            TasksTable.load(c, found, loader);
            DependenciesTable.load(c, found, loader);
            StepsTable.load(c, found, loader);
            ArtifactsTable.load(c, found, loader);
            QueueTable.load(c, found, loader);
            TimersTable.load(c, found, loader);
            TicketsTable.load(c, loader);
            ProposalsTable.load(c, loader);
            SignalsTable.load(c, loader);
            RunTreeTables.load(c, loader);
            ResultsTable.loadRecent(c, loader, clock);
            loader.views.values().forEach(RunView::restoreSlots);
        }
        return loader.views;
    }

    /**
     * Looks whether views are current at this moment, without a lock; nothing is asked for none.
     *
     * @throws StaleViewException when one is not
     */
    public void prove(Connection c, Collection<RunView> views) throws SQLException {
        RunsTable.prove(c, views);
    }

    /**
     * What workspaces have, their balances locked in order of their ids until the transaction ends. Runs are locked before
     * balances.
     */
    public LockedBalances purse(Connection c, Collection<UUID> workspaces) throws SQLException {
        return BalancesTable.lock(c, workspaces);
    }

    /** The prices in force. */
    public Prices prices(Connection c) throws SQLException {
        return PricesTable.read(c);
    }

    /** Those of the idempotency keys that were used within the last 24 hours. */
    public Set<KeyUse.Id> used(Connection c, Collection<KeyUse.Id> keys) throws SQLException {
        return new IdempotencyKeys(clock).used(c, keys);
    }

    /**
     * Writes everything that a batch of decisions changed, and commits it, in one message. The runs are locked since
     * before the decisions.
     *
     * @param keys idempotency keys that are used by this
     * @param now the time that the decisions were given
     * @throws StaleViewException when a view was not current or a key is in use; nothing is committed
     * @throws BalanceTooLowException when a workspace has not got what is taken from it; nothing is committed
     * @throws SQLException when the database refused, and nothing is committed; or when the connection was lost, and
     *             nobody knows
     */
    public void commit(Connection c, ChangeSet changes, Collection<KeyUse> keys, Instant now) throws SQLException {
        new ChangesWriter(c, changes, keys, new Moment(now, now), artifactRetention).commit();
    }

    /**
     * The same where nothing is locked: the write itself proves that views were current, and that it is no more than 5
     * seconds earlier or later than was thought. A process that was suspended thinks that no time has passed.
     */
    public void commitUnlocked(Connection c, ChangeSet changes, Collection<KeyUse> keys, Instant now)
            throws SQLException {
        new ChangesWriter(c, changes, keys, new Moment(now, clock.override()), artifactRetention).commit();
    }

    /**
     * What may be claimed of the lowest priority number that waits, in order of dispatch: workspaces in turn, within those by
     * age. There may be more than is found, but not if nothing is.
     */
    public List<Candidate> candidates(Connection c, Search search) throws SQLException {
        return due.candidates(c, search, List.of());
    }

    /** The same without what has no room at work. */
    public List<Candidate> candidates(Connection c, Search search, WorkLimits.Capacity capacity) throws SQLException {
        return due.candidates(c, search, capacity.full());
    }

    /** Whether there is anything to be done: one statement, to be asked often. */
    public Due due(Connection c) throws SQLException {
        return due.due(c, GRACE);
    }

    /** Leases that ran out, and executions past their deadline by more than the grace. */
    public List<Expired> expired(Connection c, Duration grace, int limit) throws SQLException {
        return due.expired(c, grace, limit);
    }

    /** The same with a grace of 5 seconds. */
    public List<Expired> expired(Connection c, int limit) throws SQLException {
        return expired(c, GRACE, limit);
    }

    /** Runs whose turn under their concurrency key has come; none where another transaction is looking for them. */
    public List<UUID> admissible(Connection c, int limit) throws SQLException {
        return due.admissible(c, limit);
    }

    public List<DueTimer> dueTimers(Connection c, int limit) throws SQLException {
        return due.dueTimers(c, limit);
    }

    /** Removes the timers of those of the runs that have been deleted. */
    public void disarm(Connection c, Collection<UUID> runIds) throws SQLException {
        due.disarm(c, runIds);
    }

    /**
     * Looks at some of the runs that have not ended, for those that have been running for a minute and wait for nothing:
     * no open task, no timer.
     *
     * @param after where the last look ended
     * @param limit at how many runs to look
     */
    public Sweep stuckJoins(Connection c, Place after, int limit) throws SQLException {
        return due.stuckJoins(c, after, limit);
    }

    /** Those of the runs that have ended, each with the state that it ended in. */
    public Map<UUID, RunState> ended(Connection c, Collection<UUID> runIds) throws SQLException {
        return RunsTable.ended(c, runIds);
    }

    /**
     * Extends what the holder still holds of these lanes by their leases' length, from the database's time. A lane that a
     * commit is working on at this moment is passed over.
     *
     * @return those that are not the holder's: ended, free or somebody else's
     */
    public Set<Lane> extendLeases(Connection c, String holder, Collection<Lane> lanes) throws SQLException {
        return due.extendLeases(c, holder, lanes);
    }
}
