package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.GroupRounds.Group;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.JsonRows;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads the scopes of expressions, and the stored expressions. */
public final class ScopeReader {

    /**
     *
     * A task's expressions.
     *
     * @param attempt the run's attempt that it belongs to
     * @param key its id in the plan
     * @param output JSON text; null when the task has no output template
     * @param firstRound number of its first round if it has rounds; else 1
     * @param until of a task with {@code repeat} itself: the expression that ends the rounds; else null
     * @param label JSON text of the template of its items' titles; null if absent
     * @param child whether it is an item or is done in a round
     * @param group whether it is a group with {@code repeat}
     */
    public record TaskText(UUID runId, int attempt, String key, @Nullable String when, @Nullable String forEach,
            @Nullable String output, @Nullable String until, @Nullable String label, int firstRound,
            boolean child, boolean group) {}

    /**
     * The last round of a task or of a group with {@code repeat}.
     *
     * @param number from 1
     * @param output null without one; of a group, the outputs of its tasks by their names
     * @param previous output of the round before; null without one
     */
    public record LastRound(int number, JsonNode output, JsonNode previous) {}

    /**
     * An agent whose call starts a run.
     *
     * @param terms of the agent that does the task now; null if absent
     * @param delegations number of delegations that led to its run, 0 to 2
     * @param untrusted whether it has seen data from outside
     */
    public record Caller(@Nullable AgentTerms terms, int delegations, boolean untrusted) {}

    /** A run whose step is to start another. */
    public record Starter(UUID workspaceId, String name, int priority, String createdBy, RunTrace trace) {}

    /**
     * The inputs of replanning.
     *
     * @param workspace the run's
     * @param plan as stored, in the current version
     * @param finished ids of its tasks that have completed, which stay
     * @param inputs names of the run's inputs
     * @param answer the planner's new plan; null if absent
     * @param config the run's
     */
    public record Replan(UUID workspace, JsonNode plan, Set<String> finished, Set<String> inputs,
            @Nullable JsonNode answer, JsonNode config) {

        /** True for the first plan of a run without one. */
        public boolean first() {
            return plan.path("version").asInt() == 0;
        }
    }

    /**
     *
     * Which parts of a scope to read.
     *
     * @param tasks keys of the tasks to read; all when {@code allTasks}
     * @param steps names of the steps to read; all when {@code allSteps}
     * @param output whether to read {@code .task.output}
     * @param plan whether to read {@code .run.plan}
     * @param failure whether to read {@code .failure}
     * @param transcript whether to read {@code .transcript}
     * @param previous whether to read {@code .previous}
     * @param original whether to read {@code .input} and {@code .output} of the work that a task undoes
     */
    public record Wanted(Collection<String> tasks, boolean allTasks, Collection<String> steps, boolean allSteps,
            boolean output, boolean plan, boolean failure, boolean transcript, boolean previous, boolean original) {

        /** Whether so many outputs are read that they are fetched in parts, within a transaction. */
        public boolean many() {
            return allTasks || allSteps || tasks.size() + steps.size() > OutputTrees.FETCHED;
        }
    }

    /**
     * A step's own texts.
     *
     * @param input JSON text, expressions unresolved; of a call of an agent as a person has changed it
     * @param condition of a call of an agent: the jq expression that decides whether a person is asked; null if absent, or after
     *                  a person was asked
     */
    public record StepText(UUID runId, UUID taskId, String kind, String tool, String input,
            @Nullable String condition) {}

    private static final String TASK =
            """
            select run_id, attempt, key, when_expr, for_each, output_template, policy -> 'repeat' ->> 'until' as until,
                policy ->> 'label' as label,
                coalesce((policy #>> '{repeat,after,round}')::int, 0) + 1 as first_round,
                group_id is not null as child, coalesce(jsonb_array_length(policy #> '{repeat,tasks}'), 0) > 0 as is_group
              from orchestration_tasks where id = ?""";

    private static final String GENERATIONS = """
            select item_index, max(effect_generation) as generation from orchestration_tasks
             where run_id = ? and attempt = any (array(select generate_series(1, ?))) and key = any (?)
               and effect_generation > 1 and item_index is not null
             group by item_index""";

