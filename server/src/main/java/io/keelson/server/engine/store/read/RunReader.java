package io.keelson.server.engine.store.read;

import io.keelson.api.tenant.WorkspaceUse;
import io.keelson.api.work.QueuedTool;
import io.keelson.api.work.WorkerInfo;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.TaskType;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.JsonRows;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads runs for clients, as documents in the API's shape. Rows of
 * other workspaces are invisible. Thread-safe.
 */
public final class RunReader {
    private static final String ALLOTMENT = """
            select p.parent_run_id, p.allotment, r.state = 'budget_exceeded' as stopped
              from run_parents p
              join orchestration_runs r on r.id = p.run_id
              join orchestration_runs of on of.id = p.parent_run_id
             where p.workspace_id = ? and p.run_id = ? and p.allotment is not null and of.deleted_at is null""";

    /** @param nextCursor where the next page begins, opaque; null on the last one */
    public record RunPage(List<ObjectNode> items, @Nullable String nextCursor) {}

    /** A run of a page, and its place in the order, which is finer than the document's times. */
    private record ListedRun(ObjectNode document, Cursor place) {}

    /** The location of an artifact's bytes. */
    public record ArtifactFile(String name, String contentType, long sizeBytes, String sha256, String storageKey) {}

    /** A cursor that this reader did not write. */
    public static final class BadCursorException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Sets a statement's parameters. */
    @FunctionalInterface
    private interface Binder {
        void bind(PreparedStatement statement) throws SQLException;
    }

    public Optional<ObjectNode> run(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return run(c, workspaceId, runId, Detail.WHOLE);
    }

    public Optional<ObjectNode> run(Connection c, UUID workspaceId, UUID runId, Detail detail) throws SQLException {
        return first(c, switch (detail) {
            case WHOLE -> ReadSql.RUN;
            case LIGHT -> ReadSql.LIGHT_RUN;
            case WITHOUT_VALUES -> ReadSql.RUN_WITHOUT_VALUES;
        }, ids(workspaceId, runId));
    }

    /** Maximum number of runs that {@link #someRuns} reads. */
    public static final int SOME = ReadSql.SOME;

    /** Reads up to {@link #SOME} runs, by id. Omits ids without a run. */
    public Map<UUID, ObjectNode> someRuns(Connection c, UUID workspaceId, Collection<UUID> runIds) throws SQLException {
        List<UUID> wanted = runIds.stream().distinct().toList();
        List<ObjectNode> found = wanted.size() == 1 ? run(c, workspaceId, wanted.getFirst()).stream().toList()
                : list(c, ReadSql.SOME_RUNS, statement -> {
                    for (int i = 0; i < SOME; i++) {
                        if (i < wanted.size()) {
                            statement.setObject(1 + i, wanted.get(i));
                        } else {
                            statement.setNull(1 + i, Types.OTHER, "uuid");
                        }
                    }
                    statement.setObject(1 + SOME, workspaceId);
                });
        return found.stream()
                .collect(Collectors.toMap(run -> UUID.fromString(run.get("id").stringValue()), run -> run));
    }

