package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.run.PreviousFailure;
import io.keelson.core.run.RunTrace;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads steps for remote workers, and the owners of steps. */
public final class StepWorkReader {

    /**
     *
     * A step that runs under a lease.
     *
     * @param name with the turn, as in {@code StepRow.name()}
     * @param input JSON text, expressions unresolved
     * @param effectKey stable over reclaims and infrastructure retries of one logical step
     * @param deadline null if absent
     * @param previous the previous failure; null if absent
     * @param details JSON text of an earlier holder's heartbeat; null if absent
     * @param trace of its run
     * @param maxOutputTokens that the credits held for it pay; null when none are held
     */
    public record StepWork(UUID workspaceId, UUID runId, String runName, UUID taskId, int lane, UUID stepId,
            String name, String tool, String input, int attempt, int leaseEpoch, Duration timeout, String effectKey,
            @Nullable String holder, @Nullable Instant leaseExpiresAt, @Nullable Instant deadline,
            @Nullable PreviousFailure previous, @Nullable String details, RunTrace trace,
            @Nullable Long maxOutputTokens) {}

    /**
     * The owner of a step.
     *
     * @param input JSON text of its input, where it has expressions; null elsewhere
     */
    public record Owner(UUID runId, UUID taskId, @Nullable String input) {}

    /**
     *
     * A recorded result.
     *
     * @param failed whether it is a failure
     * @param hash of the output as it was reported; null for reported failures and for results of the server itself
     * @param output stored JSON text; null for failures
     */
    public record Recorded(boolean failed, @Nullable Long hash, @Nullable String output) {}

    /**
     * How the work of a lease has ended.
     *
     * @param epoch the step's present one
     * @param codes of the errors of step, task and run, as far as there are
     */
    public record Ended(StepState state, int epoch, List<String> codes) {
        private static final Set<String> TIMEOUTS =
                Set.of("TASK_TIMEOUT", "VERIFY_TIMEOUT", "AGENT_TIMEOUT", "RUN_TIMEOUT", "TASK_STALLED");

        /** Whether the time of the step that ran under the epoch, or of its task or run, was over. */
        public boolean timedOut(int of) {
            boolean next = epoch == of + 1 && state == StepState.RUNNING;
            return (epoch == of || next) && codes.contains("STEP_TIMEOUT")
                    || cancelled(of) && codes.stream().anyMatch(TIMEOUTS::contains);
        }

        /** Whether the step that ran under the epoch was ended by a command or by other work. */
        public boolean cancelled(int of) {
            return epoch == of && state == StepState.CANCELLED;
        }
    }

    private static final String ENDED = """
            select s.id, s.state, s.lease_epoch, array_remove(array[s.error_code, t.error_code, r.error_code], null) as codes
              from orchestration_steps s
              join orchestration_tasks t on t.id = s.task_id
              join orchestration_runs r on r.id = s.run_id
             where s.id = any (?)""";

    private static final String RESULTS = """
            select w.step_id, w.epoch, w.output_hash, w.outcome = 'failed' as failed,
                case when w.outcome <> 'failed' then s.output end as output
              from work_results w join orchestration_steps s on s.id = w.step_id
             where w.step_id = any (?) and w.outcome <> 'lost'""";

    private static final String OWNERS = """
            select id, run_id, task_id, case when input::text like '%${%' then input end as input
              from orchestration_steps s where workspace_id = ? and id = any (?)
               and (select r.deleted_at from orchestration_runs r where r.id = s.run_id) is null""";

    private static final String WORK = """
            select s.workspace_id, s.run_id, r.title, r.attempt_number, r.origin ->> 'traceparent' as traceparent,
                r.effect_generation, s.task_id, t.key,
                s.lane, s.id, s.tool,
                case when s.kind = 'call' and s.resolved_input is not null then s.resolved_input else s.input end as input,
                s.attempt,
                s.name || case when s.turn > 1 then '#' || s.turn else '' end as name,
                s.call_effect, s.lease_epoch, s.timeout_ms, q.holder, q.lease_expires_at, q.deadline_at, q.max_output_tokens, s.error_code,
                s.error_message, s.error_class, t.effect_generation as task_generation,
                t.attempt_number as task_attempt, t.error_code as task_code, t.error_message as task_message,
                t.error_class as task_class, p.details
              from orchestration_steps s
              join orchestration_tasks t on t.id = s.task_id
              join orchestration_runs r on r.id = s.run_id
              left join work_queue q on q.task_id = s.task_id and q.lane = s.lane
              left join step_progress p on p.step_id = s.id
             where s.id = any (?)""";