    /** The latest effect generation of a round, of all rows of its task. */
    private static final String GENERATION_OF_ROUND = """
            select greatest((
                select max(t.effect_generation) from orchestration_tasks t
                 where t.run_id = g.run_id and t.attempt = any (array(select generate_series(1, g.attempt)))
                   and t.key = concat(g.key, '[', n.round, ']')), (
                select max(r.effect_generation) from orchestration_tasks o join task_rounds r on r.loop_id = o.id
                 where o.run_id = g.run_id and o.attempt = any (array(select generate_series(1, g.attempt)))
                   and o.key = g.key and r.round = n.round), 1) as generation
              from orchestration_tasks g cross join (select ?::integer as round) n
             where g.id = ?""";

    /** The last two rounds of a task, the last one first. Its live rounds follow the folded ones. */
    private static final String LAST_ROUNDS = """
            select t.item_index as round, %s as output, case t.item_index when l.after + 1 then l.before end as before
              from (select g.id, g.run_id, g.attempt, g.key, (g.policy -> 'repeat' ->> 'keep')::integer as keep,
                        a.after, (g.policy #>> '{repeat,after,output}')::jsonb as before,
                        coalesce((select max(r.round) from task_rounds r where r.loop_id = g.id), a.after, 0) as folded
                      from orchestration_tasks g
                     cross join lateral (select (g.policy #>> '{repeat,after,round}')::int as after) a
                     where g.id = ?) l
              join orchestration_tasks t on t.run_id = l.run_id and t.attempt = l.attempt and t.key = any (array(
                    select concat(l.key, '[', n, ']') from generate_series(l.folded + 1, l.folded + l.keep + 1) n))
             where t.group_id = l.id
             order by t.item_index desc limit 2""".formatted(TaskSql.YIELD);

    /** The output of the round before. */
    private static final String PREVIOUS = """
            select case own.item_index - 1 when (g.policy #>> '{repeat,after,round}')::int
                then (g.policy #>> '{repeat,after,output}')::jsonb else (
                select %s from orchestration_tasks t
                 where t.run_id = g.run_id and t.attempt = g.attempt and t.group_id = g.id
                   and t.key = concat(g.key, '[', own.item_index - 1, ']')) end as output
              from orchestration_tasks own join orchestration_tasks g on g.id = own.group_id
             where own.id = ?""".formatted(TaskSql.YIELD);

    private static final String STEP = """
            select run_id, task_id, kind, tool,
                case when started_at is null and gate like 'condition %' then substr(gate, 11) end as condition,
                case when kind = 'call' and resolved_input is not null then resolved_input else input end as input
              from orchestration_steps where id = ?""";

    /**
     * The last decision of a person about the step in an earlier attempt of its task, if the input was the same and so was all
     * that earlier steps of the attempt have yielded.
     */
    private static final String APPROVED = """
            select k.state, k.output, k.output ->> 'by' as decided_by, k.task_attempt
              from task_steps s
              join orchestration_steps k on k.task_id = s.task_id and k.position = s.position and k.kind = 'approval'
               and k.task_attempt < s.task_attempt and k.state in ('completed', 'failed') and k.resolved_input = ?::jsonb
             where s.id = ? and not exists (
                select from (
                    select position, turn, state, output from orchestration_steps
                     where task_id = s.task_id and task_attempt = s.task_attempt and position < s.position) now
                  full join (
                    select position, turn, state, output from orchestration_steps
                     where task_id = s.task_id and task_attempt = k.task_attempt and position < s.position) past
                    using (position, turn)
                 where (now.state, now.output) is distinct from (past.state, past.output))
             order by k.task_attempt desc limit 1""";

    private static final String CALLER = """
            select t.policy,
                array(select u.name from orchestration_steps u
                       where u.task_id = t.id and u.task_attempt >= t.attempt_number and u.kind = 'turn')::text[] as turns,
                array(select distinct u.tool from orchestration_steps u
                       where u.task_id = t.id and u.task_attempt >= t.attempt_number and u.kind = 'call'
                         and u.state in ('completed', 'failed'))::text[] as called,
                case when r.trigger <> 'agent.delegate' or p.run_id is null then 0
                    when g.trigger = 'agent.delegate' then 2 else 1 end as delegations
              from orchestration_steps s
              join orchestration_tasks t on t.id = s.task_id
              join orchestration_runs r on r.id = s.run_id
              left join run_parents p on p.run_id = r.id
              left join orchestration_runs g on g.id = p.parent_run_id
             where s.id = ?""";

