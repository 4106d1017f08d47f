package io.keelson.server.engine.store;

import io.keelson.core.decide.AgentRow;
import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.server.engine.store.sql.TextColumns;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A completed run of one task as the commit of its end has stored it, so that its document needs no query. Nothing changes the row
 * any more: the next decision on the run loads another one.
 *
 * @param createdAt time of the run's creation
 * @param endedAt time of the commit
 * @param agent name of the task's agent; null for the run's default agent
 * @param summary the run's {@code result_summary}
 */
public record EndedRun(RunRow row, Instant createdAt, Instant endedAt, @Nullable String agent, String summary) {

    /** Null for a run whose document depends on more than these changes. */
    public static @Nullable EndedRun of(RunView view, ChangeSet changes, Instant now) {
        RunRow run = view.run();
        if (run.state() != RunState.COMPLETED || run.attempt() != 1 || run.replans() > 0 || run.outputTemplate() != null
                || view.createdAt() == null || !view.standsAlone() || view.tasks().size() != 1
                || view.agents().size() != 1) {
            return null;
        }
        TaskRow task = view.tasks().iterator().next();
        AgentRow agent = view.agents().getFirst();
        String output = OutputSummary.of(changes, task);
        if (task.state() != TaskState.COMPLETED || output == null) {
            return null;
        }
        String summary = Objects.requireNonNull(
                TextColumns.clip(TextColumns.storable(OutputSummary.ofRun(output)), TasksTable.SUMMARY));
        return new EndedRun(run, view.createdAt(), now, TextColumns.storable(agent.name()), summary);
    }
}
