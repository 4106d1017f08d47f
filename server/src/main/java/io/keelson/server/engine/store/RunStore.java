package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.RunView;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.Plan;
import io.keelson.core.run.TimerKind;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.sql.RowSetStatement.Moment;
import io.keelson.server.engine.store.sql.ViewLoader;
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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The engine's API of the store. Every method executes a fixed number of statements for any number of rows. Methods use
 * the given connection, do not close it, and commit only where documented. Thread-safe.
 */
public final class RunStore {
    private static final Duration GRACE = Duration.ofSeconds(5);

    /**
     * A reading of the database's clock, in microseconds.
     *
     * @param outage the end of the latest time without any engine; null if there was no outage
     */
    public record Reading(Instant now, @Nullable Instant outage) {}

    /**
     * Runs whose rows are locked.
     *
     * @param versions the version of each run that exists, in order of their ids
     * @param now the database's time once all locks were held, in microseconds
     * @param outage the end of the latest time without any engine; null if there was no outage
     */
    public record Locked(Map<UUID, Integer> versions, Instant now, @Nullable Instant outage) {}

    /**
     * A claimable row of the queue.
     *
     * @param model that its step's input names; empty if absent
     * @param agent slug of the agent of the roster that does the task; empty if absent
     */
    public record Candidate(UUID runId, UUID taskId, int lane, String tool, String model, String agent,
            UUID workspaceId, int priority) {}

    /**
     * A search of the queue.
     *
     * @param workspaceId null for all
     * @param workspaceRoundRobin the order of workspaces
     * @param version of the worker; null for a node, which no rule about versions concerns
     */
    public record Search(@Nullable UUID workspaceId, Collection<String> tools, int limit,
            WorkspaceRoundRobin workspaceRoundRobin, @Nullable String version) {

        /** A search of a node. */
        public Search(@Nullable UUID workspaceId, Collection<String> tools, int limit,
                WorkspaceRoundRobin workspaceRoundRobin) {
            this(workspaceId, tools, limit, workspaceRoundRobin, null);
        }
    }

    /**
     * An expired lease.
     *
     * @param epoch the expired lease; later ones are not affected
     * @param lease its length
     * @param unserved true when no other worker of the workspace that serves the tool has sent a request within a minute
     * @param timedOut true when the holder is alive but the execution took longer than its deadline allows
     * @param details of the execution, JSON text; null if absent
     */
    public record Expired(UUID runId, UUID taskId, int lane, UUID stepId, int epoch, Duration lease,
            boolean unserved, boolean timedOut, @Nullable String details) {}

    /** A position among the runs that have not ended. */
    public record Place(UUID workspaceId, UUID runId) {
        public static final Place FIRST = new Place(new UUID(0, 0), new UUID(0, 0));
    }

    /**
     * The result of a check of some open runs.
     *
     * @param next where to continue; the first position again after the last
     */
    public record Sweep(List<UUID> stuck, Place next) {}

    public record DueTimer(UUID runId, TimerKind kind, UUID subject) {}

    /**
     * The kinds of work that are due now.
     *
     * @param ready the queue has an unclaimed row, for any tool
     * @param lapsed a lease expired, or an execution is past its deadline and the grace
     * @param timers a timer is due
     * @param turns a run waits under its concurrency key
     * @param schedules a schedule is due
     * @param webhooks deliveries are to be created or sent
     * @param commands a command was abandoned, or its next attempt is due
     * @param events readers by SQL may be shown further events
     * @param wentBack the database lost commits, and no operator has accepted it
     * @param nextLease time until the next lease expires; null if absent
     * @param settings another text after each change of settings that nodes keep in memory; null if it was not read
     */
    public record Due(boolean ready, boolean lapsed, boolean timers, boolean turns, boolean schedules, boolean webhooks,
            boolean commands, boolean events, boolean wentBack, @Nullable Duration nextLease,
            @Nullable String settings) {

        Due withReady(boolean is) {
            return new Due(is, lapsed, timers, turns, schedules, webhooks, commands, events, wentBack, nextLease,
                    settings);
        }
    }

    private final DbClock clock;
    private final Function<String, Plan> plans;
    private final DueWork due;
    private final Leases leases;
    private final QueueSearch queue;
    private final Duration artifactRetention;
    private final Predicate<String> announced;
    private final VersionRules versions = new VersionRules();