    private static final String STARTER = """
            select workspace_id, title, priority, created_by, attempt_number, origin ->> 'traceparent' as traceparent
              from orchestration_runs where id = ?""";

    /**
     * The child of a step; budgets of its own open children count as charged. The children of a deleted run are not
     * checked any more.
     */
    private static final String CHILD = """
            select r.state, r.output, r.error_code, r.error_message,
                coalesce(k.ended, true) or r.deleted_at is not null as settled,
                (select t.due_at from timers t where t.kind = 'evaluate_child' and t.subject = p.parent_step_id) as armed,
                h.total_tokens + coalesce(k.tokens, 0) as tokens,
                r.credits_charged_before + h.credits_charged + coalesce(k.charged, 0) as charged
              from run_parents p
              join orchestration_runs r on r.id = p.run_id
              join run_heads h on h.run_id = r.id
              left join lateral (
                select sum(c.tokens)::bigint as tokens, bool_and(c.ended) as ended,
                    sum(case when c.ended or c.charged > 0 or c.allotment is null then c.charged
                        else c.allotment end) as charged
                  from run_children c where c.run_id = r.id) k on true
             where p.parent_step_id = ?""";

    private static final String PARENT = """
            select s.state = 'waiting' as waits, r.state = 'paused' as paused, h.version_id
              from run_parents p
              join orchestration_steps s on s.id = p.parent_step_id
              join orchestration_runs r on r.id = p.parent_run_id
              join run_heads h on h.run_id = r.id
             where p.run_id = ?""";

    private static final String RUN_OUTPUT = "select output_template from orchestration_runs where id = ?";

    private static final String RUN =
            """
            select id, title as name, goal, inputs, attempt_number as attempt, tags,
                origin ->> 'scheduled_for' as scheduled_for
              from orchestration_runs where id = ?""";

    private static final String TASKS = """
            select t.key, t.state, %s as output
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
             where r.id = ? and""".formatted(TaskSql.YIELD);

    private static final String NAMED_TASKS = TASKS + " t.key = any (?)";

    /** Tasks of the plan, without tasks that the engine added. */
    private static final String ALL_TASKS = TASKS + " t.group_id is null and t.key not like '.%' "
            + "order by t.sequence_number";

    private static final String STEPS = """
            select s.name, s.state, s.output
              from orchestration_tasks t
              join orchestration_steps s on s.task_id = t.id and s.task_attempt = t.attempt_number
             where t.id = ? and (? or s.name = any (?))
             order by s.position, s.turn""";

    private static final String OWN = """
            select key, attempt_number as attempt, item, item_index, error_code, error_class, error_message,
                task_type = 'planning' as planner, policy -> 'undoes' ->> 'task' as undoes
              from orchestration_tasks where id = ?""";

    /**
     * The work that a task undoes: a step that has acted, or the whole task. Of a folded round the output is left.
     */
    private static final String ORIGINAL = """
            with original as (
                select (policy -> 'undoes' ->> 'task')::uuid as task, policy -> 'undoes' ->> 'step' as step
                  from orchestration_tasks where id = ?)
            select t.item, t.item_index, done.input, case when o.step is null then %s else done.output end as output
              from original o
              join orchestration_tasks t on t.id = o.task
              left join lateral (
                select %s as input, s.output from orchestration_steps s
                 where s.task_id = t.id and (o.step is null or s.name = o.step) and s.called_by is null
                   and s.kind not in ('verify', 'approval', 'wait', 'signal')
                 order by (s.state = 'completed') desc, s.task_attempt desc, s.position desc, s.turn desc limit 1) done on true
            union all
            select null, r.round, null, r.output from original o join task_rounds r on r.task_id = o.task""".formatted(
            TaskSql.YIELD, TaskSql.ATTEMPT_INPUT);

    /** A task's output before verification: its template's, else its last step's. */
    private static final String SUBMITTED = """
            select case when t.output_template is not null then t.output else %s end as output
              from orchestration_tasks t where t.id = ?""".formatted(TaskSql.lastOutput("t"));

