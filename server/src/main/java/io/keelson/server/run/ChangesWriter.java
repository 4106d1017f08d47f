package io.keelson.server.run;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Changes;
import io.keelson.core.run.RunRow;
import io.keelson.core.run.StepRow;
import io.keelson.core.run.TaskRow;
import io.keelson.server.run.RunsTable.Accepted;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Writes the changes of one batch in at most three messages: what is new, what moves with every step, and what changes
 * when tasks and runs begin or end. A fourth has what hardly any batch has: plans and tickets.
 */
final class ChangesWriter {
    private static final SetGroup NEW = new SetGroup(RunsTable.INSERT, RunsTable.INSERT_HEAD, AgentsTable.INSERT,
            TasksTable.INSERT, DependenciesTable.INSERT, StepsTable.INSERT);
    private static final SetGroup MOVES = new SetGroup(RunsTable.UPDATE_HEAD, RunsTable.UPDATE,
            StepsTable.UPDATE, EventsTable.INSERT, ResultsTable.INSERT);
    private static final SetGroup TURNS = new SetGroup(TasksTable.UPDATE, AgentsTable.UPDATE, AttemptsTable.UPSERT,
            QueueTable.CLEAR, QueueTable.REMOVE, QueueTable.PUT, TimersTable.CLEAR, TimersTable.DISARM,
            TimersTable.ARM, ArtifactsTable.INSERT);

    /** What hardly any batch has. */
    private static final SetGroup RARE = new SetGroup(RunsTable.UPDATE_PLAN, TicketsTable.INSERT, TicketsTable.UPDATE);

    /** The work of a task in such a state is done, though it may still be judged. */
    private static final Set<TaskState> DONE = EnumSet.of(TaskState.COMPLETED, TaskState.VERIFYING,
            TaskState.AWAITING_HUMAN);

    private static final Set<String> OVERTAKEN = Set.of("ix_orch_events_run", "orchestration_runs_pkey",
            "run_heads_pkey");
    /** As PostgreSQL orders them: everybody touches runs in one order. */
    private static final Comparator<RunRow> BY_ID = Comparator.comparing(RunRow::id,
            (one, other) -> one.getMostSignificantBits() == other.getMostSignificantBits()
                    ? Long.compareUnsigned(one.getLeastSignificantBits(), other.getLeastSignificantBits())
                    : Long.compareUnsigned(one.getMostSignificantBits(), other.getMostSignificantBits()));

    private final Connection c;
    private final Changes changes;
    private final Instant now;

    ChangesWriter(Connection c, Changes changes, Instant now) {
        this.c = c;
        this.changes = changes;
        this.now = now;
    }

    void write() throws SQLException {
        try {
            writeAll();
        } catch (SQLException e) {
            if (overtaken(e)) {
                throw new StaleViewException(e);
            }
            throw e;
        }
    }

    /** True when somebody else has written an event of the same number, or has made the same run. */
    private static boolean overtaken(SQLException e) {
        ServerErrorMessage message = e instanceof PSQLException refusal ? refusal.getServerErrorMessage() : null;
        return message != null && message.getConstraint() != null && OVERTAKEN.contains(message.getConstraint());
    }

    private void writeAll() throws SQLException {
        Map<UUID, RunRow> runs = new LinkedHashMap<>();
        changes.runs().stream().sorted(BY_ID).forEach(run -> runs.put(run.id(), run));
        List<Accepted> accepted = changes.newRuns().stream()
                .map(run -> new Accepted(run, Objects.requireNonNull(runs.remove(run.id())))).toList();
        NEW.execute(c, now, RunsTable.INSERT.of(accepted),
                RunsTable.INSERT_HEAD.of(accepted.stream().map(Accepted::row).toList()),
                AgentsTable.INSERT.of(changes.newAgents().stream()
                        .map(agent -> new AgentsTable.New(changes.ownerOf(agent), agent)).toList()),
                TasksTable.INSERT.of(changes.newTasks().stream()
                        .map(task -> new TasksTable.New(changes.ownerOf(task), changed(task))).toList()),
                DependenciesTable.insert(changes.newTasks(), changes.links()),
                StepsTable.INSERT.of(changes.newSteps().stream()
                        .map(step -> new StepsTable.New(changes.ownerOf(step), changed(step))).toList()));
        MOVES.execute(c, now, RunsTable.UPDATE_HEAD.ofAll(runs.values()),
                RunsTable.UPDATE.ofAll(runs.values().stream().filter(RunRow::unsaved).toList()),
                StepsTable.UPDATE.ofAll(changes.steps().stream().map(this::changed).toList()),
                EventsTable.INSERT.of(changes.events()), ResultsTable.INSERT.of(changes.results()));
        TURNS.execute(c, now, TasksTable.UPDATE.ofAll(changes.tasks().stream().map(this::changed).toList()),
                AgentsTable.UPDATE.ofAll(changes.agents()), AttemptsTable.UPSERT.of(changes.attempts()),
                QueueTable.CLEAR.of(changes.clearedRuns()), QueueTable.REMOVE.of(absent(changes.queue())),
                QueueTable.PUT.of(present(changes.queue())), TimersTable.CLEAR.of(changes.clearedRuns()),
                TimersTable.DISARM.of(absent(changes.timers())), TimersTable.ARM.of(present(changes.timers())),
                ArtifactsTable.INSERT.of(changes.artifacts()));
        RARE.execute(c, now, RunsTable.UPDATE_PLAN.ofAll(changes.plans()), TicketsTable.INSERT.of(changes.newTickets()),
                TicketsTable.UPDATE.ofAll(changes.tickets()));
        changes.runs().forEach(RunRow::saved);
    }

    private StepsTable.Changed changed(StepRow step) {
        return new StepsTable.Changed(step, changes.outputOf(step), changes.resolvedInputOf(step));
    }

    private TasksTable.Changed changed(TaskRow task) {
        String made = changes.outputOf(task);
        String known = made == null ? lastOutput(task) : made;
        return new TasksTable.Changed(task, made, Texts.summary(known));
    }

    /** The last output of a task whose work is done, if this batch brought it; what verifies it does not count. */
    private @Nullable String lastOutput(TaskRow task) {
        if (!DONE.contains(task.state())) {
            return null;
        }
        return task.steps().reversed().stream()
                .filter(step -> step.state() == StepState.COMPLETED && step.spec().kind() != StepKind.VERIFY)
                .findFirst().map(changes::outputOf).orElse(null);
    }

    private static <K, V> List<K> absent(Map<K, Optional<V>> operations) {
        return operations.entrySet().stream().filter(each -> each.getValue().isEmpty()).map(Map.Entry::getKey).toList();
    }

    private static <K, V> List<V> present(Map<K, Optional<V>> operations) {
        return operations.values().stream().flatMap(Optional::stream).toList();
    }
}
