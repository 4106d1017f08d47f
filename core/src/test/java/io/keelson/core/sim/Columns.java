package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Attempt;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.Metered;
import io.keelson.core.decide.Question;
import io.keelson.core.decide.RunRow;
import io.keelson.core.lifecycle.State;
import io.keelson.core.money.Purpose;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Use;
import io.keelson.core.run.NewRun;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A run's rows as the columns in which the server's database keeps them, by table. Values are UUID, String, Number,
 * Boolean, Instant or null. What follows from other columns, and when a row was written, is left out.
 */
final class Columns {
    private final RunRows rows;

    Columns(RunRows rows) {
        this.rows = rows;
    }

    Map<String, List<Map<String, Object>>> tables() {
        Map<String, List<Map<String, Object>>> tables = new LinkedHashMap<>();
        tables.put("orchestration_runs", List.of(run(rows.run)));
        tables.put("run_heads", List.of(head(rows.head)));
        tables.put("run_attempts", all(rows.attempts.values(), Columns::attempt));
        tables.put("billing_ledger", all(rows.ledger, Columns::transfer));
        tables.put("run_agents", all(rows.agents.values(), Columns::agent));
        tables.put("orchestration_tasks", all(rows.tasks.values().stream().filter(this::isThere).toList(),
                Columns::task));
        tables.put("task_rounds", all(rows.tasks.values().stream().filter(task -> !isThere(task)).toList(),
                this::round));
        tables.put("orchestration_task_dependencies",
                rows.tasks.values().stream().filter(this::isThere).flatMap(task -> task.upstreams()
                        .stream().map(up -> columns("task_id", task.id(), "depends_on_id", up))).toList());
        tables.put("orchestration_steps",
                all(rows.steps.values().stream().filter(step -> isThere(step.id())).toList(), Columns::step));
        tables.put("work_queue", all(rows.queue.values(), Columns::place));
        tables.put("timers", all(rows.timers.values(), Columns::timer));
        tables.put("work_results",
                all(rows.calls.values().stream().filter(call -> isThere(call.result().stepId())).toList(),
                        Columns::call));
        tables.put("call_waits", rows.waits.entrySet().stream().map(each -> columns("step_id", each.getKey(), "state",
                each.getValue().now().state().wire(), "rounds", each.getValue().now().rounds(), "lease_epoch",
                each.getValue().epoch(), "answered_by", each.getValue().answeredBy(), "remote_task",
                each.getValue().now().remoteTask())).toList());
        tables.put("escalation_tickets", all(rows.tickets.values(), Columns::ticket));
        tables.put("run_signals", all(rows.signals.values(), Columns::signal));
        tables.put("task_budgets",
                all(rows.budgets.values(), b -> columns("task_key", b.task(), "budget_usd", b.limit(),
                        "charged", b.charged(), "exceeded", b.exceeded())));
        tables.put("artifacts", rows.artifacts.entrySet().stream().map(each -> columns("attempt",
                each.getKey().attempt(), "name", each.getKey().name(), "step_id", each.getValue())).toList());
        return tables;
    }

    private boolean isThere(Saved.Task task) {
        return !rows.folded.contains(task.id());
    }

    private boolean isThere(UUID step) {
        return !rows.folded.contains(rows.steps.get(step).taskId());
    }

    private Map<String, Object> round(Saved.Task t) {
        String loop = rows.tasks.get(t.groupId()).key();
        return columns("loop_id", t.groupId(), "round", t.itemIndex(), "member",
                t.spec().id().equals(loop) ? "" : t.spec().id().substring(loop.length() + 1), "task_id", t.id(),
                "state", t.state().wire(),
                "attempts", t.attempt(), "effect_generation", t.effectGeneration(), "tokens", t.tokens(), "cost",
                t.cost(), "error_code", t.errorCode(), "started_at", t.startedAt(), "completed_at", t.completedAt());
    }

    private static <R> List<Map<String, Object>> all(Collection<R> rows, Function<R, Map<String, Object>> columns) {
        return rows.stream().map(columns).toList();
    }

    private static Map<String, Object> columns(Object... namesAndValues) {
        Map<String, Object> columns = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            columns.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return columns;
    }

    private static Map<String, Object> with(State state, Object... namesAndValues) {
        return columns(Stream.concat(Stream.of("state", state.wire(), "state_type", state.type().wire()),
                Stream.of(namesAndValues)).toArray());
    }