    private static final String PLAN = "select plan from orchestration_runs where id = ?";

    private static final String REPLAN = """
            select r.workspace_id, r.plan, r.plan_version, r.inputs, r.config,
                array(select t.key from orchestration_tasks t
                       where t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
                         and t.state = 'completed' and t.group_id is null and t.key not like '.%')::text[] as finished,
                (select %s from orchestration_tasks t
                  where t.run_id = r.id and t.attempt = r.attempt_number and t.task_type = 'planning'
                  order by t.sequence_number desc, t.id desc limit 1) as answer
              from orchestration_runs r where r.id = ?""".replace("%s", TaskSql.YIELD);

    private static final String FAILED = """
            select t.key, t.attempt_number as attempts, a.name as agent, t.error_code, t.error_class,
                t.error_message as message
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
              left join run_agents a on a.id = t.run_agent_id
             where r.id = ? and (t.state = 'failed' or t.failure_ignored) and t.key not like '.%'
             order by t.sequence_number, t.item_index nulls first
             limit 100""";

    /** The planner's previous answers that were no valid plan. */
    private static final String REFUSED = """
            select before.error_code, before.error_message as message, before.answer from orchestration_tasks own
              cross join lateral (
                select t.error_code, t.error_message, %s as answer from orchestration_tasks t
                 where t.run_id = own.run_id and t.attempt = own.attempt and t.task_type = 'planning'
                   and t.sequence_number < own.sequence_number
                 order by t.sequence_number desc, t.id desc limit 1) before
             where own.id = ? and before.error_code is not null""".formatted(TaskSql.YIELD);

    /** The text of the person who requested a new plan. */
    private static final String INSTRUCTIONS =
            "select description as instructions from orchestration_tasks where id = ? and description is not null";

    private static final String COUNTS = """
            select r.tasks_failed, r.tasks_completed, r.task_count,
                (select count(*)::int from run_agents a
                  where a.run_id = r.id and a.attempt = r.attempt_number and (a.state = 'failed' or a.failing))
                    as agents_failed, r.agent_count
              from orchestration_runs r where r.id = ?""";

    private static final String GROUP = """
            select %s as output
              from orchestration_tasks g
              join orchestration_tasks t on t.run_id = g.run_id and t.attempt = g.attempt and t.group_id = g.id
             where g.id = ?
             order by t.item_index""".formatted(TaskSql.YIELD);

    public TaskText task(Connection c, UUID taskId) throws SQLException {
        return one(c, TASK, taskId, row -> new TaskText(ViewLoader.uuid(row, "run_id"), row.getInt("attempt"),
                row.getString("key"), row.getString("when_expr"), row.getString("for_each"),
                row.getString("output_template"), row.getString("until"), row.getString("label"),
                row.getInt("first_round"), row.getBoolean("child"), row.getBoolean("is_group")));
    }

