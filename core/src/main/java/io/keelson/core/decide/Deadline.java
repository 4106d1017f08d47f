package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Timeouts;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A deadline at the present count of time; {@link CountedTime} subtracts times without an engine.
 *
 * @param of the entity with the timeout
 * @param limit the timeout
 */
record Deadline(String of, Instant at, Duration limit) {
    /** The earliest deadline of a task, its agent or its run; null while no time counts. */
    static @Nullable Deadline first(RunView view, TaskRow task) {
        return Stream.of(run(view), agent(view, task.agent()), task(view, task)).filter(Objects::nonNull)
                .min(Comparator.comparing(Deadline::at)).orElse(null);
    }

    private static @Nullable Deadline run(RunView view) {
        Duration limit = view.run.policy().timeouts().running();
        return view.run.activeSince == null ? null
                : new Deadline("the run", view.run.activeSince.plus(limit).minus(view.run.active), limit);
    }

    private static @Nullable Deadline agent(RunView view, AgentRow agent) {
        Duration limit = view.run.policy().timeouts().agent();
        return agent.state != AgentState.RUNNING || agent.begunAt == null || CountedTime.spared(view, agent) ? null
                : new Deadline("agent '" + Objects.requireNonNullElse(agent.name(), "default") + "'",
                        agent.begunAt.plus(limit), limit);
    }

    private static @Nullable Deadline task(RunView view, TaskRow task) {
        Timeouts timeouts = view.run.policy().timeouts();
        Duration limit = Objects.requireNonNullElse(task.spec().policy().timeout(), timeouts.task());
        boolean counts = task.state == TaskState.RUNNING || task.state == TaskState.VERIFYING;
        return !counts || task.begunAt == null || CountedTime.spared(task) ? null
                : new Deadline("task '" + task.key() + "'", task.begunAt.plus(limit), limit);
    }
}
