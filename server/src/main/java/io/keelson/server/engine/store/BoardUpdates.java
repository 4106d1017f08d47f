package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.Event;
import io.keelson.core.run.TaskPayload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A batch's changes to the board and to the reports, derived from its events. The first event of a row has the state
 * that the board shows.
 */
final class BoardUpdates {
    private final List<BoardTable.Change> moved = new ArrayList<>();
    private final List<RunRow> endedRuns = new ArrayList<>();
    private final List<TaskRow> endedTasks = new ArrayList<>();

    BoardUpdates(ChangeSet changes) {
        Map<UUID, String> left = left(changes.events());
        Map<UUID, TaskPayload.Skipped> skipped = skipped(changes.events());
        Set<UUID> progressed = progressed(changes.events());
        changes.runs().forEach(run -> {
            boolean turned = left.containsKey(run.id());
            if (!changes.isNew(run.id()) && (turned || progressed.contains(run.id()))) {
                moved.add(BoardTable.Change.of(run));
            }
            if (turned && run.state().terminal()) {
                endedRuns.add(run);
            }
        });
        changes.tasks().forEach(task -> {
            String before = left.get(task.id());
            if (before != null && TasksTable.onBoard(task)
                    && BoardStatus.of(TaskState.of(before)) != BoardStatus.of(task.state())) {
                moved.add(BoardTable.Change.of(task, skipped.get(task.id())));
            }
            end(task, before);
        });
        changes.newTasks().forEach(task -> end(task, left.get(task.id())));
    }

    /** The previous state of each run and each task. */
    private static Map<UUID, String> left(List<Event> events) {
        Map<UUID, String> left = new HashMap<>();
        for (Event event : events) {
            if (event.from() == null || event.stepId() != null || event.taskId() == null && event.agentId() != null) {
                continue;
            }
            left.putIfAbsent(event.taskId() == null ? event.runId() : event.taskId(), event.from());
        }
        return left;
    }

    /** Runs of which a task began, ended or continued. */
    private static Set<UUID> progressed(List<Event> events) {
        Set<UUID> progressed = new HashSet<>();
        for (Event event : events) {
            if (event.taskId() != null && event.stepId() == null && event.from() != null) {
                progressed.add(event.runId());
            }
        }
        return progressed;
    }

    private static Map<UUID, TaskPayload.Skipped> skipped(List<Event> events) {
        Map<UUID, TaskPayload.Skipped> skipped = new HashMap<>();
        for (Event event : events) {
            if (event.taskId() != null && event.payload() instanceof TaskPayload.Skipped why) {
                skipped.put(event.taskId(), why);
            }
        }
        return skipped;
    }

    private void end(TaskRow task, @Nullable String before) {
        if (before != null && task.state().terminal() && TasksTable.onBoard(task)) {
            endedTasks.add(task);
        }
    }

    /** Rows that were there before and changed. */
    List<BoardTable.Change> moved() {
        return moved;
    }

    /** Runs that need a report. A run that ends and restarts within the batch has none for that attempt. */
    List<RunRow> endedRuns() {
        return endedRuns;
    }

    /** Tasks that need a report, by the same rule. */
    List<TaskRow> endedTasks() {
        return endedTasks;
    }
}
