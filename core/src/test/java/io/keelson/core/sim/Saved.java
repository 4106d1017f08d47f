package io.keelson.core.sim;

import io.keelson.core.decide.AgentRow;
import io.keelson.core.decide.CallRow;
import io.keelson.core.decide.ChangeSet.CallAnswer;
import io.keelson.core.decide.ChangeSet.NewSignal;
import io.keelson.core.decide.ChangeSet.Proposal;
import io.keelson.core.decide.ChangeSet.ProposalEnd;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.ChangeSet.TakenSignal;
import io.keelson.core.decide.Hold;
import io.keelson.core.decide.LaneLease;
import io.keelson.core.decide.Metered;
import io.keelson.core.decide.OpenRequest;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.decide.TicketRow;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.policy.CallGate;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Signal;
import io.keelson.core.run.SignalWait;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Rows as a database holds them: values, not the objects that decisions edit. What the database of the real server does
 * not hold has no place here either, so a view that is built from these lacks what a server's would lack.
 */
final class Saved {

    private Saved() {}

    /** The run's own row: written only when something on it has changed. */
    record Run(RunState state, int attempt, int effectGeneration, boolean failing, RunRow.Counts counts,
            int planVersion, int replans, RunRow.Gate gate, Instant stateSince, Duration active, Instant activeSince,
            Instant quietSince, Instant startedAt, Instant completedAt, String errorCode, String errorMessage,
            BigDecimal uncollected, BigDecimal chargedBefore, BigDecimal refunded, BigDecimal hardLimit,
            BigDecimal softLimit, boolean budgetWarned, String turnModel, Duration ended, Instant begunAt,
            Instant updatedAt) {

        static Run of(RunRow r, Instant now) {
            return new Run(r.state(), r.attempt(), r.effectGeneration(), r.failing(), r.counts(), r.planVersion(),
                    r.replans(), r.gate(), r.stateSince(), r.active(), r.activeSince(), r.quietSince(), r.startedAt(),
                    r.completedAt(), r.errorCode(), r.errorMessage(), r.uncollected(), r.chargedBefore(), r.refunded(),
                    r.hardLimit(), r.softLimit(), r.budgetWarned(), r.turnModel(), r.ended(), r.begunAt(), now);
        }

        RunRow restore(NewRun accepted, Head head) {
            RunRow.Counts all = new RunRow.Counts(counts.agents(), counts.tasks(), counts.tasksCompleted(),
                    counts.tasksFailed(), counts.tasksSkipped(), counts.steps(), head.stepsCompleted);
            return new RunRow(accepted.id(), accepted.workspaceId(), accepted.name(), accepted.priority(),
                    accepted.policy(), accepted.outputTemplate()).traced(accepted.origin().trace())
                    .restore(state, attempt, effectGeneration, head.version, head.seq, failing, all, head.tokens,
                            head.cost, startedAt, completedAt, errorCode, errorMessage)
                    .restorePolicy(planVersion, replans, gate, stateSince, active, activeSince, quietSince)
                    .restoreCredits(head.reserved, head.charged, head.remainder, uncollected, chargedBefore, refunded,
                            hardLimit, softLimit, budgetWarned, turnModel)
                    .restoreAttempt(ended, begunAt);
        }
    }

    /** What changes with every commit. */
    record Head(int version, long seq, int stepsCompleted, Tokens tokens, BigDecimal cost, BigDecimal reserved,
            BigDecimal charged, BigDecimal remainder) {

        static Head of(RunRow r) {
            return new Head(r.version(), r.seq(), r.counts().stepsCompleted(), r.tokens(), r.cost(), r.reserved(),
                    r.charged(), r.remainder());
        }
    }

    record Agent(UUID id, int ofAttempt, int number, String name, AgentState state, Instant startedAt,
            Instant completedAt, int attempt, boolean failing, boolean failureIgnored, Instant nextRunAt,
            Instant begunAt) {

        static Agent of(AgentRow a, int ofAttempt) {
            return new Agent(a.id(), ofAttempt, a.number(), a.name(), a.state(), a.startedAt(), a.completedAt(),
                    a.attempt(), a.failing(), a.failureIgnored(), a.nextRunAt(), a.begunAt());
        }

        AgentRow restore() {
            return new AgentRow(id, number, name).restore(state, startedAt, completedAt).restorePolicy(attempt,
                    failing, failureIgnored, nextRunAt, begunAt);
        }
    }

