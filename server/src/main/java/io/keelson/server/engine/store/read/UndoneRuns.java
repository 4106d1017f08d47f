package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.Undo;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.UndoWork;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Command.Evaluation.UndoCounts;
import io.keelson.core.run.Command.Evaluation.UndoIs;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads ended runs that are undone, for the plans of their undos. */
public final class UndoneRuns {
    private static final String STATE = """
            select coalesce(r.state, 'completed') as state,
                (select t.due_at from timers t where t.kind = 'evaluate_undo' and t.subject = u.run_id) as armed,
                count(t.id) filter (where t.state = 'completed') as undone,
                count(t.id) filter (where t.state = 'skipped' and t.error_code = 'DONE_BY_HAND') as by_hand,
                count(t.id) filter (where t.state = 'skipped' and t.error_code = 'NOT_DONE') as not_done,
                count(t.id) as tasks
              from run_undos u
              left join orchestration_runs r on r.id = u.undo_run_id
              left join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
                and t.key not like '.%'
             where u.run_id = ? and u.state <> 'requested'
             group by u.run_id, r.state""";

    private static final String CHILD = """
            select u.state, u.undo_run_id, u.not_undone, u.error_code || ': ' || u.error_message as error,
                (select t.due_at from timers t where t.kind = 'evaluate_child_undo' and t.subject = u.run_id) as armed
              from run_undos u join orchestration_runs r on r.id = u.run_id
             where u.run_id = ? and r.deleted_at is null""";

    private static final String EXISTS =
            "select from orchestration_runs where id = ? and deleted_at is null";

    private static final String SOURCE = """
            select goal, inputs, config, input_declarations, agent_slug from orchestration_runs where id = ?""";

    /**
     * The runs that steps started, without ended runs in whose tree no task has an undo. A child that is deleted or archived is
     * among them, because nothing tells whether it had one. The step of a child of a folded round is gone: its task and time tell the
     * round.
     */
    private static final String CHILDREN = """
            with recursive tree (child, id) as (
                select k.child_run_id, k.child_run_id from run_children k where k.run_id = ?
                union all
                select t.child, k.child_run_id from tree t join run_children k on k.run_id = t.id),
            children as materialized (
                select k.step_id, k.run_id, k.task_key, c.created_at, jsonb_build_array(jsonb_build_object(
                        'run', k.child_run_id, 'name', coalesce(c.title, k.child_run_id::text))) as runs
                  from run_children k left join orchestration_runs c on c.id = k.child_run_id
                 where k.run_id = ? and exists (select from tree t left join orchestration_runs r on r.id = t.id
                     where t.child = k.child_run_id and (r.id is null or r.deleted_at is not null
                        or r.state_type <> 'terminal' or exists (select from orchestration_tasks u
                            where u.run_id = r.id and jsonb_typeof(u.policy -> 'undo') = 'object')))),
            folded as materialized (
                select f.loop_id, f.member, f.round, jsonb_agg(jsonb_build_object('name', k.task_key, 'completed', true,
                        'executions', 0, 'kind', 'run', 'tool', 'run.start', 'children', k.runs)
                        order by k.created_at) as steps
                  from children k
                  cross join lateral (
                    select r.loop_id, r.member, r.round, coalesce(r.completed_at >= k.created_at, false) as later
                      from task_rounds r join orchestration_tasks g on g.id = r.loop_id
                     where r.run_id = k.run_id
                       and k.task_key = case r.member when '' then g.key else concat(g.key, '.', r.member) end
                     order by later desc, case when coalesce(r.completed_at >= k.created_at, false) then r.round
                        else -r.round end limit 1) f
                 where not exists (select from task_steps s where s.id = k.step_id)
                 group by f.loop_id, f.member, f.round)
            """;

    /**
     * The tasks of all attempts, and folded rounds; no work that a task took over from another run. Nothing tells how far a folded
     * round came that began and did not complete: it has a step with an unknown outcome.
     */
    private static final String ROWS = CHILDREN + """
            select t.id, t.key, t.title, g.key as group_key, t.parallel_steps, t.state = 'completed' as completed,
                case when t.group_id is not null and t.item is null then t.item_index else 0 end as round,
                case when t.reused_from is null and (t.step_specs is null or t.group_id is not null)
                    then coalesce(t.policy, g.policy) end as policy,
                array(select distinct up.key from orchestration_task_dependencies d
                        join orchestration_tasks up on up.id = d.depends_on_id where d.task_id = t.id)::text[] as upstreams,
                (select jsonb_agg(jsonb_build_object('name', s.name, 'completed', s.state = 'completed',
                        'executions', s.lease_epoch, 'kind', s.kind, 'tool', s.tool, 'error_code', s.error_code,
                        'error_class', s.error_class, 'children', k.runs) order by s.task_attempt, s.position, s.turn)
                   from orchestration_steps s left join children k on k.step_id = s.id
                  where s.task_id = t.id and (s.called_by is null or k.step_id is not null)
                    and s.kind in ('tool', 'turn', 'call', 'run')) as steps,
                t.attempt, t.sequence_number, t.item_index
              from orchestration_tasks t left join orchestration_tasks g on g.id = t.group_id
             where t.run_id = ? and t.key not like '.%'
            union all
            select r.task_id, case r.member when '' then concat(g.key, '[', r.round, ']')
                    else concat(g.key, '[', r.round, '].', r.member) end, m.title, g.key, m.parallel_steps,
                r.state = 'completed', r.round, m.policy,
                case when r.member = '' then array[]::text[] else array(
                    select concat(g.key, '[', r.round, '].', split_part(up.key, '].', 2))
                      from orchestration_task_dependencies d
                      join orchestration_tasks up on up.id = d.depends_on_id where d.task_id = m.id) end,
                coalesce((select f.steps from folded f
                  where f.loop_id = r.loop_id and f.member = r.member and f.round = r.round), '[]')
                || case when r.state <> 'completed' and r.started_at is not null then jsonb_build_array(
                    jsonb_build_object('name', '', 'completed', false, 'executions', 2, 'kind', 'call')) else '[]' end,
                g.attempt, g.sequence_number, r.round
              from task_rounds r join orchestration_tasks g on g.id = r.loop_id
              join lateral (
                select l.id, l.title, l.parallel_steps, l.policy from orchestration_tasks l
                 where r.member = '' and l.id = g.id or r.member <> '' and l.run_id = g.run_id and l.attempt = g.attempt
                   and l.group_id = g.id and split_part(l.key, '].', 2) = r.member
                 order by l.item_index desc nulls last limit 1) m on true
             where r.run_id = ?
             order by attempt, sequence_number, item_index nulls first, id""";

