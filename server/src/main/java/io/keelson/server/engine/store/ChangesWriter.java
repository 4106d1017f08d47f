package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.run.NewRun;
import io.keelson.server.engine.store.CreditSlots.SlotChange;
import io.keelson.server.engine.store.RunsTable.Accepted;
import io.keelson.server.engine.store.StepsTable.CompletedTogether;
import io.keelson.server.engine.store.StepsTable.Together;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.RowSetStatement.Moment;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** Writes the changes of one batch and commits them. */
final class ChangesWriter {

    private static final Set<String> OVERTAKEN = Set.of("ix_orch_events_run", "orchestration_runs_pkey",
            "run_heads_pkey", "uq_board_tasks_orchestration_run");
    /** PostgreSQL's order, in which all transactions touch runs and balances. */
    private static final Comparator<UUID> BY_ID =
            (one, other) -> one.getMostSignificantBits() == other.getMostSignificantBits()
                    ? Long.compareUnsigned(one.getLeastSignificantBits(), other.getLeastSignificantBits())
                    : Long.compareUnsigned(one.getMostSignificantBits(), other.getMostSignificantBits());

    private final Connection c;
    private final ChangeSet changes;
    private final Collection<KeyUse> keys;
    private final CreditSlots slots;
    private final Moment moment;
    private final Duration retention;
    private final Predicate<String> announced;
    /** In the order of their ids. */
    private final Map<UUID, RunRow> runs = new LinkedHashMap<>();
    /** Results that the rows of their steps hold, by step. */
    private final Map<UUID, StepResult> results = new HashMap<>();
    private final List<StepsTable.New> newSteps;
    private final List<TasksTable.New> newTasks;
    private final Map<UUID, String> outcomes;
    private final BoardUpdates board;
    /** Changed steps, without steps that the row of the step before them implies. */
    private final List<StepsTable.Changed> steps;

    /**
     * @param retention retention of artifacts without one of their own, after the end of their run
     * @param announced tools of work that a broker announces
     */
    ChangesWriter(Connection c, ChangeSet changes, Collection<KeyUse> keys, CreditSlots slots, Moment moment,
            Duration retention, Predicate<String> announced) {
        this.c = c;
        this.changes = changes;
        this.keys = keys;
        this.slots = slots;
        this.moment = moment;
        this.retention = retention;
        this.announced = announced;
        List<RunRow> ordered = new ArrayList<>(changes.runs());
        ordered.sort(Comparator.comparing(RunRow::id, BY_ID));
        ordered.forEach(run -> runs.put(run.id(), run));
        those(changes.results(), ResultsTable::inStep).forEach(result -> results.put(result.stepId(), result));
        this.newSteps = each(changes.newSteps(), step -> new StepsTable.New(changes.ownerOf(step), changed(step)));
        this.newTasks = each(changes.newTasks(), task -> new TasksTable.New(changes.ownerOf(task), changed(task)));
        this.outcomes = outcomes();
        this.board = new BoardUpdates(changes);
        this.steps = changedSteps();
    }

    void commit() throws SQLException {
        try {
            new CommitMessage(
                    List.of(released(), born(), planned(), completed(),
                            List.of(DependenciesTable.insert(changes.newTasks(), changes.links())), moves(), packs(),
                            plain(),
                            tries(),
                            List.of(TimersTable.ANSWERED.of(changes.handledTimers())),
                            ends(), reports(), withdrawn(), begun(), queued(),
                            rare(), List.of(IdempotencyKeys.USE.of(keys)), passing(), money()),
                    runs.size() == 1)
                    .send(c, moment);
            changes.runs().forEach(RunRow::saved);
        } catch (SQLException e) {
            if (CreditSlotsTable.TOO_LOW.equals(e.getSQLState())) {
                throw new BalanceTooLowException(String.valueOf(e.getMessage()));
            }
            if (overtaken(e)) {
                throw new StaleViewException(e);
            }
            throw e;
        }
    }

