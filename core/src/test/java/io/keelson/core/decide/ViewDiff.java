package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * Compares two views of one run in every field that a decision can see. A new field that the database does not keep fails
 * by itself. The lists below name the exceptions.
 */
public final class ViewDiff {
    /**
     * Fixed by the plan, or irrelevant to a decision: texts, outputs, the cursor over finished steps; recent calls, which
     * each node counts by its own time; outages, which a node loads when it locks runs; and the time of creation, for the answer to it.
     */
    private static final Set<String> IGNORED = Set.of("RunView.plan", "RunView.agents", "RunView.tasks",
            "RunView.steps", "RunView.calls", "RunView.outages", "RunView.createdAt", "RunRow.output",
            "RunRow.failures",
            "RunRow.saved", "RunRow.savedSpending", "TaskRow.spec",
            "TaskRow.cursor",
            "StepRow.spec");
    /** Derived from rows and used until the run has ended. */
    private static final Set<String> WHILE_OPEN = Set.of("RunView.tasksOpen", "RunView.evaluatingOutput",
            "RunView.evaluatingPlan", "RunView.tasksBegun", "RunView.agentsAtWork", "RunView.beforeHook",
            "RunView.afterHook",
            "AgentRow.tasksOpen", "AgentRow.tasksFailed", "AgentRow.tasksSkipped", "AgentRow.tasksCancelled",
            "AgentRow.slotsTaken", "AgentRow.ready", "TaskRow.upstreamsOpen", "TaskRow.upstreamsCompleted",
            "TaskRow.upstreamsFailed", "TaskRow.childrenOpen", "TaskRow.hasSlot", "TaskRow.evaluating",
            "StepRow.queued", "StepRow.holder", "StepRow.evaluating");
    /** Waiting agents and tasks are computed again when the run resumes; those at work are not. */
    private static final Set<String> WHILE_RUNNING =
            Set.of("RunView.waitingAgents", "RunView.tasksWaiting", "TaskRow.waits");
    private static final Map<Class<?>, List<Column>> COLUMNS = Map.of(RunView.class, columns(RunView.class),
            RunRow.class, columns(RunRow.class), AgentRow.class, columns(AgentRow.class), TaskRow.class,
            columns(TaskRow.class), StepRow.class, columns(StepRow.class));

    private record Column(String name, Field field, boolean whileOpen, boolean whileRunning) {}

    private final boolean open;
    private final boolean running;

    private ViewDiff(RunView view) {
        this.open = !view.run.state.terminal();
        this.running = view.run.state == RunState.RUNNING;
    }

    /** The first difference in words; null when there is none. */
    public static String between(RunView one, RunView other) {
        ViewDiff diff = new ViewDiff(one);
        String found = first(diff.differ(one.run, other.run), diff.differ(one, other),
                diff.differ(one.tasks.keySet(), other.tasks.keySet()),
                diff.differ(one.steps.keySet(), other.steps.keySet()));
        for (int i = 0; found == null && i < one.agents.size(); i++) {
            found = diff.differ(one.agents.get(i), other.agents.get(i));
        }
        for (TaskRow task : one.tasks.values()) {
            found = found != null ? found : diff.differ(task, other.tasks.get(task.id()));
        }
        for (StepRow step : one.steps.values()) {
            found = found != null ? found : diff.differ(step, other.steps.get(step.id()));
        }
        return found;
    }

    private static String first(String... found) {
        return Arrays.stream(found).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private String differ(Set<UUID> one, Set<UUID> other) {
        return one.equals(other) ? null : "rows " + one + " and " + other;
    }

    private String differ(Object one, Object other) {
        for (Column column : COLUMNS.get(one.getClass())) {
            if (!open && column.whileOpen || !running && column.whileRunning) {
                continue;
            }
            Object left = raw(column.field, one);
            Object right = raw(column.field, other);
            // Equal as they are, so equal in what a decision can see of them.
            if (Objects.equals(left, right)) {
                continue;
            }
            left = value(column.field, one, left);
            right = value(column.field, other, right);
            if (!Objects.equals(left, right)) {
                return column.name + " of " + label(one) + ": " + left + " and " + right;
            }
        }
        return null;
    }

    private static Object raw(Field field, Object of) {
        try {
            return field.get(of);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What a decision can see of a field's value. */
    private static Object value(Field field, Object of, Object value) {
        return switch (value) {
            case BigDecimal number -> number.stripTrailingZeros();
            case Collection<?> line when field.getName().equals("ready") -> line.stream().map(TaskRow.class::cast)
                    .filter(ViewDiff::inLine).map(ViewDiff::label).sorted().toList();
            case Collection<?> agents when field.getName().equals("waitingAgents") -> agents.stream()
                    .map(AgentRow.class::cast).filter(a -> a.ready.stream().anyMatch(ViewDiff::inLine))
                    .map(ViewDiff::label).sorted().toList();
            case Collection<?> rows -> rows.stream().map(ViewDiff::label).sorted().toList();
            case Map<?, ?> tickets when field.getName().equals("tickets") -> tickets.values().stream()
                    .map(TicketRow.class::cast).map(ViewDiff::ticket).sorted().toList();
            case TaskRow task -> task.id();
            case AgentRow agent -> agent.id();
            case RunRow run -> run.id();
            case Boolean slot when of instanceof TaskRow task && field.getName().equals("hasSlot") -> slot
                    && !task.terminal();
            case null, default -> value;
        };
    }

    private static String ticket(TicketRow t) {
        return t.id() + " " + t.kind() + " " + t.attempt() + " " + t.taskId() + " " + t.stepId() + " " + t.severity()
                + " " + t.reason() + " " + t.errorCode() + " " + t.message() + " " + t.openedAt() + " "
                + t.resolution();
    }

    /** A task cancelled while it waits leaves the queue later. */
    private static boolean inLine(TaskRow task) {
        return task.state == TaskState.QUEUED;
    }

    private static String label(Object of) {
        return switch (of) {
            case TaskRow task -> task.key() + " " + task.state;
            case AgentRow agent -> "agent " + agent.number();
            case StepRow step -> step.task().key() + "/" + step.name() + " " + step.state;
            default -> of.getClass().getSimpleName();
        };
    }

    private static List<Column> columns(Class<?> type) {
        List<Column> columns = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            String name = type.getSimpleName() + "." + field.getName();
            if (!Modifier.isStatic(field.getModifiers()) && !IGNORED.contains(name)) {
                field.setAccessible(true);
                columns.add(new Column(name, field, WHILE_OPEN.contains(name), WHILE_RUNNING.contains(name)));
            }
        }
        return columns;
    }
}
