package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.jsons;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.rows;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Owner;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.CallGate;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.SignalWait;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.TextColumns;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@code task_steps}, read through the view {@code orchestration_steps}. Nearly all rows are {@link #plain}: their statements
 * have the columns that differ between such rows, and write the same as those with all columns.
 */
final class StepsTable {

    /**
     * A step and its JSON texts in this batch.
     *
     * @param resolvedInput its input with expressions resolved
     * @param result the result that its row is to hold; null if this batch has no result
     * @param handedTo the step that began with its end and is not written, see {@link ChangeSet#handedBy}; null if
     *            absent
     */
    record Changed(StepRow row, @Nullable String output, @Nullable String resolvedInput, @Nullable StepResult result,
            @Nullable UUID handedTo) {

        /** This step, with the next step, which began with its end. */
        Changed handing(StepRow next) {
            return new Changed(row, output, resolvedInput, result, next.id());
        }

        /** The tokens whose parts its row has; null for undivided ones, whose parts {@code work_results} derives. */
        private @Nullable Tokens divided() {
            return result == null || result.tokens().onlyOutput() ? null : result.tokens();
        }

        private @Nullable String usage() {
            Tokens tokens = divided();
            return tokens == null ? null : UsageText.of(tokens);
        }

        private <V> @Nullable V of(Function<StepResult, @Nullable V> part) {
            return result == null ? null : part.apply(result);
        }
    }

    record New(Owner owner, Changed step) {
        private StepRow row() {
            return step.row;
        }
    }

    private static final Column<New> ID = uuid("id", n -> n.row().id());

    private static final List<Column<New>> PLACE = List.of(integer("task_attempt", n -> n.row().taskAttempt()),
            text("name", n -> n.row().spec().name()), word("kind", n -> n.row().spec().kind().wire()),
            text("tool", n -> n.row().spec().tool()), integer("position", n -> n.row().position()),
            integer("turn", n -> n.row().turn()), integer("lane", n -> n.row().lane()));

    private static final List<Column<New>> LIMITS = List.of(json("retry", n -> retry(n.row().spec().retry())),
            bigint("timeout_ms", n -> n.row().spec().timeout().toMillis()));

    /** Columns of the plan, without columns of the task. */
    private static final List<Column<New>> PLAN =
            Column.joined(PLACE, List.of(json("input", n -> n.row().spec().input())), LIMITS);

    private static final List<Column<New>> PLANNED = Column.joined(List.of(ID,
            uuid("run_id", n -> n.owner.run().id()), uuid("task_id", n -> n.row().task().id()),
            uuid("workspace_id", n -> n.owner.run().workspaceId()),
            integer("attempt_of_run", n -> n.owner.attempt())), PLAN);

    static final RowSetStatement<New> INSERT = new RowSetStatement<>("keelson_step_new", """
            insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, task_attempt, name, kind, tool,
                position, turn, lane, input, retry, timeout_ms, state, state_type, attempt, failures, deliveries,
                lease_epoch, result_epoch, error_code, error_message, error_class, tokens, cost, next_run_at,
                started_at, completed_at, output, resolved_input, granted_retries, failure_ignored, completed_by, result_input,
                output_hash, model, usage, call_effect, deferred_since, deferred_for, worst_case, gate, metered, kept_hold,
                call_result, called_by, created_at)
            select id, run_id, task_id, workspace_id, attempt_of_run, task_attempt, name, kind, tool, position, turn, lane, input, retry,
                timeout_ms, state, state_type, attempt, failures, deliveries, lease_epoch, result_epoch, error_code,
                error_message, error_class, tokens, cost, next_run_at, started_at, completed_at, output,
                resolved_input, granted_retries, failure_ignored, completed_by, result_input, output_hash, model,
                usage, call_effect, deferred_since, deferred_for, worst_case, gate, metered, kept_hold, call_result,
                called_by, {now}
              from {rows}""",
            Column.joined(PLANNED, List.of(word("state", n -> n.row().state().wire()),
                    word("state_type", n -> n.row().state().type().wire()),
                    integer("attempt", n -> n.row().attempt()), integer("failures", n -> n.row().failures()),
                    integer("deliveries", n -> n.row().deliveries()), integer("lease_epoch", n -> n.row().leaseEpoch()),
                    integer("result_epoch", n -> n.row().resultEpoch()),
                    text("error_code", 100, n -> n.row().errorCode()),
                    text("error_message", n -> n.row().errorMessage()), text("error_class", n -> n.row().errorClass()),
                    bigint("tokens", n -> n.row().tokens()), money("cost", n -> n.row().cost()),
                    time("next_run_at", n -> n.row().nextRunAt()), time("started_at", n -> n.row().startedAt()),
                    time("completed_at", n -> n.row().completedAt()), json("output", n -> n.step.output),
                    json("resolved_input", n -> n.step.resolvedInput),
                    integer("granted_retries", n -> n.row().grantedRetries()),
                    flag("failure_ignored", n -> n.row().failureIgnored()),
                    text("completed_by", n -> n.step.of(StepResult::holder)),
                    json("result_input", n -> n.step.of(StepResult::input)),
                    bigint("output_hash", n -> n.step.of(StepResult::outputHash)),
                    text("model", n -> n.step.of(StepResult::model)), json("usage", n -> n.step.usage()),
                    text("call_effect", n -> n.row().callEffect()),
                    time("deferred_since", n -> n.row().deferredSince()),
                    text("deferred_for", n -> n.row().deferredFor()),
                    json("worst_case", n -> TextColumns.worstCase(n.row().spec().worstCase())),
                    text("gate", n -> gate(n.row())), json("metered", n -> TextColumns.metered(n.row().metered())),
                    json("kept_hold", n -> TextColumns.hold(n.row().kept())),
                    bigint("call_result", n -> n.row().callResult()), uuid("called_by", n -> n.row().caller()))));

    /**
     * Plain new steps of a task. Completed ones have their start, end and holder in common.
     *
     * @param holder null where no lease had a result
     */
    record Together(Owner owner, TaskRow task, @Nullable Instant startedAt, @Nullable Instant completedAt,
            @Nullable String holder, List<New> steps) {

        /** In the order of their first steps. */
        static List<Together> of(List<New> steps) {
            Map<Together, Together> all = new LinkedHashMap<>();
            for (New step : steps) {
                boolean completed = step.row().completedAt() != null;
                Together key = new Together(step.owner, step.row().task(), completed ? step.row().startedAt() : null,
                        step.row().completedAt(), step.step.of(StepResult::holder), List.of());
                all.computeIfAbsent(key, k -> new Together(k.owner, k.task, k.startedAt, k.completedAt, k.holder,
                        new ArrayList<>())).steps.add(step);
            }
            return List.copyOf(all.values());
        }
    }

    private static final List<Column<Together>> TASK = List.of(uuid("run_id", t -> t.owner.run().id()),
            uuid("task_id", t -> t.task.id()), uuid("workspace_id", t -> t.owner.run().workspaceId()),
            integer("attempt_of_run", t -> t.owner.attempt()));

    /** Inserts plain rows that are not completed. */
    static final RowSetStatement<Together> INSERT_PLAIN = new RowSetStatement<>("keelson_steps_planned", """
            insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, task_attempt, name, kind, tool,
                position, turn, lane, input, retry, timeout_ms, state, state_type, attempt, deliveries, lease_epoch, started_at,
                created_at)
            select s.id, run_id, task_id, workspace_id, attempt_of_run, s.task_attempt, s.name, s.kind, s.tool, s.position, s.turn,
                s.lane, s.input, s.retry, s.timeout_ms, b.state, b.state, b.claims, b.claims, b.claims, s.started_at, {now}
              from {rows} cross join lateral unnest(u.steps) as s cross join lateral (
                select case when s.started_at is null then 'pending' else 'running' end, (s.started_at is not null)::integer)
                    as b (state, claims)""",
            Column.joined(TASK, List.of(rows("steps", "task_step_planned", Column.joined(List.of(ID), PLAN,
                    List.of(time("started_at", n -> n.row().startedAt()))), Together::steps))));

    /** A completed plain step, and the places of its JSON texts in the {@link SharedJson} of its task; null if absent. */
    record Completed(New step, @Nullable Integer input, @Nullable Integer output, @Nullable Integer resultInput,
            @Nullable Integer usage) {

        private static Completed of(New step, SharedJson json) {
            Tokens tokens = step.step.divided();
            return new Completed(step, json.place(step.row().spec().input()), json.place(step.step.output),
                    json.place(step.step.of(StepResult::input)), tokens == null ? null : json.place(tokens));
        }
    }

    /** Completed plain new steps of a task. */
    record CompletedTogether(Together task, List<Completed> steps, SharedJson json) {

        private static CompletedTogether of(Together task) {
            SharedJson json = new SharedJson();
            List<Completed> steps = new ArrayList<>(task.steps.size());
            task.steps.forEach(step -> steps.add(Completed.of(step, json)));
            return new CompletedTogether(task, steps, json);
        }

        static List<CompletedTogether> of(List<New> steps) {
            List<CompletedTogether> all = new ArrayList<>();
            Together.of(steps).forEach(task -> all.add(of(task)));
            return all;
        }
    }

    /** Inserts completed plain rows. A run that ends in its first commit has such rows. */
    static final RowSetStatement<CompletedTogether> INSERT_COMPLETED = new RowSetStatement<>(
            "keelson_steps_completed_2", """
            insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, task_attempt, name, kind, tool,
                position, turn, lane, input, retry, timeout_ms, state, state_type, attempt, deliveries, lease_epoch,
                result_epoch, tokens, cost, started_at, completed_at, output, completed_by, result_input, output_hash, model,
                usage, created_at)
            select s.id, run_id, task_id, workspace_id, attempt_of_run, s.task_attempt, s.name, s.kind, s.tool, s.position, s.turn,
                s.lane, json[s.input], s.retry, s.timeout_ms, 'completed', 'terminal', 1, 1, 1, 1, coalesce(s.tokens, 0),
                coalesce(s.cost, 0), started_at, completed_at, json[s.output], completed_by, json[s.result_input],
                s.output_hash, s.model, json[s.usage], {now}
              from {rows} cross join lateral unnest(u.steps) as s""",
            Column.joined(Column.of(TASK, CompletedTogether::task),
                    List.of(time("started_at", t -> t.task.startedAt), time("completed_at", t -> t.task.completedAt),
                            text("completed_by", t -> t.task.holder), jsons("json", t -> t.json.texts()),
                            rows("steps", "task_step_completed_2", Column.joined(
                                    Column.of(Column.joined(List.of(ID), PLACE, LIMITS, List.of(
                                            bigint("tokens", n -> n.row().tokens() == 0 ? null : n.row().tokens()),
                                            money("cost",
                                                    n -> n.row().cost().signum() == 0 ? null : n.row().cost()),
                                            bigint("output_hash", n -> n.step.of(StepResult::outputHash)),
                                            text("model", n -> n.step.of(StepResult::model)))), Completed::step),
                                    List.of(integer("input", Completed::input), integer("output", Completed::output),
                                            integer("result_input", Completed::resultInput),
                                            integer("usage", Completed::usage))),
                                    CompletedTogether::steps))));

    static final RowSetStatement<Changed> UPDATE = RowSetStatement.ofEach("keelson_step_change", "id",
            """
            merge into task_steps s using {rows} on s.id = u.id
             when matched then update
               set state = u.state, state_type = u.state_type, attempt = u.attempt, failures = u.failures,
                   deliveries = u.deliveries, lease_epoch = u.lease_epoch,
                   result_epoch = case when u.completed_by is null or s.result_epoch < u.result_epoch then u.result_epoch
                       else keelson_raise('23505', 'a second result of a lease')::integer end,
                   error_code = u.error_code, error_message = u.error_message, error_class = u.error_class,
                   tokens = u.tokens, cost = u.cost, next_run_at = u.next_run_at, started_at = u.started_at,
                   completed_at = u.completed_at, output = coalesce(u.output, s.output),
                   resolved_input = coalesce(u.resolved_input, s.resolved_input), granted_retries = u.granted_retries,
                   failure_ignored = u.failure_ignored, completed_by = coalesce(u.completed_by, s.completed_by),
                   result_input = coalesce(u.result_input, s.result_input),
                   output_hash = coalesce(u.output_hash, s.output_hash), model = coalesce(u.model, s.model),
                   usage = coalesce(u.usage, s.usage),
                   handed_to = coalesce(u.handed_to, s.handed_to), deferred_since = u.deferred_since,
                   deferred_for = u.deferred_for, task_attempt = u.task_attempt, worst_case = u.worst_case, gate = u.gate,
                   metered = u.metered, kept_hold = u.kept_hold, call_result = u.call_result""",
            uuid("id", s -> s.row.id()), word("state", s -> s.row.state().wire()),
            word("state_type", s -> s.row.state().type().wire()), integer("attempt", s -> s.row.attempt()),
            integer("failures", s -> s.row.failures()), integer("deliveries", s -> s.row.deliveries()),
            integer("lease_epoch", s -> s.row.leaseEpoch()), integer("result_epoch", s -> s.row.resultEpoch()),
            text("error_code", 100, s -> s.row.errorCode()), text("error_message", s -> s.row.errorMessage()),
            text("error_class", s -> s.row.errorClass()), bigint("tokens", s -> s.row.tokens()),
            money("cost", s -> s.row.cost()),
            time("next_run_at", s -> s.row.nextRunAt()), time("started_at", s -> s.row.startedAt()),
            time("completed_at", s -> s.row.completedAt()),
            json("output", Changed::output), json("resolved_input", Changed::resolvedInput),
            integer("granted_retries", s -> s.row.grantedRetries()),
            flag("failure_ignored", s -> s.row.failureIgnored()),
            text("completed_by", s -> s.of(StepResult::holder)), json("result_input", s -> s.of(StepResult::input)),
            bigint("output_hash", s -> s.of(StepResult::outputHash)), text("model", s -> s.of(StepResult::model)),
            json("usage", Changed::usage), uuid("handed_to", Changed::handedTo),
            time("deferred_since", s -> s.row.deferredSince()),
            text("deferred_for", s -> s.row.deferredFor()), integer("task_attempt", s -> s.row.taskAttempt()),
            json("worst_case", s -> TextColumns.worstCase(s.row.spec().worstCase())), text("gate", s -> gate(s.row)),
            json("metered", s -> TextColumns.metered(s.row.metered())),
            json("kept_hold", s -> TextColumns.hold(s.row.kept())), bigint("call_result", s -> s.row.callResult()));

    /**
     * Updates plain rows that are not pending. The heads of their runs change first in each message, and fail if the run is gone. So this
     * statement has no clause for missing rows: such a MERGE sets up an insertion with all columns.
     */
    static final RowSetStatement<Changed> UPDATE_PLAIN = new RowSetStatement<>("keelson_step_try", """
            merge into task_steps s using {rows} on s.id = u.id
             when matched then update
               set state = case when u.completed_at is null then 'running' else 'completed' end,
                   state_type = case when u.completed_at is null then 'running' else 'terminal' end,
                   attempt = 1, failures = 0, deliveries = 1, lease_epoch = 1,
                   result_epoch = case when u.completed_by is null or s.result_epoch = 0 then (u.completed_at is not null)::integer
                       else keelson_raise('23505', 'a second result of a lease')::integer end,
                   error_code = null, error_message = null, error_class = null, tokens = coalesce(u.tokens, 0),
                   cost = coalesce(u.cost, 0), next_run_at = null, started_at = u.started_at,
                   completed_at = u.completed_at, output = coalesce(u.output, s.output), granted_retries = 0,
                   failure_ignored = false, completed_by = coalesce(u.completed_by, s.completed_by),
                   result_input = coalesce(u.result_input, s.result_input),
                   output_hash = coalesce(u.output_hash, s.output_hash), model = coalesce(u.model, s.model),
                   usage = coalesce(u.usage, s.usage),
                   handed_to = coalesce(u.handed_to, s.handed_to)""",
            uuid("id", s -> s.row.id()), time("started_at", s -> s.row.startedAt()),
            time("completed_at", s -> s.row.completedAt()),
            bigint("tokens", s -> s.row.tokens() == 0 ? null : s.row.tokens()),
            money("cost", s -> s.row.cost().signum() == 0 ? null : s.row.cost()),
            json("output", Changed::output), text("completed_by", s -> s.of(StepResult::holder)),
            json("result_input", s -> s.of(StepResult::input)),
            bigint("output_hash", s -> s.of(StepResult::outputHash)),
            text("model", s -> s.of(StepResult::model)), json("usage", Changed::usage),
            uuid("handed_to", Changed::handedTo));

    /**
     * Completes plain rows whose result has no charge, no model and no resolved input, as nearly all steps of this server. A column less
     * costs a small commit as much as a row.
     */
    static final RowSetStatement<Changed> COMPLETE = new RowSetStatement<>("keelson_step_done", """
            merge into task_steps s using {rows} on s.id = u.id
             when matched then update
               set state = 'completed', state_type = 'terminal', attempt = 1, failures = 0, deliveries = 1, lease_epoch = 1,
                   result_epoch = case s.result_epoch when 0 then 1
                       else keelson_raise('23505', 'a second result of a lease')::integer end,
                   error_code = null, error_message = null, error_class = null, tokens = 0, cost = 0, next_run_at = null,
                   started_at = u.started_at, completed_at = u.completed_at, output = u.output, granted_retries = 0,
                   failure_ignored = false, completed_by = u.completed_by, output_hash = u.output_hash,
                   handed_to = u.handed_to""",
            uuid("id", s -> s.row.id()), time("started_at", s -> s.row.startedAt()),
            time("completed_at", s -> s.row.completedAt()), json("output", Changed::output),
            text("completed_by", s -> s.of(StepResult::holder)),
            bigint("output_hash", s -> s.of(StepResult::outputHash)),
            uuid("handed_to", Changed::handedTo));

    /**
     * Steps of a task's earlier attempts are not part of the view. An input is not needed after the end of its task,
     * unless the task may restart.
     */
    private static final String LOAD = """
            select s.id, s.run_id, s.task_id, s.name, s.kind, s.tool, s.position, s.turn, s.lane, s.retry, s.timeout_ms, s.state,
                s.attempt, s.failures, s.deliveries, s.lease_epoch, s.result_epoch, s.error_code, s.error_message,
                s.error_class, s.tokens, s.cost, s.next_run_at, s.started_at, s.completed_at,
                s.granted_retries, s.failure_ignored, s.call_effect, s.deferred_since, s.deferred_for,
                s.worst_case, s.gate, s.metered, s.kept_hold, s.call_result, s.called_by,
                case when s.state = 'waiting' and s.kind = 'signal' then s.resolved_input ->> 'name' end as signal,
                case when s.state = 'waiting' and s.kind = 'signal'
                    then s.resolved_input ->> 'on_timeout' end as on_timeout,
                case when t.state_type = 'terminal' and not %s then 'null' when s.kind = 'call'
                    and s.resolved_input is not null then s.resolved_input else s.input end as input
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
              join orchestration_steps s on s.task_id = t.id and s.task_attempt >= t.attempt_number
             where r.id = any (?)
             order by s.task_id, s.position, s.turn""".formatted(TasksTable.RESPAWNS);

    private StepsTable() {}

    /** JSON text; null for the usual policy. */
    private static @Nullable String retry(RetryPolicy policy) {
        return policy.equals(RetryPolicy.STEP) ? null : TextColumns.retry(policy);
    }

    private static @Nullable String gate(StepRow row) {
        CallGate gate = row.gate();
        return gate == null ? null : gate.text();
    }

    /** Whether {@link #INSERT_COMPLETED} writes the same as {@link #INSERT}: the step was completed by its first try, is not a call and has no worst case. */
    static boolean completed(New step) {
        StepRow row = step.row();
        return row.state() == StepState.COMPLETED && row.resultEpoch() == 1 && faultless(step.step, 1)
                && row.callEffect() == null && row.spec().worstCase() == null && row.gate() == null
                && row.metered() == null && row.kept() == null && row.callResult() == null && row.caller() == null
                && row.deferredSince() == null && row.deferredFor() == null;
    }

    /** Whether {@link #INSERT_PLAIN} writes the same as {@link #INSERT}: the step is untouched, or at its first try, and neither a call nor with a worst case. */
    static boolean plain(New step) {
        return step.row().callEffect() == null && step.row().callResult() == null
                && step.row().spec().worstCase() == null
                && noResult(step.step)
                && switch (step.row().state()) {
                    case PENDING -> step.row().startedAt() == null && faultless(step.step, 0);
                    case RUNNING -> step.row().startedAt() != null && faultless(step.step, 1);
                    case COMPLETED, WAITING, WAITING_APPROVAL, AWAITING_RETRY, FAILED, CANCELLED, SKIPPED -> false;
                };
    }

    /** Whether {@link #UPDATE_PLAIN} writes the same as {@link #UPDATE}: the step is at its first try, or completed by it, in its task's first attempt, without a computed worst case and without a wait for a result. */
    static boolean plain(Changed step) {
        return faultless(step, 1) && step.row.gate() == null && step.row.metered() == null && step.row.kept() == null
                && step.row.callResult() == null && step.row.taskAttempt() == 1
                && step.row.spec().asPlanned() == step.row.spec()
                && !step.row.task().spec().policy().reuses(step.row.spec().name())
                && switch (step.row.state()) {
                    case RUNNING -> noResult(step);
                    case COMPLETED -> step.row.resultEpoch() == 1;
                    case PENDING, WAITING, WAITING_APPROVAL, AWAITING_RETRY, FAILED, CANCELLED, SKIPPED -> false;
                };
    }

    /** Whether {@link #COMPLETE} writes the same as {@link #UPDATE_PLAIN} for this plain row. */
    static boolean completes(Changed plain) {
        StepResult result = plain.result;
        return result != null && result.holder() != null && result.outputHash() != null && result.model() == null
                && result.input() == null && result.tokens().total() == 0 && plain.output != null
                && plain.row.state() == StepState.COMPLETED && plain.row.tokens() == 0
                && plain.row.cost().signum() == 0;
    }

    /** Whether it was claimed that many times, and nothing else has happened to it. */
    private static boolean faultless(Changed step, int claims) {
        StepRow row = step.row;
        return row.attempt() == claims && row.deliveries() == claims && row.leaseEpoch() == claims
                && row.failures() == 0 && row.grantedRetries() == 0 && !row.failureIgnored()
                && row.nextRunAt() == null && row.errorCode() == null && row.errorMessage() == null
                && row.errorClass() == null && step.resolvedInput == null;
    }

    private static boolean noResult(Changed step) {
        StepRow row = step.row;
        return row.resultEpoch() == 0 && row.tokens() == 0 && row.cost().signum() == 0 && row.completedAt() == null
                && step.output == null && step.result == null;
    }

    static void load(Connection c, Collection<UUID> runIds, ViewLoader loader) throws SQLException {
        StepSpecs specs = new StepSpecs();
        ViewLoader.each(c, LOAD, runIds, row -> {
            TaskRow task = Objects.requireNonNull(loader.tasks.get(ViewLoader.uuid(row, "task_id")));
            StepSpec spec = specs.spec(row.getString("name"), row.getString("kind"), row.getString("tool"),
                    row.getString("input"), row.getString("retry"), row.getLong("timeout_ms"))
                    .within(TextColumns.worstCase(row.getString("worst_case")));
            StepRow step = new StepRow(ViewLoader.uuid(row, "id"), task, spec, row.getInt("position"),
                    row.getInt("turn"), row.getInt("lane"), row.getString("call_effect"))
                    .calledBy(ViewLoader.uuidOrNull(row, "called_by"));
            restore(row, step);
            loader.view(row).add(step);
        });
    }

    private static void restore(ResultSet row, StepRow step) throws SQLException {
        step.restore(StepState.of(row.getString("state")), row.getInt("attempt"), row.getInt("failures"),
                row.getInt("deliveries"), row.getInt("lease_epoch"), row.getInt("result_epoch"),
                row.getLong("tokens"), ViewLoader.cost(row, "cost"), Rows.optionalTime(row, "next_run_at"),
                Rows.optionalTime(row, "started_at"), Rows.optionalTime(row, "completed_at"),
                row.getString("error_code"), row.getString("error_message"), row.getString("error_class"))
                .restorePolicy(row.getInt("granted_retries"), row.getBoolean("failure_ignored"))
                .restoreDeferral(Rows.optionalTime(row, "deferred_since"), row.getString("deferred_for"))
                .restoreGate(row.getString("gate") == null ? null : CallGate.of(row.getString("gate")))
                .restoreMetered(TextColumns.metered(row.getString("metered")))
                .restoreKept(TextColumns.keptHold(row.getString("kept_hold")))
                .restoreCallResult((Long) row.getObject("call_result"));
        String signal = row.getString("signal");
        if (signal != null) {
            step.restoreAwaited(new SignalWait(signal, "continue".equals(row.getString("on_timeout"))));
        }
    }
}