    /**
     * @param plans reads a plan's stored document
     * @param artifactRetention retention of artifacts without one of their own, after the end of their run
     */
    public RunStore(DbClock clock, Function<String, Plan> plans, Duration artifactRetention) {
        this(clock, plans, artifactRetention, tool -> false);
    }

    /**
     * A store that also writes messages about ready work, for a broker.
     *
     * @param announced the tools of that work
     */
    public RunStore(DbClock clock, Function<String, Plan> plans, Duration artifactRetention,
            Predicate<String> announced) {
        this.announced = announced;
        this.artifactRetention = artifactRetention;
        this.clock = clock;
        this.plans = plans;
        QueueFloors floors = new QueueFloors();
        this.due = new DueWork(clock, System::nanoTime, floors);
        this.queue = new QueueSearch(floors);
        this.leases = new Leases(clock);
    }

    /** The rules about versions of workers, by which it searches. */
    public VersionRules versions() {
        return versions;
    }

    /** Reads the clock in one message, without a lock. The connection is in no transaction. */
    public Reading read(Connection c) throws SQLException {
        return RunsTable.read(c, clock);
    }

    /** Locks the rows of existing runs, in order of their ids, until the transaction ends. */
    public Locked lock(Connection c, Collection<UUID> runIds) throws SQLException {
        return RunsTable.lock(c, runIds, clock);
    }

    /**
     * Views of existing runs. A view has its plan only if a command may need it: before the tasks exist, for a failed
     * run, and for a run that restarts by itself.
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
            CallWaitsTable.load(c, loader);
            GatewayRequestsTable.load(c, loader);
            RunTreeTables.load(c, loader);
            UndosTable.load(c, loader);
            VotesTable.load(c, loader);
            TaskBudgetsTable.load(c, loader);
            RunVersionsTable.load(c, loader);
            ResultsTable.loadRecent(c, loader, clock);
            loader.views.values().forEach(RunView::restoreSlots);
        }
        return loader.views;
    }

    /**
     * Checks without a lock that views are current at this moment; no query without views.
     *
     * @throws StaleViewException when one is not
     */
    public void prove(Connection c, Collection<RunView> views) throws SQLException {
        RunsTable.prove(c, views);
    }

    /**
     * Balances of workspaces, all of their slots locked, in order of workspaces and slots, until the transaction ends.
     * Runs are locked before balances.
     */
    public LockedCredits credits(Connection c, Collection<UUID> workspaces, Instant now) throws SQLException {
        return CreditSlotsTable.lock(c, workspaces, now);
    }

    /** Begins the month of workspaces with {@code usd_per_month} whose month has ended; returns their number. */
    public int beginMonths(Connection c, int most) throws SQLException {
        return CreditSlotsTable.beginMonths(c, clock, most);
    }

    /**
     * The slot of balances that this connection changes. While it lasts, others get it only when all slots are taken.
     */
    public CreditSlots ownSlot(Connection c) throws SQLException {
        return CreditSlots.only(CreditSlotsTable.take(c));
    }

    /** The prices in force. */
    public Prices prices(Connection c) throws SQLException {
        return PricesTable.read(c);
    }

    /** The idempotency keys that were used within the last 24 hours. */
    public Set<KeyUse.Id> used(Connection c, Collection<KeyUse.Id> keys) throws SQLException {
        return new IdempotencyKeys(clock).used(c, keys);
    }

    /**
     * Writes all changes of a batch and commits them in one message. The runs have been locked since before the
     * decisions.
     *
     * @param keys idempotency keys that the batch uses
     * @param slots the slots of balances to change
     * @param now the time of the decisions
     * @throws StaleViewException when a view was not current or a key is in use; nothing is committed
     * @throws BalanceTooLowException when a slot of a balance is too low; nothing is committed
     * @throws SQLException when the database refused, and nothing is committed; or when the connection was lost, and
     *                      the outcome is unknown
     */
    public void commit(Connection c, ChangeSet changes, Collection<KeyUse> keys, CreditSlots slots, Instant now)
            throws SQLException {
        commit(changes, new ChangesWriter(c, changes, keys, slots, new Moment(now, now), artifactRetention, announced));
    }