    /**
     * True when a row has another version, another writer has used the event's number or created the run, or the time
     * is later.
     */
    private static boolean overtaken(SQLException e) {
        ServerErrorMessage message = e instanceof PSQLException refusal ? refusal.getServerErrorMessage() : null;
        return message != null && (RowSetStatement.OVERTAKEN.equals(message.getSQLState())
                || message.getConstraint() != null && OVERTAKEN.contains(message.getConstraint()));
    }

    private List<Part<?>> released() {
        List<NewRun> takers = those(changes.newRuns(), NewRun::takesExternalIdOver);
        return List.of(RunsTable.RELEASE.of(takers), RunsTable.RELEASE_ARCHIVED.of(takers));
    }

    /** New rows. */
    private List<Part<?>> born() {
        List<Accepted> accepted = each(changes.newRuns(), run -> new Accepted(run,
                Objects.requireNonNull(runs.get(run.id())), outcomes.get(run.id())));
        return List.of(RunsTable.insert(accepted), BoardTable.INSERT_RUN.of(accepted),
                RunsTable.INSERT_HEAD.of(each(accepted, Accepted::row)),
                AgentsTable.INSERT.of(each(changes.newAgents(),
                        agent -> new AgentsTable.New(changes.ownerOf(agent), agent))),
                BoardTable.INSERT_TASK.of(those(newTasks, each -> TasksTable.onBoard(each.row()))),
                TasksTable.INSERT.of(newTasks));
    }

    private List<Part<?>> planned() {
        return List.of(StepsTable.INSERT_PLAIN.of(Together.of(those(newSteps, StepsTable::plain))));
    }

    /** Steps of runs that are written once. */
    private List<Part<?>> completed() {
        return List.of(StepsTable.INSERT_COMPLETED.of(CompletedTogether.of(those(newSteps, StepsTable::completed))));
    }

    /** Rows that change with every step. */
    private List<Part<?>> moves() {
        List<RunRow> old = those(runs.values(), run -> !changes.isNew(run.id()));
        return List.of(RunsTable.updateHeads(old),
                StepsTable.COMPLETE.of(those(steps, step -> StepsTable.plain(step) && StepsTable.completes(step))));
    }

    private List<Part<?>> packs() {
        return List.of(EventPacksTable.insert(EventPack.of(changes.events())));
    }

    /** Rows of steps that begin, or succeed at once with more than an output. */
    private List<Part<?>> plain() {
        return List.of(StepsTable.UPDATE_PLAIN
                .of(those(steps, step -> StepsTable.plain(step) && !StepsTable.completes(step))));
    }

    /** Rows of steps that do not succeed at once. */
    private List<Part<?>> tries() {
        return List.of(StepsTable.INSERT
                .of(those(newSteps, step -> !StepsTable.plain(step) && !StepsTable.completed(step))),
                StepsTable.UPDATE.of(those(steps, step -> !StepsTable.plain(step))),
                ResultsTable.INSERT.of(those(changes.results(),
                        result -> !ResultsTable.inStep(result) && !ResultsTable.adds(result))),
                ResultsTable.ADD.of(those(changes.results(), ResultsTable::adds)));
    }

    /** Rows that change when tasks and runs end. A commit that only begins runs, or writes runs once, has none of them. */
    private List<Part<?>> ends() {
        return List.of(TasksTable.UPDATE.of(each(changes.tasks(), this::changed)),
                RunsTable.UPDATE.of(those(runs.values(), run -> run.unsaved() && !writtenOnce(run))),
                AgentsTable.UPDATE.of(changes.agents()),
                QueueTable.CLEAR.of(those(changes.clearedRuns(), run -> !changes.isNew(run))),
                BoardTable.UPDATE.of(board.moved()));
    }

    private List<Part<?>> reports() {
        return List.of(ReportsTable.INSERT_TASK.of(board.endedTasks()), ReportsTable.INSERT_RUN.of(board.endedRuns()));
    }

