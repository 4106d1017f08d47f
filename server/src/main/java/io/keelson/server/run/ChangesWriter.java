package io.keelson.server.run;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.Changes;
import io.keelson.core.run.RunRow;
import io.keelson.core.run.StepRow;
import io.keelson.core.run.TaskRow;
import io.keelson.server.run.RunsTable.Accepted;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes the changes of one batch: at most one statement per table and kind of change. */
final class ChangesWriter {
    private final Connection c;
    private final Changes changes;
    private final Instant now;

    ChangesWriter(Connection c, Changes changes, Instant now) {
        this.c = c;
        this.changes = changes;
        this.now = now;
    }

    void write() throws SQLException {
        runs();
        AttemptsTable.upsert(c, changes.attempts());
        insertRows();
        AgentsTable.update(c, changes.agents());
        TasksTable.update(c, changes.tasks().stream().map(this::changed).toList(), now);
        StepsTable.update(c, changes.steps().stream().map(this::changed).toList());
        EventsTable.insert(c, changes.events());
        work();
        ResultsTable.insert(c, changes.results(), now);
        ArtifactsTable.insert(c, changes.artifacts(), now);
    }

    /** First, so that a view that is not current is found out before anything else is done. */
    private void runs() throws SQLException {
        Map<UUID, RunRow> touched = new LinkedHashMap<>();
        changes.runs().forEach(run -> touched.put(run.id(), run));
        List<Accepted> accepted = changes.newRuns().stream()
                .map(run -> new Accepted(run, Objects.requireNonNull(touched.remove(run.id())))).toList();
        RunsTable.update(c, touched.values(), now);
        RunsTable.insert(c, accepted, now);
    }

    private void insertRows() throws SQLException {
        AgentsTable.insert(c, changes.newAgents().stream()
                .map(agent -> new AgentsTable.New(changes.ownerOf(agent), agent)).toList(), now);
        TasksTable.insert(c, changes.newTasks().stream()
                .map(task -> new TasksTable.New(changes.ownerOf(task), changed(task))).toList(), now);
        DependenciesTable.insert(c, changes.newTasks());
        StepsTable.insert(c, changes.newSteps().stream()
                .map(step -> new StepsTable.New(changes.ownerOf(step), changed(step))).toList(), now);
    }

    private StepsTable.Changed changed(StepRow step) {
        return new StepsTable.Changed(step, changes.outputOf(step), changes.resolvedInputOf(step));
    }

    private TasksTable.Changed changed(TaskRow task) {
        String made = changes.outputOf(task);
        String known = made == null ? lastOutput(task) : made;
        return new TasksTable.Changed(task, made, Texts.summary(known));
    }

    /** The output of a completed task's last step, if this batch brought it. */
    private @Nullable String lastOutput(TaskRow task) {
        if (task.state() != TaskState.COMPLETED) {
            return null;
        }
        return task.steps().reversed().stream().filter(step -> step.state() == StepState.COMPLETED).findFirst()
                .map(changes::outputOf).orElse(null);
    }

    private void work() throws SQLException {
        QueueTable.clear(c, changes.clearedRuns());
        TimersTable.clear(c, changes.clearedRuns());
        QueueTable.remove(c, absent(changes.queue()));
        QueueTable.put(c, present(changes.queue()), now);
        TimersTable.disarm(c, absent(changes.timers()));
        TimersTable.arm(c, present(changes.timers()));
    }

    private static <K, V> List<K> absent(Map<K, Optional<V>> operations) {
        return operations.entrySet().stream().filter(each -> each.getValue().isEmpty()).map(Map.Entry::getKey).toList();
    }

    private static <K, V> List<V> present(Map<K, Optional<V>> operations) {
        return operations.values().stream().flatMap(Optional::stream).toList();
    }
}