    /** The owners of existing steps of the workspace. */
    public Map<UUID, Owner> ownersOf(Connection c, UUID workspaceId, Collection<UUID> stepIds) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(OWNERS)) {
            statement.setObject(1, workspaceId);
            BinaryParameter.bindIds(statement, 2, stepIds);
            Map<UUID, Owner> owners = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    owners.put(ViewLoader.uuid(row, "id"), new Owner(ViewLoader.uuid(row, "run_id"),
                            ViewLoader.uuid(row, "task_id"), row.getString("input")));
                }
            }
            return owners;
        }
    }

    /** How the leases of the steps ended, by step. */
    public Map<UUID, Ended> endsOf(Connection c, Collection<UUID> stepIds) throws SQLException {
        Map<UUID, Ended> ends = new HashMap<>();
        ViewLoader.each(c, ENDED, stepIds, row -> ends.put(ViewLoader.uuid(row, "id"),
                new Ended(StepState.of(row.getString("state")), row.getInt("lease_epoch"),
                        List.of((String[]) row.getArray("codes").getArray()))));
        return ends;
    }

    /** The recorded results of the steps, by step and epoch. */
    public Map<UUID, Map<Integer, Recorded>> resultsOf(Connection c, Collection<UUID> stepIds) throws SQLException {
        Map<UUID, Map<Integer, Recorded>> results = new HashMap<>();
        ViewLoader.each(c, RESULTS, stepIds, row -> results
                .computeIfAbsent(ViewLoader.uuid(row, "step_id"), id -> new HashMap<>())
                .put(row.getInt("epoch"), new Recorded(row.getBoolean("failed"),
                        (Long) row.getObject("output_hash"), row.getString("output"))));
        return results;
    }

    /** The existing steps, by id. */
    public Map<UUID, StepWork> work(Connection c, Collection<UUID> stepIds) throws SQLException {
        Map<UUID, StepWork> found = new HashMap<>();
        ViewLoader.each(c, WORK, stepIds, row -> {
            StepWork work = work(row);
            found.put(work.stepId(), work);
        });
        return found;
    }

    private static StepWork work(ResultSet row) throws SQLException {
        UUID runId = ViewLoader.uuid(row, "run_id");
        String name = row.getString("name");
        String effectKey =
                StepAssignment.effectKey(runId, row.getInt("effect_generation"), row.getInt("task_generation"),
                        row.getString("key"), Objects.requireNonNullElse(row.getString("call_effect"), name));
        PreviousFailure previous = PreviousFailure.of(row.getInt("task_attempt"),
                PreviousFailure.error(row.getString("error_code"), row.getString("error_class"),
                        row.getString("error_message")),
                PreviousFailure.error(row.getString("task_code"), row.getString("task_class"),
                        row.getString("task_message")));
        return new StepWork(ViewLoader.uuid(row, "workspace_id"), runId, row.getString("title"),
                ViewLoader.uuid(row, "task_id"), row.getInt("lane"), ViewLoader.uuid(row, "id"), name,
                row.getString("tool"), row.getString("input"), row.getInt("attempt"), row.getInt("lease_epoch"),
                Duration.ofMillis(row.getLong("timeout_ms")), effectKey, row.getString("holder"),
                Rows.optionalTime(row, "lease_expires_at"), Rows.optionalTime(row, "deadline_at"), previous,
                row.getString("details"), new RunTrace(runId, row.getInt("attempt_number"),
                        TraceParent.parse(row.getString("traceparent"))),
                (Long) row.getObject("max_output_tokens"));
    }
}