    /** Whether the insertion of the run writes its final row. The insertion of the tasks follows, so the summary may need an update. */
    private boolean writtenOnce(RunRow run) {
        return changes.isNew(run.id()) && run.gate() != RunRow.Gate.ACCEPTANCE
                && (!succeeded(run) || run.output() != null || run.outputTemplate() != null
                        || outcomes.containsKey(run.id()));
    }

    private static boolean succeeded(RunRow run) {
        return run.state() == RunState.COMPLETED || run.state() == RunState.SKIPPED;
    }

    /** The summaries of new runs that ended with their only task, by run. {@link RunsTable#UPDATE} computes the other ones. */
    private Map<UUID, String> outcomes() {
        Map<UUID, List<TasksTable.New>> tasks = new HashMap<>();
        newTasks.forEach(task -> tasks.computeIfAbsent(task.owner().run().id(), run -> new ArrayList<>(1)).add(task));
        Map<UUID, String> outcomes = new HashMap<>();
        tasks.forEach((run, all) -> {
            RunRow row = all.getFirst().owner().run();
            if (all.size() == 1 && succeeded(row) && row.output() == null && row.outputTemplate() == null) {
                all.getFirst().outcome().ifPresent(outcome -> outcomes.put(run, outcome));
            }
        });
        return outcomes;
    }

    /** Lanes and timers of runs that go on, and artifacts. */
    private List<Part<?>> withdrawn() {
        return List.of(QueueTable.REMOVE.of(absent(changes.queue())), TimersTable.DISARM.of(absent(changes.timers())),
                ArtifactsTable.INSERT.of(changes.artifacts()), ArtifactsTable.REPLACE.of(changes.successors()));
    }

    /** Rows that change when attempts of runs begin. Those of an ended run's timers are gone before. */
    private List<Part<?>> begun() {
        return List.of(AttemptsTable.UPSERT.of(changes.attempts()), TimersTable.ARM.of(present(changes.timers())));
    }

    /** Lanes whose next step is ready or leased, and messages about lanes that wait for a worker. */
    private List<Part<?>> queued() {
        List<QueueItem> items = present(changes.queue());
        return List.of(QueueTable.PUT.of(items), WorkMessagesTable.PUT
                .of(those(items, item -> item.holder() == null && announced.test(item.tool()))));
    }

    /** Rows that few batches have. */
    private List<Part<?>> rare() {
        return List.of(ArtifactsTable.END.of(each(
                those(changes.endedWithArtifacts(), run -> run.state().terminal()),
                run -> new ArtifactsTable.Ended(run, retention))),
                RunsTable.KEEP_PLAN.of(changes.plans()), RunsTable.UPDATE_PLAN.of(changes.plans()),
                TicketsTable.INSERT.of(changes.newTickets()),
                TicketsTable.UPDATE.of(changes.tickets()), ProposalsTable.INSERT.of(changes.proposals()),
                ProposalsTable.UPDATE.of(changes.proposalEnds()), SignalsTable.INSERT.of(changes.newSignals()),
                SignalsTable.TAKE.of(changes.takenSignals()), CallWaitsTable.PUT.of(changes.calls()),
                CallWaitsTable.ANSWER.of(changes.callAnswers()), CallWaitsTable.FORGET.of(changes.forgottenCalls()),
                GatewayRequestsTable.INSERT.of(changes.newRequests()),
                GatewayRequestsTable.END.of(changes.endedRequests()),
                RunTreeTables.INSERT_PARENT.of(those(runs.values(),
                        run -> run.parent() != null && changes.isNew(run.id()))),
                RunTreeTables.UPDATE_PARENT.of(those(changes.parents().isEmpty() ? List.of() : runs.values(),
                        run -> !changes.isNew(run.id()) && changes.parents().contains(run))),
                RunTreeTables.PUT_CHILD.of(changes.children()), TaskBudgetsTable.PUT.of(changes.budgets()),
                UndosTable.PUT.of(changes.undos()), RunVersionsTable.INSERT.of(changes.pins()),
                VotesTable.PUT.of(present(changes.votes())), VotesTable.REMOVE.of(absent(changes.votes())),
                RoundsTable.FOLD.of(changes.folded()), RoundsTable.REMOVE.of(changes.folded()));
    }