    private Map<String, Object> run(Saved.Run r) {
        NewRun accepted = rows.accepted;
        RunRow.Counts counts = r.counts();
        return with(r.state(), "workspace_id", accepted.workspaceId(), "title", accepted.name(), "priority",
                accepted.priority(), "attempt_number", r.attempt(), "effect_generation", r.effectGeneration(),
                "failing",
                r.failing(), "agent_count", counts.agents(), "task_count", counts.tasks(), "tasks_completed",
                counts.tasksCompleted(), "tasks_failed", counts.tasksFailed(), "tasks_skipped", counts.tasksSkipped(),
                "steps_total", counts.steps(), "plan_version", r.planVersion(), "replans", r.replans(), "gate",
                r.gate().wire(), "state_since", r.stateSince(), "active_ms", r.active().toMillis(), "active_since",
                r.activeSince(), "quiet_since", r.quietSince(), "started_at", r.startedAt(), "completed_at",
                r.completedAt(), "error_code", r.errorCode(), "error_message", r.errorMessage(),
                "credits_charged_before", r.chargedBefore(), "credits_refunded", r.refunded(), "credits_uncollected",
                r.uncollected(), "hard_limit_usd", r.hardLimit(), "soft_limit_usd", r.softLimit(), "budget_warned",
                r.budgetWarned(), "turn_model", r.turnModel(), "ended_ms", r.ended().toMillis(), "begun_at",
                r.begunAt());
    }

    private static Map<String, Object> attempt(Attempt a) {
        return columns("attempt_number", a.number(), "state", a.state(), "completed_at", a.completedAt(), "error_code",
                a.errorCode(), "credits_reserved", a.credits().reserved(), "credits_charged", a.credits().charged(),
                "credits_refunded", a.credits().refunded(), "uncollected", a.credits().uncollected(), "settled_at",
                a.credits().settledAt());
    }

    private static Map<String, Object> transfer(Transfer t) {
        Use use = t.use();
        return columns("workspace_id", t.workspaceId(), "transaction_type", t.kind().wire(), "amount", t.amount(),
                "cost",
                use == null || use.cost().compareTo(t.amount()) == 0 ? null : use.cost(),
                "debit_account", t.kind().from().wire(), "credit_account", t.kind().to().wire(), "attempt_number",
                t.attempt(), "step_id", t.stepId(), "idempotency_key", t.key(), "tool", use == null ? null : use.tool(),
                "model", use == null ? null : use.model(), "agent", use == null ? null : use.agent(), "tokens",
                use == null ? null : use.tokens().total(), "usage", use == null ? null : usage(use.tokens()),
                "price_version", use == null ? null : use.priceVersion(), "purpose",
                use == null || use.purpose() == Purpose.WORK ? null : use.purpose().wire(),
                "actor_type", t.actorType(), "actor_id", t.actorId());
    }

    private static Map<String, Object> head(Saved.Head h) {
        return columns("version_id", h.version(), "last_seq", h.seq(), "steps_completed", h.stepsCompleted(),
                "total_tokens", h.tokens().total(), "usage", usage(h.tokens()), "total_cost", h.cost(), "credits_left",
                h.reserved().subtract(h.charged()),
                "credits_charged", h.charged(), "credits_remainder", h.remainder());
    }

    private static Map<String, Object> agent(Saved.Agent a) {
        return with(a.state(), "id", a.id(), "attempt", a.ofAttempt(), "number", a.number(), "name", a.name(),
                "started_at", a.startedAt(), "completed_at", a.completedAt(), "attempt_number", a.attempt(), "failing",
                a.failing(), "failure_ignored", a.failureIgnored(), "next_run_at", a.nextRunAt(), "begun_at",
                a.begunAt());
    }

    private static Map<String, Object> task(Saved.Task t) {
        Map<String, Object> columns = with(t.state(), "id", t.id(), "attempt", t.ofAttempt(), "key", t.key(),
                "sequence_number", t.sequence(),
                "title", t.spec().title(), "trigger_rule", t.spec().triggerRule().wire(), "parallel_steps",
                t.spec().parallelSteps(), "run_agent_id", t.agentId(), "group_id", t.groupId(), "item_index",
                t.groupId() == null ? null : t.itemIndex(), "attempt_number", t.attempt(), "continuation_count",
                t.continuations(), "tokens_used", t.tokens(), "cost", t.cost(), "queued_at", t.queuedAt(), "started_at",
                t.startedAt(), "completed_at", t.completedAt(), "error_code", t.errorCode(), "error_message",
                t.errorMessage(), "reused_from", t.reusedFrom());
        columns.putAll(t.policyColumns());
        return columns;
    }