    /**
     * The mission of a run.
     *
     * @param declarations null if absent
     */
    public record Source(String goal, JsonNode inputs, JsonNode config, @Nullable JsonNode declarations,
            @Nullable String agentSlug) {}

    private UndoneRuns() {}

    /** The state of the run that undoes another; empty while that run is to be made. */
    public static Optional<UndoIs> state(Connection c, UUID run) throws SQLException {
        return query(c, STATE, row -> {
            int undone = row.getInt("undone");
            int byHand = row.getInt("by_hand");
            int notDone = row.getInt("not_done");
            return new UndoIs(RunState.of(row.getString("state")),
                    new UndoCounts(undone, byHand, notDone, row.getInt("tasks") - undone - byHand - notDone),
                    Rows.optionalTime(row, "armed"));
        }, run).stream().findFirst();
    }

    /** False for a run that is deleted or archived. */
    public static boolean exists(Connection c, UUID run) throws SQLException {
        return !query(c, EXISTS, row -> true, run).isEmpty();
    }

    /** The progress of the undo of a child run; null if the run is deleted or archived. */
    public static Evaluation.@Nullable ChildUndo child(Connection c, UUID run) throws SQLException {
        return query(c, CHILD, row -> new Evaluation.ChildUndo(run, row.getString("state"),
                row.getObject("undo_run_id", UUID.class), row.getInt("not_undone"), row.getString("error"),
                Rows.optionalTime(row, "armed")), run).stream().findFirst().orElse(null);
    }

    public static Source source(Connection c, UUID run) throws SQLException {
        return query(c, SOURCE, row -> {
            String declarations = row.getString("input_declarations");
            return new Source(row.getString("goal"), Json.read(row.getString("inputs")),
                    Json.read(row.getString("config")), declarations == null ? null : Json.read(declarations),
                    row.getString("agent_slug"));
        }, run).getFirst();
    }

    /**
     * The tasks of a run with the recorded facts about their work.
     *
     * @param effects whether a tool may change anything outside the run
     */
    public static List<UndoWork.Row> rows(Connection c, UUID run, Predicate<String> effects) throws SQLException {
        return query(c, ROWS, row -> new UndoWork.Row(ViewLoader.uuid(row, "id"), row.getString("key"),
                row.getString("title"), row.getString("group_key"), row.getInt("round"),
                Stream.of((Object[]) row.getArray("upstreams").getArray()).map(Object::toString).toList(),
                row.getBoolean("parallel_steps"), undo(row.getString("policy")), row.getBoolean("completed"),
                steps(row.getString("steps"), effects)), run, run, run, run);
    }

    private static @Nullable Undo undo(@Nullable String policy) {
        return policy == null ? null : Json.MAPPER.readValue(policy, TaskPolicy.class).undo();
    }

    private static List<UndoWork.Step> steps(@Nullable String json, Predicate<String> effects) {
        List<UndoWork.Step> steps = new ArrayList<>();
        for (JsonNode step : json == null ? Json.array() : Json.read(json)) {
            boolean acts = !step.path("kind").asString("").equals("tool")
                    || effects.test(step.path("tool").asString(""));
            steps.add(new UndoWork.Step(step.path("name").asString(""), step.path("completed").asBoolean(false),
                    step.path("executions").asInt(0), acts, text(step, "error_code"), text(step, "error_class"),
                    step.path("children").valueStream().map(child -> new UndoPlan.Child(
                            UUID.fromString(child.path("run").asString("")), child.path("name").asString("")))
                            .toList()));
        }
        return steps;
    }

    private static @Nullable String text(JsonNode step, String member) {
        return step.path(member).isString() ? step.path(member).stringValue() : null;
    }

    private interface Take<T> {
        T from(ResultSet row) throws SQLException;
    }

    private static <T> List<T> query(Connection c, String sql, Take<T> take, UUID... ids) throws SQLException {
        List<T> found = new ArrayList<>();
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            for (int i = 0; i < ids.length; i++) {
                statement.setObject(i + 1, ids[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(take.from(row));
                }
            }
        }
        return found;
    }
}