    /** The run's state. */
    public Optional<RunState> state(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.STATE, ids(workspaceId, runId))
                .map(row -> RunState.of(row.get("state").stringValue()));
    }

    /**
     * A run's progress.
     *
     * @param lastSeq the number of its last event
     * @param ended whether it has ended, for now: a failed run may be retried
     */
    public record Progress(long lastSeq, boolean ended) {}

    /** The progress of an existing run of the workspace. */
    public Optional<Progress> progress(Connection c, UUID workspaceId, UUID run) throws SQLException {
        return first(c, ReadSql.PROGRESS_OF, ids(workspaceId, run))
                .map(row -> new Progress(row.get("last_seq").longValue(), row.get("ended").booleanValue()));
    }

    /** The progress of existing runs of all workspaces, deleted ones included. */
    public Map<UUID, Progress> progress(Connection c, Set<UUID> runs) throws SQLException {
        Map<UUID, Progress> found = new HashMap<>();
        ViewLoader.each(c, ReadSql.PROGRESS, runs, row -> found.put(ViewLoader.uuid(row, "run_id"),
                new Progress(row.getLong("last_seq"), row.getBoolean("ended"))));
        return found;
    }

    /** By agent and type of task: how many percent of its latest ended tasks were completed. */
    public Map<Integer, Map<String, Integer>> historyOfAgents(Connection c, UUID workspaceId,
            Collection<Integer> agents) throws SQLException {
        Map<Integer, Map<String, Integer>> history = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(ReadSql.HISTORY_OF_AGENTS)) {
            statement.setArray(1, c.createArrayOf("int4", agents.toArray()));
            statement.setArray(2, c.createArrayOf("text", TaskType.ofPlans().stream().map(TaskType::wire).toArray()));
            statement.setObject(3, workspaceId);
            statement.setInt(4, RosterAgent.LATEST);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    history.computeIfAbsent(row.getInt("agent_id"), _ -> new HashMap<>()).put(
                            row.getString("task_type"),
                            row.getInt("percent"));
                }
            }
        }
        return history;
    }

    /** Open tasks per roster agent in the workspace's newest 2,000 open runs. */
    public Map<Integer, Integer> openTasksOfAgents(Connection c, UUID workspaceId) throws SQLException {
        Map<Integer, Integer> open = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(ReadSql.OPEN_TASKS_OF_AGENTS)) {
            statement.setObject(1, workspaceId);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    open.put(row.getInt("agent_id"), row.getInt("open"));
                }
            }
        }
        return open;
    }

    /**
     * The steps of a run that wait, or will wait, for signals.
     *
     * @param inputs of the open signal steps; expressions may be unresolved
     * @param unfolded ids in the plan of the open tasks of which further steps will be made
     */
    public record SignalWaits(Map<UUID, JsonNode> inputs, Set<String> unfolded) {}

    public SignalWaits signalWaits(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        Map<UUID, JsonNode> inputs = new HashMap<>();
        Set<String> unfolded = new HashSet<>();
        for (ObjectNode row : list(c, ReadSql.SIGNAL_WAITS, statement -> {
            ids(workspaceId, runId).bind(statement);
            statement.setObject(3, workspaceId);
            statement.setObject(4, runId);
        })) {
            if (row.path("key").isString()) {
                unfolded.add(row.get("key").asString());
            } else {
                inputs.put(UUID.fromString(row.get("id").asString()), row.path("input"));
            }
        }
        return new SignalWaits(inputs, unfolded);
    }

    /** The id of the run with the client's own id. */
    public Optional<UUID> byExternalId(Connection c, UUID workspaceId, String externalId) throws SQLException {
        return first(c, ReadSql.BY_EXTERNAL_ID, statement -> {
            statement.setObject(1, workspaceId);
            statement.setString(2, externalId);
        }).map(row -> UUID.fromString(row.get("id").asString()));
    }

    /** Open runs with the tag, the oldest first. */
    public List<UUID> openWithTag(Connection c, UUID workspaceId, String tag, int limit) throws SQLException {
        return list(c, ReadSql.OPEN_WITH_TAG, statement -> {
            statement.setObject(1, workspaceId);
            statement.setString(2, tag);
            statement.setInt(3, limit);
        }).stream().map(row -> UUID.fromString(row.get("id").asString())).toList();
    }

    /** Whether the run has received the signal. */
    public boolean hasSignal(Connection c, UUID run, UUID signal) throws SQLException {
        return first(c, ReadSql.HAS_SIGNAL, ids(run, signal)).isPresent();
    }

    /**
     * Parts of ended runs, by id: {@code name, tags, external_id, trigger, error_code, error_message, recipe_id, output}, null above
     * 64 KiB; {@code depth} in a chain of triggers, and whether it is a {@code child}.
     */
    public Map<UUID, ObjectNode> ends(Connection c, UUID workspaceId, Collection<UUID> runs) throws SQLException {
        return list(c, ReadSql.ENDS, statement -> {
            statement.setObject(1, workspaceId);
            statement.setArray(2, c.createArrayOf("uuid", runs.toArray()));
        }).stream().collect(Collectors.toMap(row -> UUID.fromString(row.get("id").asString()), row -> row));
    }

    /**
     * Newest first, without plans, inputs and outputs.
     *
     * @param cursor where to continue; null to begin with the newest
     * @throws BadCursorException when the cursor is invalid
     */
    public RunPage runs(Connection c, UUID workspaceId, RunSelection filter, @Nullable String cursor, int limit)
            throws SQLException {
        Cursor from = cursor == null ? null : Cursor.parse(cursor);
        try (PreparedStatement statement = c.prepareStatement(ReadSql.RUNS.replace("{filter}", filter.sql()))) {
            statement.setObject(1, workspaceId);
            int p = filter.bind(statement, 2);
            statement.setObject(p++, from == null ? null : from.createdAt().atOffset(ZoneOffset.UTC));
            statement.setObject(p++, from == null ? null : from.createdAt().atOffset(ZoneOffset.UTC));
            statement.setObject(p++, from == null ? null : from.id());
            statement.setInt(p, limit + 1);
            Page<ListedRun> page = Rows.page(statement, limit, row -> new ListedRun(JsonRows.object(row),
                    new Cursor(Rows.time(row, "created_at"), ViewLoader.uuid(row, "id"))));
            return new RunPage(page.items().stream().map(ListedRun::document).toList(),
                    page.more() ? page.last().place().text() : null);
        }
    }

    /**
     * Reads runs in a chosen order, at most the newest 50,000 matches.
     *
     * @param from number of runs to skip
     */
    public Page<ObjectNode> sortedRuns(Connection c, UUID workspaceId, RunSelection filter, RunOrder order,
            boolean reverse, int from, int limit) throws SQLException {
        String sql = ReadSql.SORTED_RUNS.replace("{filter}", filter.sql()).replace("{order}", order.sql(reverse));
        return page(c, sql, statement -> {
            statement.setObject(1, workspaceId);
            int p = filter.bind(statement, 2);
            statement.setInt(p++, from);
            statement.setLong(p, limit + 1L);
        }, limit);
    }

    /** The number of the run's last event. Every change that a client sees has an event; costs two look-ups by key. */
    public Optional<Long> lastEvent(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.LAST_EVENT, ids(workspaceId, runId)).map(row -> row.get("last_seq").longValue());
    }

    /**
     * The values of the status document: {@code run_id, agent_slug, state, trigger, started_at, finished_at,
     * current_step, steps_total, steps_completed, proposals_created, error_code, error_message}, and {@code
     * attempt_number, last_seq}. The current step is the one with the latest news.
     */
    public Optional<ObjectNode> status(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.STATUS, ids(workspaceId, runId));
    }

    /**
     * The states of the run's current attempt: {@code run_id, attempt_number, state}; {@code dispatched}, whether any of
     * its work is with a worker or ready for one; {@code tasks} (state, attempt, count) and {@code steps} (state, count).
     */
    public Optional<ObjectNode> states(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.STATES, ids(workspaceId, runId));
    }

    /**
     *
     * In plan order.
     *
     * @param attempt null for the current one
     * @param history whether to include replaced rows
     * @param after the task after which to continue; null to begin with the first
     */
    public Page<ObjectNode> tasks(Connection c, UUID workspaceId, UUID runId, Detail detail, @Nullable Integer attempt,
            boolean history, @Nullable UUID after, int limit) throws SQLException {
        return page(c, detail == Detail.WHOLE ? TaskSql.TASKS : TaskSql.LIGHT_TASKS,
                ofAttempt(workspaceId, runId, attempt, history, after, limit + 1), limit);
    }

    public Optional<ObjectNode> task(Connection c, UUID workspaceId, UUID taskId) throws SQLException {
        return task(c, workspaceId, taskId, Detail.WHOLE);
    }

    public Optional<ObjectNode> task(Connection c, UUID workspaceId, UUID taskId, Detail detail) throws SQLException {
        return first(c, detail == Detail.WHOLE ? TaskSql.TASK : TaskSql.LIGHT_TASK, ids(workspaceId, taskId));
    }

    /** For each task of the attempt that holds the task: the tasks that it depends on. */
    public Map<UUID, List<UUID>> dependencies(Connection c, UUID workspaceId, UUID taskId) throws SQLException {
        Map<UUID, List<UUID>> upstreams = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(TaskSql.DEPENDENCIES)) {
            ids(workspaceId, taskId).bind(statement);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    upstreams.computeIfAbsent(ViewLoader.uuid(row, "task_id"), _ -> new ArrayList<>())
                            .add(ViewLoader.uuid(row, "depends_on_id"));
                }
            }
        }
        return upstreams;
    }

    /** Tasks that were not replaced, in plan order: {@code id, key, title, state, state_type}. */
    public List<ObjectNode> taskNames(Connection c, UUID workspaceId, Collection<UUID> tasks) throws SQLException {
        return list(c, TaskSql.TASK_NAMES, statement -> {
            statement.setObject(1, workspaceId);
            statement.setArray(2, statement.getConnection().createArrayOf("uuid", tasks.toArray()));
        });
    }

    /**
     * The steps of one task, in order.
     *
     * @param history whether to include steps of earlier attempts
     * @param from number of steps to skip
     */
    public Page<ObjectNode> stepsOfTask(Connection c, UUID workspaceId, UUID taskId, boolean history, Detail detail,
            int from, int limit) throws SQLException {
        return page(c, detail == Detail.WHOLE ? TaskSql.TASK_STEPS : TaskSql.LIGHT_TASK_STEPS, statement -> {
            ids(workspaceId, taskId).bind(statement);
            statement.setBoolean(3, history);
            statement.setInt(4, from);
            statement.setLong(5, limit + 1L);
        }, limit);
    }

    /**
     * The rounds of a task with {@code repeat}, in order; an empty page for another task.
     *
     * @param from how many to skip
     */
    public Page<ObjectNode> roundsOfTask(Connection c, UUID workspaceId, UUID taskId, int from, int limit)
            throws SQLException {
        return page(c, TaskSql.ROUNDS, statement -> {
            ids(workspaceId, taskId).bind(statement);
            statement.setObject(3, workspaceId);
            statement.setObject(4, taskId);
            statement.setInt(5, from);
            statement.setLong(6, limit + 1L);
        }, limit);
    }

    /** The task's whole output as {@code output}, null while it has none; empty for an unknown task. */
    public Optional<ObjectNode> output(Connection c, UUID workspaceId, UUID taskId) throws SQLException {
        return first(c, TaskSql.OUTPUT, ids(workspaceId, taskId));
    }

    /**
     * The turns, calls and other steps of attempts of the task, in order.
     *
     * @param first of the attempts, from 1; null for the current one
     * @param last of the attempts; null for the current one
     * @param from how many to skip
     */
    public Page<ObjectNode> transcript(Connection c, UUID workspaceId, UUID taskId, @Nullable Integer first,
            @Nullable Integer last, int from, int limit) throws SQLException {
        return page(c, TaskTranscript.SQL, statement -> {
            statement.setObject(1, taskId);
            statement.setObject(2, first, Types.INTEGER);
            statement.setObject(3, last, Types.INTEGER);
            statement.setObject(4, taskId);
            statement.setObject(5, workspaceId);
            statement.setInt(6, from);
            statement.setLong(7, limit + 1L);
        }, limit);
    }

    /** The turns of a task, by its id in the plan, for a fork; empty for an unknown task. */
    public Optional<CopiedTurns.Source> turns(Connection c, UUID workspaceId, UUID runId, String task)
            throws SQLException {
        return CopiedTurns.of(c, workspaceId, runId, task);
    }

    /** Whether a step of the task, or its output, still needs a person's approval. */
    public boolean asksForApproval(Connection c, UUID workspaceId, UUID taskId) throws SQLException {
        return first(c, ReadSql.ASKS_FOR_APPROVAL, ids(workspaceId, taskId)).isPresent();
    }

    /**
     * The people whose approval a run requires.
     *
     * @param people how many for each of its questions
     * @param fourEyes whether its submitter does not approve
     * @param missionPeople how many by its mission, without the rules of its workspace
     * @param missionFourEyes likewise
     */
    public record Approvers(int people, boolean fourEyes, int missionPeople, boolean missionFourEyes) {}

    /** The people whose approval the run requires; one of any for an unknown run. */
    public Approvers approvers(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.APPROVERS, ids(workspaceId, runId))
                .map(row -> new Approvers(row.get("people").intValue(), row.get("four_eyes").booleanValue(),
                        row.get("mission_people").intValue(), row.get("mission_four_eyes").booleanValue()))
                .orElse(new Approvers(1, false, 1, false));
    }

    /** Whether several people have to approve a question of the run, or of one of its open tasks. */
    public boolean requiresSeveral(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.REQUIRES_SEVERAL, ids(workspaceId, runId)).isPresent();
    }

    /** Whether a new plan of the run needs no approval, although one of its open tasks needs a person's approval. */
    public boolean replanSkipsApproval(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.REPLAN_SKIPS_APPROVAL, ids(workspaceId, runId)).isPresent();
    }

    /** Whether a task of an agent in the run's current attempt requires approval by a person. */
    public boolean asksForApproval(Connection c, UUID workspaceId, UUID runId, int agent) throws SQLException {
        return first(c, ReadSql.AGENT_ASKS_FOR_APPROVAL, statement -> {
            statement.setInt(1, agent);
            statement.setObject(2, workspaceId);
            statement.setObject(3, runId);
        }).isPresent();
    }

    /**
     *
     * In plan order.
     *
     * @param attempt null for the current one
     * @param history whether to include steps of tasks' earlier attempts and of replaced tasks
     * @param after the step after which to continue; null to begin with the first
     */
    public Page<ObjectNode> steps(Connection c, UUID workspaceId, UUID runId, Detail detail, @Nullable Integer attempt,
            boolean history, @Nullable UUID after, int limit) throws SQLException {
        return page(c, detail == Detail.WHOLE ? TaskSql.STEPS : TaskSql.LIGHT_STEPS,
                ofAttempt(workspaceId, runId, attempt, history, after, limit + 1), limit);
    }

    public Optional<ObjectNode> step(Connection c, UUID workspaceId, UUID stepId) throws SQLException {
        return step(c, workspaceId, stepId, Detail.WHOLE);
    }

    public Optional<ObjectNode> step(Connection c, UUID workspaceId, UUID stepId, Detail detail) throws SQLException {
        return first(c, detail == Detail.WHOLE ? TaskSql.STEP : TaskSql.LIGHT_STEP, ids(workspaceId, stepId));
    }

    /**
     * Input and result of each lease of the step, oldest first.
     *
     * @param from how many to skip
     */
    public Page<ObjectNode> stepAttempts(Connection c, UUID workspaceId, UUID stepId, int from, int limit)
            throws SQLException {
        return page(c, StepAttempts.SQL, part(workspaceId, stepId, from, limit), limit);
    }

    /**
     * A child run's budget; empty without a parent or its limit.
     *
     * @param stopped true when the run is stopped because that limit, or its own, is used up
     */
    public record Allotment(UUID parentId, BigDecimal amount, boolean stopped) {}

    public Optional<Allotment> allotment(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ALLOTMENT)) {
            statement.setObject(1, workspaceId);
            statement.setObject(2, runId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(new Allotment(row.getObject("parent_run_id", UUID.class),
                        row.getBigDecimal("allotment"), row.getBoolean("stopped"))) : Optional.empty();
            }
        }
    }

    /** Events of the run with a greater {@code seq}, in order. */
    public Page<ObjectNode> events(Connection c, UUID workspaceId, UUID runId, long afterSeq, int limit)
            throws SQLException {
        return page(c, ReadSql.EVENTS, eventsAfter(workspaceId, runId, afterSeq, limit + 1), limit);
    }

    /** Like {@link #events}; completed steps have the number in which they completed. */
    public List<ObjectNode> eventsWithSteps(Connection c, UUID workspaceId, UUID runId, long afterSeq, int limit)
            throws SQLException {
        return list(c, ReadSql.EVENTS_WITH_STEPS, eventsAfter(workspaceId, runId, afterSeq, limit));
    }

    public List<ObjectNode> attempts(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return list(c, ReadSql.ATTEMPTS, ids(workspaceId, runId));
    }

    /**
     * The run's plans, the current one last; none before the first exists.
     *
     * @param from how many to skip
     */
    public Page<ObjectNode> plans(Connection c, UUID workspaceId, UUID runId, int from, int limit) throws SQLException {
        return page(c, ReadSql.PLANS, part(workspaceId, runId, from, limit), limit);
    }

    /** One version of the run's plan; empty where the run has no such version. */
    public Optional<JsonNode> plan(Connection c, UUID workspaceId, UUID runId, int version) throws SQLException {
        return first(c, ReadSql.PLAN, statement -> {
            ids(workspaceId, runId).bind(statement);
            statement.setInt(3, version);
        }).map(row -> row.get("plan"));
    }

    public List<ObjectNode> agents(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return list(c, ReadSql.AGENTS, ids(workspaceId, runId));
    }

    public List<ObjectNode> artifacts(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return list(c, ReadSql.ARTIFACTS, ids(workspaceId, runId));
    }

    /** The location of the bytes of one of the run's artifacts. */
    public Optional<ArtifactFile> artifact(Connection c, UUID workspaceId, UUID runId, UUID artifactId)
            throws SQLException {
        return first(c, ReadSql.ARTIFACT, statement -> {
            ids(workspaceId, runId).bind(statement);
            statement.setObject(3, artifactId);
        })
                .map(row -> new ArtifactFile(row.get("name").asString(), row.get("content_type").asString(),
                        row.get("size_bytes").asLong(), row.get("sha256").asString(),
                        row.get("storage_key").asString()));
    }

    /** Log lines of the step with a greater {@code seq}, in order. */
    public Page<ObjectNode> logs(Connection c, UUID workspaceId, UUID stepId, long afterSeq, int limit)
            throws SQLException {
        return page(c, ReadSql.LOGS, after(workspaceId, stepId, afterSeq, limit + 1), limit);
    }

    public List<WorkerInfo> workers(Connection c, UUID workspaceId) throws SQLException {
        return ReadSql.WORKERS.on(c).set("workspace", workspaceId).all(RecordColumns.of(WorkerInfo.class));
    }

    /** How many steps of each tool are ready or leased, most ready ones first. */
    public List<QueuedTool> queue(Connection c, UUID workspaceId) throws SQLException {
        return ReadSql.QUEUE.on(c).set("workspace", workspaceId).all(RecordColumns.of(QueuedTool.class));
    }

    public Optional<ObjectNode> escalation(Connection c, UUID workspaceId, UUID ticketId) throws SQLException {
        return first(c, ReadSql.ESCALATION, ids(workspaceId, ticketId));
    }

    /**
     *
     * Tickets, newest first.
     *
     * @param runId null for all runs
     * @param state {@code open} or {@code resolved}; null for both
     * @param after the ticket after which to continue; null to begin with the first
     */
    public Page<ObjectNode> escalations(Connection c, UUID workspaceId, @Nullable UUID runId, @Nullable String state,
            @Nullable UUID after, int limit) throws SQLException {
        return page(c, ReadSql.ESCALATION_LIST, statement -> {
            statement.setObject(1, workspaceId);
            statement.setObject(2, runId);
            statement.setObject(3, runId);
            statement.setString(4, state);
            statement.setString(5, state);
            statement.setObject(6, after);
            statement.setObject(7, after);
            statement.setInt(8, limit + 1);
        }, limit);
    }

    /**
     * A run's mission, for another run like it: {@code name, description, goal, plan, config, inputs} (their values),
     * {@code tags, output, priority, agent_slug}; and {@code input_declarations, origin, state}. The plan is the
     * current one.
     */
    public Optional<ObjectNode> mission(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        return first(c, ReadSql.MISSION, ids(workspaceId, runId));
    }

    /** The number of open runs of the workspace, counted up to {@code most}. */
    public int openRuns(Connection c, UUID workspaceId, long most) throws SQLException {
        return first(c, ReadSql.OPEN_COUNT, statement -> {
            statement.setObject(1, workspaceId);
            statement.setLong(2, most);
        }).orElseThrow().get("count").intValue();
    }

    /**
     * Time until the workspace may create another run, under a limit per minute.
     *
     * @param most at least 1
     */
    public Duration untilNextRun(Connection c, UUID workspaceId, long most) throws SQLException {
        return first(c, ReadSql.MOST_RECENT, statement -> {
            statement.setObject(1, workspaceId);
            statement.setLong(2, most - 1);
        }).map(row -> Duration.ofMillis(Math.max(0, row.get("wait_ms").longValue()))).orElse(Duration.ZERO);
    }

    /** Bytes of the workspace's artifacts. */
    public long storedBytes(Connection c, UUID workspaceId) throws SQLException {
        return first(c, ReadSql.STORED, statement -> statement.setObject(1, workspaceId)).orElseThrow().get("bytes")
                .longValue();
    }

    /** A workspace's use of its limits. */
    public WorkspaceUse use(Connection c, UUID workspaceId) throws SQLException {
        return ReadSql.USE.on(c).set("workspace", workspaceId).one(RecordColumns.of(WorkspaceUse.class));
    }

    /**
     * Open runs of the workspace, by id.
     *
     * @param after the run after which to continue; null to begin with the first
     */
    public List<UUID> open(Connection c, UUID workspaceId, @Nullable UUID after, int limit) throws SQLException {
        return list(c, ReadSql.OPEN, statement -> {
            statement.setObject(1, workspaceId);
            statement.setObject(2, after);
            statement.setObject(3, after);
            statement.setInt(4, limit);
        }).stream().map(row -> UUID.fromString(row.get("id").asString())).toList();
    }

    /** The completed tasks of a run's current attempt by their ids in the plan, each with the task that holds its output. */
    public Map<String, UUID> completed(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        Map<String, UUID> completed = new LinkedHashMap<>();
        for (ObjectNode row : list(c, ReadSql.COMPLETED, ids(workspaceId, runId))) {
            completed.put(row.get("key").asString(), UUID.fromString(row.get("id").asString()));
        }
        return completed;
    }

    private static Binder ids(UUID workspaceId, UUID id) {
        return statement -> {
            statement.setObject(1, workspaceId);
            statement.setObject(2, id);
        };
    }

    private static Binder ofAttempt(UUID workspaceId, UUID runId, @Nullable Integer attempt, boolean history,
            @Nullable UUID after, int limit) {
        return statement -> {
            ids(workspaceId, runId).bind(statement);
            statement.setObject(3, attempt);
            statement.setBoolean(4, history);
            statement.setObject(5, after);
            statement.setObject(6, after);
            statement.setInt(7, limit);
        };
    }

    private static Binder after(UUID workspaceId, UUID id, long seq, int limit) {
        return statement -> {
            ids(workspaceId, id).bind(statement);
            statement.setLong(3, seq);
            statement.setInt(4, limit);
        };
    }

    /** The number selects packs, then events. */
    private static Binder eventsAfter(UUID workspaceId, UUID id, long seq, int limit) {
        return statement -> {
            ids(workspaceId, id).bind(statement);
            statement.setLong(3, seq);
            statement.setLong(4, seq);
            statement.setInt(5, limit);
        };
    }

    private static Binder part(UUID workspaceId, UUID id, int from, int limit) {
        return statement -> {
            ids(workspaceId, id).bind(statement);
            statement.setInt(3, from);
            statement.setLong(4, limit + 1L);
        };
    }

    private static Page<ObjectNode> page(Connection c, String sql, Binder binder, int limit) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            binder.bind(statement);
            return Rows.page(statement, limit, JsonRows::object);
        }
    }

    private static List<ObjectNode> list(Connection c, String sql, Binder binder) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            binder.bind(statement);
            return JsonRows.list(statement);
        }
    }

    private static Optional<ObjectNode> first(Connection c, String sql, Binder binder) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            binder.bind(statement);
            return JsonRows.first(statement);
        }
    }
}