    private static Map<String, Object> step(Saved.Step s) {
        return with(s.state(), "id", s.id(), "attempt_of_run", s.ofAttempt(), "task_id", s.taskId(), "task_attempt",
                s.taskAttempt(), "name", s.spec().name(), "kind", s.spec().kind().wire(), "tool", s.spec().tool(),
                "position", s.position(), "turn", s.turn(), "lane", s.lane(), "call_effect", s.callEffect(),
                "called_by", s.caller(),
                "call_result", s.callResult(), "attempt",
                s.attempt(),
                "failures", s.failures(),
                "deliveries", s.deliveries(), "lease_epoch", s.leaseEpoch(), "result_epoch", s.resultEpoch(), "tokens",
                s.tokens(), "cost", s.cost(), "next_run_at", s.nextRunAt(), "started_at", s.startedAt(), "completed_at",
                s.completedAt(), "error_code", s.errorCode(), "error_message", s.errorMessage(), "error_class",
                s.errorClass(), "granted_retries", s.grantedRetries(), "failure_ignored", s.failureIgnored(),
                "deferred_since", s.deferredSince(), "deferred_for", s.deferredFor(), "gate",
                s.gate() == null ? null : s.gate().text(), "metered", metered(s.metered()));
    }

    /** As PostgreSQL prints it. */
    private static String metered(Metered m) {
        return m == null ? null
                : "{\"cost\": %s, \"epoch\": %d, \"tokens\": %s%s}".formatted(m.cost(), m.epoch(), parts(m.tokens()),
                        m.requests() == null ? ""
                                : ", \"requests\": {\"cost\": %s, \"waits\": %b, \"needed\": %s, \"tokens\": %s, \"refused\": %s}"
                                        .formatted(m.requests().cost(), m.requests().waits(), m.requests().needed(),
                                                parts(m.requests().tokens()),
                                                m.requests().refused() == null ? "null"
                                                        : "\"" + m.requests().refused() + "\""));
    }

    private static String parts(Tokens t) {
        return "{\"input\": %d, \"output\": %d, \"reasoning\": %d, \"cache_read\": %d, \"cache_write\": %d}"
                .formatted(t.input(), t.output(), t.reasoning(), t.cacheRead(), t.cacheWrite());
    }

    /** The server's database reckons from the time that the node was given, until the first heartbeat of the holder. */
    private static Map<String, Object> place(Saved.Place place) {
        QueueItem item = place.item();
        Instant expires =
                item.lease() == null || place.extended() ? place.expiresAt() : place.given().plus(item.lease());
        return columns("task_id", item.key().taskId(), "lane", item.key().lane(), "tool", item.tool(), "priority",
                item.priority(), "queued_at", item.queuedAt(), "holder", item.holder(), "lease_ms",
                millis(item.lease()),
                "lease_expires_at", expires, "deadline_at",
                item.timeout() == null ? null : place.given().plus(item.timeout()));
    }

    /** As PostgreSQL prints it. */
    private static String usage(Tokens tokens) {
        return tokens.none() ? null
                : "{\"input\": %d, \"output\": %d, \"reasoning\": %d, \"cache_read\": %d, \"cache_write\": %d}"
                        .formatted(tokens.input(), tokens.output(), tokens.reasoning(), tokens.cacheRead(),
                                tokens.cacheWrite());
    }

    private static Long millis(Duration duration) {
        return duration == null ? null : duration.toMillis();
    }

    private static Map<String, Object> timer(Timer timer) {
        Question asks = timer.question();
        return columns("kind", timer.key().kind().wire(), "subject", timer.key().subject(), "due_at", timer.dueAt(),
                "workspace_id", asks == null ? null : asks.workspaceId(), "question",
                asks == null ? null : asks.kind().wire(), "asked_at", asks == null ? null : asks.askedAt(), "answer_by",
                asks == null ? null : asks.dueAt(), "cause", asks == null ? null : asks.cause());
    }

    private static Map<String, Object> call(Saved.Call call) {
        StepResult result = call.result();
        return columns("step_id", result.stepId(), "epoch", result.epoch(), "outcome", result.outcome(), "error_code",
                result.errorCode(), "system", result.system(), "tokens", result.tokens().total(), "usage",
                usage(result.tokens()), "cost",
                result.cost(), "holder", result.holder(),
                "recorded_at", call.at());
    }

    private static Map<String, Object> signal(Saved.Sent s) {
        return columns("id", s.signal().id(), "name", s.signal().name(), "seq", s.seq(), "step_id", s.takenBy(),
                "taken_at", s.takenAt());
    }

    private static Map<String, Object> ticket(Saved.Ticket t) {
        return columns("id", t.id(), "kind", t.kind().wire(), "attempt", t.attempt(), "task_id", t.taskId(), "step_id",
                t.stepId(), "severity", t.severity().wire(), "reason", t.reason(), "error_code", t.errorCode(),
                "system", t.system(), "message", t.message(), "opened_at", t.openedAt(), "resolution", t.resolution(),
                "resolved_at",
                t.resolvedAt());
    }
}