    /**
     * Ledger entries, and slots of balances last of all: many runs of a workspace share a slot, which is locked no
     * longer than the commit takes.
     */
    private List<Part<?>> money() {
        List<ChangeSet.Balance> balances = new ArrayList<>(changes.balances());
        balances.sort(Comparator.comparing(ChangeSet.Balance::workspaceId, BY_ID));
        List<SlotChange> parts = new ArrayList<>();
        for (ChangeSet.Balance balance : balances) {
            parts.addAll(slots.divide(balance));
        }
        return List.of(LedgerTable.insert(changes.transfers()), CreditSlotsTable.CHANGE.of(parts));
    }

    /** Credits that runs reserve and give back in this commit: the changes of balances do not have them. */
    private List<Part<?>> passing() {
        Map<UUID, BigDecimal> refunded = new TreeMap<>(BY_ID);
        refunded.putAll(changes.passingCredits());
        if (refunded.isEmpty()) {
            return List.of();
        }
        changes.balances().forEach(balance -> refunded.computeIfPresent(balance.workspaceId(),
                (workspace, amount) -> amount.subtract(balance.available())));
        List<SlotChange> needed = new ArrayList<>();
        refunded.forEach((workspace, amount) -> needed.addAll(
                slots.divide(new ChangeSet.Balance(workspace, amount.negate(), Amounts.ZERO, Amounts.ZERO))));
        return List.of(CreditSlotsTable.HAS.of(those(needed, change -> !change.decided())));
    }

    private List<StepsTable.Changed> changedSteps() {
        Map<StepRow, StepsTable.Changed> all = new LinkedHashMap<>();
        changes.steps().forEach(step -> all.put(step, changed(step)));
        for (StepRow step : changes.steps()) {
            StepRow before = changes.handedBy(step);
            if (before != null && StepsTable.plain(Objects.requireNonNull(all.get(step)))) {
                all.remove(step);
                all.computeIfPresent(before, (row, done) -> done.handing(step));
            }
        }
        return List.copyOf(all.values());
    }

    private StepsTable.Changed changed(StepRow step) {
        return new StepsTable.Changed(step, changes.outputOf(step), changes.resolvedInputOf(step),
                results.get(step.id()), null);
    }

    private TasksTable.Changed changed(TaskRow task) {
        return new TasksTable.Changed(task, changes.outputOf(task), OutputSummary.of(changes, task));
    }

    private static <K, V> List<K> absent(Map<K, Optional<V>> operations) {
        List<K> absent = new ArrayList<>();
        operations.forEach((key, operation) -> {
            if (operation.isEmpty()) {
                absent.add(key);
            }
        });
        return absent;
    }

    private static <K, V> List<V> present(Map<K, Optional<V>> operations) {
        List<V> present = new ArrayList<>();
        for (Optional<V> operation : operations.values()) {
            operation.ifPresent(present::add);
        }
        return present;
    }

    /**
     * Loops instead of streams, here and below: most of a commit's thirty kinds of changes are empty, and a stream has
     * a cost.
     */
    private static <A, B> List<B> each(Collection<A> all, Function<A, B> made) {
        List<B> those = new ArrayList<>(all.size());
        for (A one : all) {
            those.add(made.apply(one));
        }
        return those;
    }

    private static <A> List<A> those(Collection<A> all, Predicate<A> wanted) {
        List<A> those = new ArrayList<>();
        for (A one : all) {
            if (wanted.test(one)) {
                those.add(one);
            }
        }
        return those;
    }
}
