package io.keelson.core.sim;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.AgentRow;
import io.keelson.core.run.Changes.QueueItem;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.RunRow;
import io.keelson.core.run.StepRow;
import io.keelson.core.run.TaskRow;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * Rows as a database holds them: values, not the objects that decisions edit. What the database of the real server does
 * not hold has no place here either, so a view that is built from these lacks what a server's would lack.
 */
final class Saved {

    private Saved() {}

    /** The run's own row: written only when something on it has changed. */
    record Run(RunState state, int attempt, int effectGeneration, boolean failing, RunRow.Counts counts,
            Instant startedAt, Instant completedAt, String errorCode, String errorMessage, Instant updatedAt) {

        static Run of(RunRow r, Instant now) {
            return new Run(r.state(), r.attempt(), r.effectGeneration(), r.failing(), r.counts(), r.startedAt(),
                    r.completedAt(), r.errorCode(), r.errorMessage(), now);
        }

        RunRow restore(NewRun accepted, Head head) {
            RunRow.Counts all = new RunRow.Counts(counts.agents(), counts.tasks(), counts.tasksCompleted(),
                    counts.tasksFailed(), counts.tasksSkipped(), counts.steps(), head.stepsCompleted);
            return new RunRow(accepted.id(), accepted.workspaceId(), accepted.name(), accepted.priority(),
                    accepted.policy(), accepted.outputTemplate())
                    .restore(state, attempt, effectGeneration, head.version, head.seq, failing, all, head.tokens,
                            head.cost, startedAt, completedAt, errorCode, errorMessage);
        }
    }

    /** What changes with every commit. */
    record Head(int version, long seq, int stepsCompleted, long tokens, BigDecimal cost) {

        static Head of(RunRow r) {
            return new Head(r.version(), r.seq(), r.counts().stepsCompleted(), r.tokens(), r.cost());
        }
    }

    record Agent(UUID id, int attempt, int number, String name, AgentState state, Instant startedAt,
            Instant completedAt) {

        static Agent of(AgentRow a, int attempt) {
            return new Agent(a.id(), attempt, a.number(), a.name(), a.state(), a.startedAt(), a.completedAt());
        }

        AgentRow restore() {
            return new AgentRow(id, number, name).restore(state, startedAt, completedAt);
        }
    }

    /** @param groupId null for a task of the plan */
    record Task(UUID id, int ofAttempt, String key, int sequence, TaskSpec spec, UUID agentId, UUID groupId,
            int itemIndex, String item, List<UUID> upstreams, TaskState state, int attempt, int continuations,
            long tokens, BigDecimal cost, Instant queuedAt, Instant startedAt, Instant completedAt, String errorCode,
            String errorMessage, UUID carriedFrom) {

        static Task of(TaskRow t, int ofAttempt) {
            return of(t, ofAttempt, t.spec(), t.upstreams().stream().map(TaskRow::id).toList());
        }

        /** What an update leaves alone stays as it was inserted. */
        Task changed(TaskRow t) {
            return of(t, ofAttempt, spec, upstreams);
        }

        private static Task of(TaskRow t, int ofAttempt, TaskSpec spec, List<UUID> upstreams) {
            TaskRow group = t.group();
            return new Task(t.id(), ofAttempt, t.key(), t.sequence(), spec, t.agent().id(),
                    group == null ? null : group.id(), t.itemIndex(), t.item(), upstreams, t.state(), t.attempt(),
                    t.continuations(), t.tokens(), t.cost(), t.queuedAt(), t.startedAt(), t.completedAt(),
                    t.errorCode(), t.errorMessage(), t.carriedFrom());
        }

        /** As loaded: texts and steps only where children will need them. */
        TaskRow restore(AgentRow agent, TaskRow group) {
            boolean fans = spec.forEach() != null && group == null;
            TaskSpec loaded = group != null ? group.spec()
                    : new TaskSpec(key, fans ? spec.title() : "", fans ? spec.description() : null, spec.taskType(),
                            null, List.of(), spec.triggerRule(), spec.when(), spec.forEach(), spec.output(),
                            spec.parallelSteps(), fans ? spec.steps() : List.of(),
                            fans ? spec.successCriteria() : null);
            return new TaskRow(id, key, sequence, loaded, agent, group, itemIndex, item).restore(state, attempt,
                    continuations, tokens, cost, queuedAt, startedAt, completedAt, errorCode, errorMessage,
                    carriedFrom);
        }
    }

    record Step(UUID id, int ofAttempt, UUID taskId, StepSpec spec, int position, int turn, StepState state,
            int attempt, int failures, int deliveries, int leaseEpoch, int resultEpoch, long tokens, BigDecimal cost,
            Instant nextRunAt, Instant startedAt, Instant completedAt, String errorCode, String errorMessage,
            String errorClass) {

        static Step of(StepRow s, int ofAttempt) {
            return new Step(s.id(), ofAttempt, s.task().id(), s.spec(), s.position(), s.turn(), s.state(),
                    s.attempt(), s.failures(), s.deliveries(), s.leaseEpoch(), s.resultEpoch(), s.tokens(), s.cost(),
                    s.nextRunAt(), s.startedAt(), s.completedAt(), s.errorCode(), s.errorMessage(), s.errorClass());
        }

        StepRow restore(TaskRow task) {
            return new StepRow(id, task, spec, position, turn).restore(state, attempt, failures, deliveries,
                    leaseEpoch, resultEpoch, tokens, cost, nextRunAt, startedAt, completedAt, errorCode, errorMessage,
                    errorClass);
        }
    }

    /**
     * A row of the work queue.
     *
     * @param expiresAt by the store's clock; null when nobody holds it
     * @param deadline when the execution has taken too long; null for none
     */
    record Place(QueueItem item, Instant expiresAt, Instant deadline) {

        static Place of(QueueItem item, Instant now) {
            return new Place(item, item.lease() == null ? null : now.plus(item.lease()),
                    item.timeout() == null ? null : now.plus(item.timeout()));
        }

        Place extended(Instant now) {
            return new Place(item, now.plus(item.lease()), deadline);
        }
    }
}