    /**
     * Commits without locks: the write proves that the views were current, and that {@code now} is within 5 seconds of
     * the database's time. A suspended process does not notice that time has passed.
     */
    public void commitUnlocked(Connection c, ChangeSet changes, Collection<KeyUse> keys, CreditSlots slots, Instant now)
            throws SQLException {
        commit(changes, new ChangesWriter(c, changes, keys, slots, new Moment(now, clock.override()), artifactRetention,
                announced));
    }

    /** The outcome of a commit that fails may be unknown. */
    private void commit(ChangeSet changes, ChangesWriter writer) throws SQLException {
        try {
            writer.commit();
        } finally {
            due.put(changes.queue().values());
        }
    }

    /**
     * Claimable work of the lowest waiting priority number, in order of dispatch: workspaces in turn, within those by
     * age. May omit work, but is empty only if there is none.
     */
    public List<Candidate> candidates(Connection c, Search search) throws SQLException {
        return queue.candidates(c, search, List.of(), lots(search));
    }

    private VersionRules.Lots lots(Search search) {
        return search.workspaceId() == null || search.version() == null ? VersionRules.Lots.NONE
                : versions.lots(search.workspaceId(), search.tools(), search.version());
    }

    /** Claimable work, without work whose limits are reached. */
    public List<Candidate> candidates(Connection c, Search search, WorkLimits.Capacity capacity) throws SQLException {
        return queue.candidates(c, search, capacity.full(), lots(search));
    }

    /** The given items that are claimable, of the workspace and of one of the tools, by a worker of that version. */
    public List<Candidate> candidates(Connection c, UUID workspace, Collection<String> tools, String version,
            Collection<Lane> items) throws SQLException {
        return queue.candidates(c, workspace, tools, items, versions.lots(workspace, tools, version));
    }

    /** The candidates that are still unclaimed, in their order. */
    public List<Candidate> waiting(Connection c, List<Candidate> candidates) throws SQLException {
        return queue.waiting(c, candidates);
    }

    /**
     * Whether any work is due: one statement, cheap enough to repeat often.
     *
     * @param settings whether it reads the mark of settings
     */
    public Due due(Connection c, boolean settings) throws SQLException {
        return due.due(c, GRACE, settings);
    }

    /**
     * Expired leases, and executions past their deadline by more than the grace. A returned lease is extended by no heartbeat any
     * more, and its holder writes no details that are not returned.
     */
    public List<Expired> expired(Connection c, Duration grace, int limit) throws SQLException {
        return leases.expired(c, grace, limit);
    }

    /**
     * A step that has ended under a lease without a result, with what its execution had written.
     *
     * @param details JSON text
     */
    public record Unreported(UUID runId, UUID stepId, int epoch, String details) {}

    /** The steps that have ended under a lease without a result and have details. */
    public List<Unreported> unreported(Connection c, Collection<UUID> steps) throws SQLException {
        return leases.unreported(c, steps);
    }

    /** Expired leases, after a grace of 5 seconds. */
    public List<Expired> expired(Connection c, int limit) throws SQLException {
        return expired(c, GRACE, limit);
    }

    /** Runs that may be admitted under their concurrency key; none while another transaction looks for them. */
    public List<RunTurn> admissible(Connection c, int limit) throws SQLException {
        return RunTurn.admissible(c, limit);
    }

    public List<DueTimer> dueTimers(Connection c, int limit) throws SQLException {
        return TimersTable.due(c, clock, limit);
    }

    /** Removes the timers of deleted runs. */
    public void disarm(Connection c, Collection<UUID> runIds) throws SQLException {
        TimersTable.disarmDeleted(c, runIds);
    }

    /**
     * Finds stuck runs among some open ones: running for a minute, without an open task or a timer.
     *
     * @param after where the last check ended
     * @param limit number of runs to check
     */
    public Sweep stuckJoins(Connection c, Place after, int limit) throws SQLException {
        return due.stuckJoins(c, after, limit);
    }

    /** The runs that have ended, each with its final state. */
    public Map<UUID, RunState> ended(Connection c, Collection<UUID> runIds) throws SQLException {
        return RunsTable.ended(c, runIds);
    }

    /**
     * Extends the holder's leases by their length, from the database's time. Skips a lane that a commit is working on.
     *
     * @return lanes that the holder does not hold: ended, free or held by another
     */
    public Set<Lane> extendLeases(Connection c, String holder, Collection<Lane> lanes) throws SQLException {
        return leases.extend(c, holder, lanes);
    }
}