    /** The last round of a task or of a group with {@code repeat}. */
    public LastRound lastRound(Connection c, UUID taskId) throws SQLException {
        Group group = GroupRounds.of(c, taskId);
        if (group != null) {
            return new LastRound(group.round(), GroupRounds.outputs(c, group, group.round()),
                    GroupRounds.outputs(c, group, group.round() - 1));
        }
        try (PreparedStatement statement = c.prepareStatement(LAST_ROUNDS)) {
            statement.setObject(1, taskId);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new NoSuchElementException("no round of task " + taskId);
                }
                int number = row.getInt("round");
                JsonNode output = json(row, "output");
                JsonNode before = json(row, "before");
                return new LastRound(number, output, row.next() ? json(row, "output") : before);
            }
        }
    }

    /** The latest effect generation of a round of a task, replaced and folded rows included; 1 without any. */
    public int generation(Connection c, UUID taskId, int round) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(GENERATION_OF_ROUND)) {
            statement.setInt(1, round);
            statement.setObject(2, taskId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getInt("generation") : 1;
            }
        }
    }

    /** The latest effect generation of a task of a group's round; 1 without any. */
    public int generation(Connection c, UUID taskId) throws SQLException {
        return GroupRounds.generation(c, taskId);
    }

    public StepText step(Connection c, UUID stepId) throws SQLException {
        return one(c, STEP, stepId, row -> new StepText(ViewLoader.uuid(row, "run_id"), ViewLoader.uuid(row, "task_id"),
                row.getString("kind"), row.getString("tool"), row.getString("input"), row.getString("condition")));
    }

    /**
     * The decision of a person in an earlier attempt of the approval's task.
     *
     * @param input resolved, JSON text
     * @return null if a person has to decide
     */
    public Evaluation.@Nullable Approved approved(Connection c, UUID stepId, String input) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(APPROVED)) {
            statement.setString(1, input);
            statement.setObject(2, stepId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getString("state").equals("completed") && row.getString("decided_by") != null
                        ? new Evaluation.Approved(input, row.getString("output"), row.getString("decided_by"),
                                row.getInt("task_attempt"))
                        : null;
            }
        }
    }

    /** The agent whose call is to start a run. */
    public Caller caller(Connection c, UUID stepId) throws SQLException {
        return one(c, CALLER, stepId, row -> {
            String policy = row.getString("policy");
            Set<String> turns = texts(row, "turns");
            if (policy == null) {
                return new Caller(null, row.getInt("delegations"), false);
            }
            TaskPolicy read = Json.MAPPER.readValue(policy, TaskPolicy.class);
            AgentTerms terms = read.agentOn(read.rung(turns::contains));
            return new Caller(terms, row.getInt("delegations"), read.untrusted()
                    || terms != null && !Collections.disjoint(terms.openWorld(), texts(row, "called")));
        });
    }

    private static Set<String> texts(ResultSet row, String column) throws SQLException {
        return Stream.of((Object[]) row.getArray(column).getArray()).map(Object::toString).collect(Collectors.toSet());
    }

    /** The run whose step is to start another. */
    public Starter starter(Connection c, UUID runId) throws SQLException {
        return one(c, STARTER, runId, row -> new Starter(ViewLoader.uuid(row, "workspace_id"), row.getString("title"),
                row.getInt("priority"), row.getString("created_by"), new RunTrace(runId, row.getInt("attempt_number"),
                        TraceParent.parse(row.getString("traceparent")))));
    }

    /** The state of a child run. */
    public Evaluation.ChildIs child(Connection c, UUID stepId) throws SQLException {
        return one(c, CHILD, stepId, row -> new Evaluation.ChildIs(RunState.of(row.getString("state")),
                row.getBoolean("settled"), row.getString("output"), row.getLong("tokens"),
                row.getBigDecimal("charged"), row.getString("error_code") == null ? null
                        : row.getString("error_code") + ": " + row.getString("error_message"),
                Rows.optionalTime(row, "armed")));
    }

    /** The state of the parent run. */
    public Evaluation.ParentIs parent(Connection c, UUID runId) throws SQLException {
        return one(c, PARENT, runId, row -> new Evaluation.ParentIs(row.getBoolean("waits"),
                row.getBoolean("paused"), row.getInt("version_id")));
    }

    /** The newest planner's answer, and its inputs. */
    public Replan replan(Connection c, UUID runId) throws SQLException {
        return one(c, REPLAN, runId, row -> {
            String answer = row.getString("answer");
            return new Replan(ViewLoader.uuid(row, "workspace_id"), plan(row), texts(row, "finished"),
                    Set.copyOf(Json.read(row.getString("inputs")).propertyNames()),
                    answer == null ? null : Json.read(answer), json(row, "config"));
        });
    }

    /** The plan's document; the version is from the run's row. */
    private static JsonNode plan(ResultSet row) throws SQLException {
        return ((ObjectNode) json(row, "plan")).put("version", row.getInt("plan_version"));
    }

    /** The run's output template, JSON text with expressions. */
    public String runOutput(Connection c, UUID runId) throws SQLException {
        return one(c, RUN_OUTPUT, runId, row -> row.getString("output_template"));
    }

    /** The outputs of a group's children in the order of their items; null for a child without one. Within a transaction. */
    public JsonNode groupOutput(Connection c, UUID groupId) throws SQLException {
        ArrayNode outputs = Json.array();
        try (PreparedStatement statement = c.prepareStatement(GROUP)) {
            statement.setFetchSize(OutputTrees.FETCHED);
            statement.setObject(1, groupId);
            OutputTrees trees = new OutputTrees();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    outputs.add(trees.next(row));
                }
            }
        }
        return outputs;
    }

    /**
     * The latest effect generations of the children of a {@code for_each}, replaced rows included.
     *
     * @param group the {@code for_each} task
     * @param items its number of items now
     * @return by the items' indexes; without children in their first generation
     */
    public Map<Integer, Integer> generations(Connection c, TaskText group, int items) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(GENERATIONS)) {
            statement.setObject(1, group.runId());
            statement.setInt(2, group.attempt());
            BinaryParameter.bindTexts(statement, 3,
                    IntStream.range(0, items).mapToObj(i -> group.key() + "[" + i + "]").toList());
            Map<Integer, Integer> generations = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    generations.put(row.getInt("item_index"), row.getInt("generation"));
                }
            }
            return generations;
        }
    }

    /**
     * The scope of an expression: {@code .inputs}, {@code .run}, {@code .tasks.<key>.output|state} of the run's current
     * attempt. A task also has {@code .steps.<name>.output|state} of its own steps, {@code .item} and {@code .index}, or
     * {@code .round} and {@code .previous}; a task of an undo has {@code .input} and {@code .output} of its original, and {@code .transcript}: its agent's turns. Its {@code .task} has {@code key}, {@code attempt}, {@code failure}
     * (of its previous attempt) and {@code output} (before verification). A planner sees {@code .run.plan} and {@code
     * .failure}.
     *
     * @param taskId null for the run's own output
     */
    public ObjectNode scope(Connection c, UUID runId, @Nullable UUID taskId, Wanted wanted) throws SQLException {
        return scope(c, runId, taskId, wanted, new EndedSteps());
    }

    /**
     * Reads the scope for a step of a chain.
     *
     * @param ended completed steps of the task whose ends may not be in the database yet
     */
    public ObjectNode scope(Connection c, UUID runId, @Nullable UUID taskId, Wanted wanted, EndedSteps ended)
            throws SQLException {
        ObjectNode scope = Json.object();
        ObjectNode run = one(c, RUN, runId, JsonRows::object);
        scope.set("inputs", run.remove("inputs"));
        scope.set("run", run);
        OutputTrees outputs = new OutputTrees();
        ObjectNode taskScope = scope.putObject("tasks");
        if (wanted.allTasks || !wanted.tasks.isEmpty()) {
            Group group = taskId == null || wanted.tasks.stream().noneMatch(name -> name.contains(".")) ? null
                    : GroupRounds.of(c, taskId);
            tasks(c, runId, wanted, group, outputs, taskScope);
        }
        ObjectNode stepScope = scope.putObject("steps");
        if (taskId != null) {
            if (wanted.allSteps || !wanted.steps.isEmpty()) {
                steps(c, taskId, wanted, ended, outputs, stepScope);
            }
            if (wanted.transcript) {
                scope.set("transcript", Transcript.of(c, taskId));
            }
            if (own(c, taskId, wanted, scope)) {
                forPlanner(c, runId, taskId, wanted, scope, run);
            }
        }
        return scope;
    }

    /** Adds the task's own values; true for a planner's task. */
    private static boolean own(Connection c, UUID taskId, Wanted wanted, ObjectNode scope) throws SQLException {
        ObjectNode task = scope.putObject("task");
        boolean planner = one(c, OWN, taskId, row -> {
            if (row.getString("item") != null) {
                scope.set("item", json(row, "item"));
                scope.put("index", row.getInt("item_index"));
            } else if (row.getInt("item_index") > 0) {
                scope.put("round", row.getInt("item_index"));
            }
            if (row.getString("undoes") != null) {
                scope.put("undoes", row.getString("undoes"));
            }
            task.put("key", row.getString("key")).put("attempt", row.getInt("attempt")).putNull("failure");
            if (row.getInt("attempt") > 1 && row.getString("error_code") != null) {
                task.putObject("failure").put("error_code", row.getString("error_code"))
                        .put("error_class", row.getString("error_class"))
                        .put("message", row.getString("error_message"));
            }
            return row.getBoolean("planner");
        });
        if (wanted.previous && scope.has("round")) {
            Group group = GroupRounds.of(c, taskId);
            scope.set("previous", group != null ? GroupRounds.outputs(c, group, group.round() - 1)
                    : one(c, PREVIOUS, taskId, row -> json(row, "output")));
        }
        if (wanted.original && scope.path("undoes").isString()) {
            var _ = one(c, ORIGINAL, taskId, row -> {
                if (row.getString("item") != null) {
                    scope.set("item", json(row, "item"));
                    scope.put("index", row.getInt("item_index"));
                } else if (row.getInt("item_index") > 0) {
                    scope.put("round", row.getInt("item_index"));
                }
                return scope.set("input", json(row, "input")).set("output", json(row, "output"));
            });
        }
        if (wanted.output) {
            task.set("output", one(c, SUBMITTED, taskId, row -> json(row, "output")));
        }
        return planner;
    }

    private static void forPlanner(Connection c, UUID runId, UUID taskId, Wanted wanted, ObjectNode scope,
            ObjectNode run) throws SQLException {
        if (wanted.plan) {
            run.set("plan", one(c, PLAN, runId, row -> json(row, "plan")));
        }
        if (wanted.failure) {
            ObjectNode failure = one(c, COUNTS, runId, JsonRows::object);
            ArrayNode tasks = failure.putArray("tasks");
            try (PreparedStatement statement = c.prepareStatement(FAILED)) {
                statement.setObject(1, runId);
                JsonRows.list(statement).forEach(tasks::add);
            }
            try (PreparedStatement statement = c.prepareStatement(INSTRUCTIONS)) {
                statement.setObject(1, taskId);
                JsonRows.list(statement).forEach(asked -> failure.set("instructions", asked.get("instructions")));
            }
            try (PreparedStatement statement = c.prepareStatement(REFUSED)) {
                statement.setObject(1, taskId);
                JsonRows.list(statement).forEach(refused -> failure.set("refused", refused));
            }
            scope.set("failure", failure);
        }
    }

    /** @param group by whose round the tasks of the group are named; null outside of a round */
    private static void tasks(Connection c, UUID runId, Wanted wanted, @Nullable Group group, OutputTrees outputs,
            ObjectNode into) throws SQLException {
        Map<String, String> keys = new LinkedHashMap<>();
        wanted.tasks.forEach(name -> keys.put(name, group == null ? name : group.keyInRound(name)));
        try (PreparedStatement statement = c.prepareStatement(wanted.allTasks ? ALL_TASKS : NAMED_TASKS)) {
            statement.setObject(1, runId);
            if (!wanted.allTasks) {
                BinaryParameter.bindTexts(statement, 2, keys.values());
            }
            states(statement, "key", new EndedSteps(), outputs, into);
        }
        keys.forEach((name, key) -> {
            JsonNode found = name.equals(key) ? null : into.remove(key);
            if (found != null) {
                into.set(name, found);
            }
        });
    }

    private static void steps(Connection c, UUID taskId, Wanted wanted, EndedSteps ended, OutputTrees outputs,
            ObjectNode into) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(STEPS)) {
            statement.setObject(1, taskId);
            statement.setBoolean(2, wanted.allSteps);
            BinaryParameter.bindTexts(statement, 3, wanted.steps);
            states(statement, "name", ended, outputs, into);
        }
    }

    /** A later turn of a step replaces the earlier one. */
    private static void states(PreparedStatement statement, String name, EndedSteps ended, OutputTrees outputs,
            ObjectNode into) throws SQLException {
        statement.setFetchSize(OutputTrees.FETCHED);
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String own = row.getString(name);
                String output = ended.output(own);
                into.putObject(own).put("state", ended.state(own, row.getString("state"))).set("output",
                        outputs.next(output == null ? row.getString("output") : output));
            }
        }
    }

    private static JsonNode json(ResultSet row, String column) throws SQLException {
        String text = row.getString(column);
        return text == null ? NullNode.getInstance() : Json.read(text);
    }

    /** Reads the one row of an entity. */
    @FunctionalInterface
    private interface Take<T extends @Nullable Object> {
        T from(ResultSet row) throws SQLException;
    }

    private static <T extends @Nullable Object> T one(Connection c, String sql, UUID id, Take<T> take)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            statement.setObject(1, id);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new NoSuchElementException("no such row: " + id);
                }
                return take.from(row);
            }
        }
    }
}