    /** @param groupId null for a task of the plan */
    record Task(UUID id, int ofAttempt, String key, int sequence, TaskSpec spec, UUID agentId, UUID groupId,
            int itemIndex, String item, List<UUID> upstreams, TaskState state, int attempt, int continuations,
            long tokens, BigDecimal cost, Instant queuedAt, Instant startedAt, Instant completedAt, String errorCode,
            String errorMessage, UUID reusedFrom, List<Object> policy) {

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
                    t.errorCode(), t.errorMessage(), t.reusedFrom(), policy(t));
        }

        /** The values of {@link TaskRow#POLICY}. */
        private static List<Object> policy(TaskRow t) {
            Object[] values = new Object[TaskRow.POLICY.size()];
            Arrays.setAll(values, i -> TaskRow.POLICY.get(i).of(t));
            return Arrays.asList(values);
        }

        /** The columns of the policy. */
        Map<String, Object> policyColumns() {
            Map<String, Object> columns = new LinkedHashMap<>();
            TaskRow.POLICY.forEach(field -> columns.put(field.column(), policy(field.column())));
            return columns;
        }

        private Object policy(String column) {
            for (int i = 0; i < policy.size(); i++) {
                if (TaskRow.POLICY.get(i).column().equals(column)) {
                    return policy.get(i);
                }
            }
            throw new IllegalArgumentException(column);
        }

        boolean superseded() {
            return (boolean) policy("superseded");
        }

        boolean failureIgnored() {
            return (boolean) policy("failure_ignored");
        }

        int grantedRetries() {
            return (int) policy("granted_retries");
        }

        int effectGeneration() {
            return (int) policy("effect_generation");
        }

        String errorClass() {
            return (String) policy("error_class");
        }

        Instant stateSince() {
            return (Instant) policy("state_since");
        }

        /** With a further dependency. */
        Task linked(UUID upstream) {
            List<UUID> more = new ArrayList<>(upstreams);
            more.add(upstream);
            return new Task(id, ofAttempt, key, sequence, spec, agentId, groupId, itemIndex, item, List.copyOf(more),
                    state, attempt, continuations, tokens, cost, queuedAt, startedAt, completedAt, errorCode,
                    errorMessage, reusedFrom, policy);
        }

        /** True for a task with {@code for_each} or {@code repeat} itself. */
        boolean isGroup() {
            return groupId == null && (spec.forEach() != null || spec.policy().repeat() != null);
        }

        /** True for a task with {@code repeat} itself. */
        boolean isLoop() {
            return groupId == null && spec.policy().repeat() != null;
        }

        Instant nextRunAt() {
            return (Instant) policy("next_run_at");
        }

        /** Begun and not ended: its use is the sum of its steps, not the value in its row. */
        boolean inUse() {
            return startedAt != null && completedAt == null;
        }

        /** Waits for a person: neither retried nor done. */
        boolean parked() {
            return state == TaskState.AWAITING_RETRY && policy("next_run_at") == null;
        }

        /**
         * As loaded.
         *
         * @param owner of an item or a round: the task that it belongs to
         * @param again true where a task may get another row in its place: then texts, steps and dependencies count
         * @param dependsOn as the links say
         * @param steps     all that it has had
         */
        TaskRow restore(AgentRow agent, TaskRow owner, boolean again, List<Dependency> dependsOn, List<Step> steps) {
            boolean group = isGroup();
            boolean member = owner != null && owner.isLoop() && !owner.spec().policy().repeat().tasks().isEmpty();
            long used = inUse() && !group ? steps.stream().mapToLong(Step::tokens).sum() : tokens;
            BigDecimal paid =
                    inUse() && !group ? steps.stream().map(Step::cost).reduce(BigDecimal.ZERO, BigDecimal::add) : cost;
            boolean texts = group || member || again;
            TaskSpec loaded = owner != null && !member ? owner.spec()
                    : new TaskSpec(member ? owner.plannedId(key) : key, texts ? spec.title() : "",
                            texts ? spec.description() : null, spec.taskType(),
                            agent.name(), again || member ? dependsOn : List.of(), spec.triggerRule(), spec.when(),
                            spec.forEach(), spec.output(), spec.parallelSteps(),
                            group || member ? spec.steps() : List.of(),
                            texts ? spec.successCriteria() : null, spec.policy());
            TaskRow task = new TaskRow(id, key, sequence, loaded, agent, owner, itemIndex, item).restore(state, attempt,
                    continuations, used, paid, queuedAt, startedAt, completedAt, errorCode, errorMessage, reusedFrom);
            TaskRow.POLICY.forEach(field -> field.restore(task, policy(field.column())));
            return task;
        }
    }

    record Step(UUID id, int ofAttempt, UUID taskId, int taskAttempt, StepSpec spec, int position, int turn,
            int lane, String callEffect, UUID caller, StepState state, int attempt, int failures, int deliveries,
            int leaseEpoch,
            int resultEpoch, long tokens,
            BigDecimal cost, Instant nextRunAt, Instant startedAt, Instant completedAt, String errorCode,
            String errorMessage, String errorClass, int grantedRetries, boolean failureIgnored, SignalWait signalWait,
            Instant deferredSince, String deferredFor, CallGate gate, Metered metered, Hold kept, Long callResult) {

        static Step of(StepRow s, int ofAttempt) {
            return new Step(s.id(), ofAttempt, s.task().id(), s.taskAttempt(), s.spec(), s.position(), s.turn(),
                    s.lane(), s.callEffect(), s.caller(), s.state(), s.attempt(), s.failures(), s.deliveries(),
                    s.leaseEpoch(),
                    s.resultEpoch(), s.tokens(), s.cost(), s.nextRunAt(), s.startedAt(), s.completedAt(), s.errorCode(),
                    s.errorMessage(), s.errorClass(), s.grantedRetries(), s.failureIgnored(), s.awaited(),
                    s.deferredSince(), s.deferredFor(), s.gate(), s.metered(), s.kept(), s.callResult());
        }

        StepRow restore(TaskRow task) {
            return new StepRow(id, task, spec, position, turn, lane, callEffect).calledBy(caller)
                    .restore(state, attempt, failures, deliveries,
                            leaseEpoch, resultEpoch, tokens, cost, nextRunAt, startedAt, completedAt, errorCode,
                            errorMessage,
                            errorClass)
                    .restorePolicy(grantedRetries, failureIgnored).restoreAwaited(signalWait)
                    .restoreDeferral(deferredSince, deferredFor).restoreGate(gate)
                    .restoreMetered(metered).restoreKept(kept).restoreCallResult(callResult);
        }

        /** Waits for a person's answer to its ticket. */
        boolean parked() {
            return state == StepState.AWAITING_RETRY && nextRunAt == null;
        }
    }

    /**
     * A row of the work queue.
     *
     * @param expiresAt by the store's clock; null without a holder
     * @param deadline when the execution has taken too long; null for none
     * @param given when it was granted, by the node's clock, which the server's database uses
     * @param extended whether the lease has been extended since
     */
    record Place(QueueItem item, Instant expiresAt, Instant deadline, Instant given, boolean extended) {

        static Place of(QueueItem item, Instant given, Instant now) {
            return new Place(item, item.lease() == null ? null : now.plus(item.lease()),
                    item.timeout() == null ? null : now.plus(item.timeout()), given, false);
        }

        /** A worker's lease; its deadline is that of the server's database. */
        LaneLease lease() {
            return LaneLease.of(item.tool(), item.lease(),
                    item.timeout() == null ? null : given.plus(item.timeout()));
        }

        Place extended(Instant now) {
            return new Place(item, now.plus(item.lease()), deadline, given, true);
        }
    }

    record Ticket(UUID id, TicketRow.Kind kind, int attempt, UUID taskId, UUID stepId, TicketRow.Severity severity,
            String reason, String errorCode, String system, String message, Instant openedAt, String resolution,
            Instant resolvedAt) {

        static Ticket of(TicketRow t) {
            return new Ticket(t.id(), t.kind(), t.attempt(), t.taskId(), t.stepId(), t.severity(), t.reason(),
                    t.errorCode(), t.system(), t.message(), t.openedAt(), t.resolution(), t.resolvedAt());
        }

        TicketRow restore() {
            return new TicketRow(id, kind, attempt, taskId, stepId, severity, reason, errorCode, system, message,
                    openedAt);
        }

        /** True when its answer forgives all errors so far. */
        boolean forgives() {
            return "resume".equals(resolution)
                    && (reason.equals("error_count_exceeded") || reason.equals("error_rate_exceeded"));
        }

        boolean open() {
            return resolution == null;
        }
    }

    /** @param takenBy the step; null while it is kept */
    record Sent(Signal signal, long seq, UUID takenBy, Instant takenAt) {

        static Sent of(NewSignal s) {
            return new Sent(s.signal(), s.seq(), s.takenBy(), s.takenBy() == null ? null : s.at());
        }

        Sent taken(TakenSignal by) {
            Violation.unless(takenBy == null, "taken twice: %s", this);
            return new Sent(signal, seq, by.stepId(), by.at());
        }
    }

    /** @param end null while it is pending */
    record Proposed(Proposal row, ProposalEnd end) {

        boolean pending() {
            return end == null;
        }

        Proposed ended(ProposalEnd now) {
            Violation.unless(end == null, "ended twice: %s", this);
            return new Proposed(row, now);
        }
    }

    /**
     * The wait of a call of another server.
     *
     * @param epoch of the lease under which it was stored
     * @param answeredBy the person that answered its last question; null without an answer
     */
    record Wait(CallWait now, int epoch, String answeredBy) {

        CallRow restore() {
            return new CallRow(now.state(), now.rounds(), epoch);
        }

        /** Replaced by a later one of the call. Who has answered is known until the next question. */
        Wait then(Wait next) {
            return next.now.state() == CallWait.State.ASKED ? next : new Wait(next.now, next.epoch, answeredBy);
        }

        Wait answered(CallAnswer answer) {
            Violation.unless(now.state() == CallWait.State.ASKED, "answered and not asked: %s", this);
            Violation.unless(answer.answers().equals(CallServer.answers(now.rounds())),
                    "the answer to another question: %s",
                    this);
            return new Wait(new CallWait(CallWait.State.ANSWERED, now.system(), now.tool(), now.serverState(),
                    now.remoteTask(), now.questions(), answer.answers(), now.rounds()), epoch, answer.by().id());
        }
    }

    /** A recorded result and when that was. */
    record Call(StepResult result, Instant at) {}

    /** A request of a step's program to a model. */
    record Asked(UUID stepId, OpenRequest open) {}
}
