package io.keelson.client;

import io.keelson.api.run.Artifact;
import io.keelson.api.run.Event;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.RunAgent;
import io.keelson.api.run.RunAttempt;
import io.keelson.api.run.RunPlan;
import io.keelson.api.run.RunStates;
import io.keelson.api.run.RunStatus;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.client.plan.Mission;
import java.io.InputStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Runs: from creation to their result. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Runs {

    /** How long an answer may take beyond the time for which the server may hold it back. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

    private final Api api;

    Runs(Api api) {
        this.api = api;
    }

    /**
     * Creates a run, {@code created} unless the request says to start it. A bad plan lists every problem at once. The
     * request is repeated if its answer is lost, under an idempotency key, so that it creates one run.
     */
    public Run create(RunRequest request) {
        return run(Call.post("/runs", request.mission()).keyed(request.idempotencyKey()));
    }

    /** Creates a run of a mission built in code. */
    public Run create(Mission mission) {
        return create(RunRequest.of(mission.toJson()));
    }

    /**
     * Creates a run and waits for its end. The request says when the run starts. Without an idempotency key this is one
     * call where the run ends within seconds, and if its answer is lost the run may exist; with one it is {@link #create}
     * and {@link #awaitEnd}.
     *
     * @param limit how long to wait at most
     * @return the run as it ended; ask {@link Run#completed()} how
     * @throws KeelsonException {@code AWAIT_TIMEOUT} when it has not ended in time; the run continues
     */
    public Run execute(RunRequest request, Duration limit) {
        if (request.idempotencyKey() != null) {
            return awaitEnd(create(request).id(), limit);
        }
        long begun = System.nanoTime();
        Duration wait = Await.heldOpen(limit);
        Call call = Call.post(RequestPath.of("/runs").with("wait_ms", wait.toMillis()), request.mission())
                .within(wait.plus(ANSWER_LIMIT));
        Run run = run(call);
        return run.ended() ? run : awaitEnd(run.id(), limit.minusNanos(System.nanoTime() - begun));
    }

    /** Executes a mission built in code; see {@link #execute(RunRequest, Duration)}. */
    public Run execute(Mission mission, Duration limit) {
        return execute(RunRequest.of(mission.toJson()), limit);
    }

    /** Reads a run. */
    public Run get(String id) {
        return run(Call.get(RequestPath.of("/runs/", id)));
    }

    /** Lists runs, newest first. */
    public Page<Run> list(RunQuery query) {
        return Page.of(listDocument(query), Run.class);
    }

    /** Lists runs as the server's document. */
    public JsonNode listDocument(RunQuery query) {
        return api.get(query.filter().addTo(RequestPath.of("/runs")).with("cursor", query.cursor())
                .with("limit", query.limit()).with("archived", query.archived() ? true : null).toString());
    }

    /** Starts a created run. */
    public Run start(String id) {
        return run(Call.post(RequestPath.of("/runs/", id, "/start"), Json.object()).repeatable());
    }

    /** Work in flight may finish and is recorded; nothing new is dispatched. */
    public Run pause(String id) {
        return run(Call.post(RequestPath.of("/runs/", id, "/pause"), Json.object()).repeatable());
    }

    /** Resumes a paused run. */
    public Run resume(String id) {
        return run(Call.post(RequestPath.of("/runs/", id, "/resume"), Json.object()).keyed(null));
    }

    /** Cancels a run; its running steps are interrupted. */
    public Run cancel(String id, @Nullable String reason) {
        JsonNode body = Json.object().put("reason", reason);
        return run(Call.post(RequestPath.of("/runs/", id, "/cancel"), body).repeatable());
    }

    /** Deletes a run that has ended or was never started. Its ledger stays. Deleting a deleted run changes nothing. */
    public void delete(String id) {
        api.send(Call.of("DELETE", RequestPath.of("/runs/", id), null).repeatable());
    }

    /** Opens the next attempt of a failed run. */
    public Run retry(String id, RetryFrom from) {
        JsonNode body = Json.object().put("from", from.name().toLowerCase(Locale.ROOT));
        return run(Call.post(RequestPath.of("/runs/", id, "/retry"), body).keyed(null));
    }

    /** Ends a run as failed; what runs is interrupted. */
    public Run fail(String id, @Nullable String reason) {
        return run(Call.post(RequestPath.of("/runs/", id, "/fail"), Json.object().put("reason", reason)).repeatable());
    }

    /**
     * Changes the cost limits of a run; a run stopped by its budget continues if the new limit allows it.
     *
     * @param hardLimit limit in credits of the cost of all attempts together; null leaves it unchanged
     * @param softLimit amount in credits at which one warning is sent; null leaves it unchanged
     */
    public Run budget(String id, @Nullable BigDecimal hardLimit, @Nullable BigDecimal softLimit) {
        return budget(id, hardLimit, softLimit, Map.of());
    }

    /**
     * Changes the cost limits of a run and the budgets of its tasks.
     *
     * @param hardLimit limit in credits of the cost of all attempts together; null leaves it unchanged
     * @param softLimit amount in credits at which one warning is sent; null leaves it unchanged
     * @param tasks new budgets in credits, by the ids in the plan of tasks that have one
     */
    public Run budget(String id, @Nullable BigDecimal hardLimit, @Nullable BigDecimal softLimit,
            Map<String, BigDecimal> tasks) {
        ObjectNode body = Json.object().put("hard_limit_usd", hardLimit).put("soft_limit_usd", softLimit);
        if (!tasks.isEmpty()) {
            body.set("tasks", Json.of(tasks));
        }
        return run(Call.post(RequestPath.of("/runs/", id, "/budget"), body).repeatable());
    }

    /**
     * Sends a run a signal. The step that has waited for its name the longest receives it; otherwise the run keeps it
     * for the first such step. Each signal is received once.
     *
     * @param payload the step's output: any value that Jackson can write, null included
     */
    public Run signal(String id, String name, @Nullable Object payload) {
        ObjectNode body = Json.object();
        body.set("payload", Json.of(payload));
        return run(Call.post(RequestPath.of("/runs/", id, "/signals/", name), body).keyed(null));
    }

    /** Requests a new plan from the run's planner; completed tasks stay. */
    public Run replan(String id, @Nullable String reason) {
        return run(Call.post(RequestPath.of("/runs/", id, "/replan"), Json.object().put("reason", reason)).keyed(null));
    }

    /**
     * Undoes the completed work of an ended run. The answer is that run, whose {@link Run#undo} names the run that undoes it. Repeated
     * requests have no effect.
     */
    public Run undo(String id, @Nullable String reason) {
        return run(Call.post(RequestPath.of("/runs/", id, "/undo"), Json.object().put("reason", reason)).keyed(null));
    }

    /**
     * Starts a run of the same plan in which what completed and does not depend on a task is taken over.
     *
     * @param task the task from which on it differs, by its id in the plan
     * @param inputs values that differ, by name: any that Jackson can write
     * @param name null for the run's own
     */
    public Run fork(String id, String task, Map<String, ?> inputs, @Nullable String name) {
        ForkRequest fork = ForkRequest.from(task).inputs(inputs);
        return fork(id, name == null ? fork : fork.name(name));
    }

    /** Starts a run of the same plan from one of its tasks, or from one of the task's turns. */
    public Run fork(String id, ForkRequest fork) {
        return run(Call.post(RequestPath.of("/runs/", id, "/fork"), fork.body()).keyed(fork.idempotencyKey()));
    }

    /** Ends an agent and all of its tasks. */
    public RunAgent cancelAgent(String id, int number, @Nullable String reason) {
        RequestPath route = RequestPath.of("/runs/", id, "/agents/", Integer.toString(number), "/cancel");
        return Json.document(api.send(Call.post(route, Json.object().put("reason", reason)).repeatable()).body(),
                RunAgent.class);
    }

    /**
     * Decides the plan gate, the result, else the only task or step that waits; several waiting are refused with their
     * names.
     */
    public Run approve(String id, @Nullable String reason) {
        return run(
                Call.post(RequestPath.of("/runs/", id, "/approve"), Json.object().put("reason", reason)).keyed(null));
    }

    /**
     * Approves a plan of your own instead of the waiting plan. It is checked, and becomes the plan's next version.
     *
     * @param plan with {@code tasks} as in a mission; any value that Jackson can write
     * @throws KeelsonException {@code INVALID_BODY} with all problems if the plan cannot run
     */
    public Run approve(String id, @Nullable String reason, Object plan) {
        return run(Call.post(RequestPath.of("/runs/", id, "/approve"),
                Json.object().put("reason", reason).set("plan", Json.of(plan))).keyed(null));
    }

    /** Rejects the pending plan, result, task output or approval step of a run. */
    public Run reject(String id, @Nullable String reason) {
        return run(Call.post(RequestPath.of("/runs/", id, "/reject"), Json.object().put("reason", reason)).keyed(null));
    }

    /** The status document of the run lifecycle contract. */
    public RunStatus status(String id) {
        return Json.document(api.get(RequestPath.of("/runs/", id, "/status").toString()), RunStatus.class);
    }

    /** Explains why the run waits, or its current work. */
    public Explanation explain(String id) {
        return Json.document(api.get(RequestPath.of("/runs/", id, "/explain").toString()), Explanation.class);
    }

    /** Why a task waits. */
    public Explanation explainTask(String taskId) {
        return Json.document(api.get(RequestPath.of("/tasks/", taskId, "/explain").toString()), Explanation.class);
    }

    /** The state of the run's current attempt in every vocabulary. */
    public RunStates states(String id) {
        return Json.document(api.get(RequestPath.of("/runs/", id, "/states").toString()), RunStates.class);
    }

    /** Lists the attempts of a run, oldest first. */
    public List<RunAttempt> attempts(String id) {
        return all(id, "/attempts", RunAttempt.class);
    }

    /** The plans that the run has had, the one in force last; none while a planner has not made the first. */
    public List<RunPlan> plans(String id) {
        return all(id, "/plans", RunPlan.class);
    }

    /** Lists the agents of a run. */
    public List<RunAgent> agents(String id) {
        return all(id, "/agents", RunAgent.class);
    }

    /**
     * The child runs of the run, including children of earlier attempts, newest first. Children may have children, too.
     */
    public List<Run> children(String id) {
        return Page.all(
                cursor -> page(RequestPath.of("/runs").with("parent_run_id", id).with("cursor", cursor), Run.class));
    }

    /** All tasks of the current attempt, in plan order. */
    public List<Task> tasks(String id) {
        return all(id, "/tasks", Task.class);
    }

    /** All tasks of an attempt of the run, including replaced tasks. */
    public List<Task> tasks(String id, int attempt) {
        return history(id, "/tasks", attempt, Task.class);
    }

    /** All steps of the current attempt. */
    public List<Step> steps(String id) {
        return all(id, "/steps", Step.class);
    }

    /** All steps of an attempt of the run, including replaced steps. */
    public List<Step> steps(String id, int attempt) {
        return history(id, "/steps", attempt, Step.class);
    }

    /**
     * The events of the run, in order.
     *
     * @param after only events with a higher {@link Event#seq()}; 0 for all
     * @param limit at most so many
     */
    public Page<Event> events(String id, long after, int limit) {
        return page(RequestPath.of("/runs/", id, "/events").with("after", after).with("limit", limit), Event.class);
    }

    /** Old events that were moved to files: JSON Lines, in order; the caller closes the stream. */
    public InputStream exportedEvents(String id) {
        return api.stream(RequestPath.of("/runs/", id, "/events/exported").toString());
    }

    /** Lists the artifacts of a run. */
    public List<Artifact> artifacts(String id) {
        return all(id, "/artifacts", Artifact.class);
    }

    /** An artifact's content; the caller closes the stream. */
    public InputStream content(Artifact artifact) {
        return api.stream(
                RequestPath.of("/runs/", artifact.runId(), "/artifacts/", artifact.id(), "/content").toString());
    }

    /** Ends an artifact before its time; its record stays. Removing an ended artifact changes nothing. */
    public void remove(Artifact artifact) {
        api.send(Call.of("DELETE", RequestPath.of("/runs/", artifact.runId(), "/artifacts/", artifact.id()), null));
    }

    /** Waits for the end of the run's current attempt; see {@link #awaitEnd(String, Duration, Consumer)}. */
    public Run awaitEnd(String id, Duration limit) {
        return new Await(this, id, limit, null).untilEnd();
    }

    /**
     * Waits for the end of the run's current attempt, over restarts of the server.
     *
     * @param limit how long to wait at most
     * @param listener receives every event once, in order, from the run's first to its last
     * @return the run as it ended; ask {@link Run#completed()} how
     * @throws KeelsonException {@code AWAIT_TIMEOUT} when it has not ended in time; the run continues
     */
    public Run awaitEnd(String id, Duration limit, Consumer<Event> listener) {
        return new Await(this, id, limit, listener).untilEnd();
    }

    /**
     * The run, unless it is still as the tag says: then 304.
     *
     * @param wait how long the server may hold the answer back while the run has not ended
     */
    HttpReply getIfChanged(String id, @Nullable String etag, Duration wait) {
        Call call = wait.isZero() ? Call.get(RequestPath.of("/runs/", id))
                : Call.get(RequestPath.of("/runs/", id).with("wait_ms", wait.toMillis())).within(wait.multipliedBy(3));
        return api.send(etag == null ? call : call.header("If-None-Match", etag));
    }

    private Run run(Call call) {
        return Json.document(api.send(call).body(), Run.class);
    }

    private <T> Page<T> page(RequestPath route, Class<T> type) {
        return Page.of(api.get(route.toString()), type);
    }

    private <T> List<T> history(String id, String what, int attempt, Class<T> type) {
        return Page
                .all(cursor -> page(RequestPath.of("/runs/", id, what).with("attempt", attempt).with("history", "true")
                        .with("cursor", cursor), type));
    }

    private <T> List<T> all(String id, String what, Class<T> type) {
        return Page.all(cursor -> page(RequestPath.of("/runs/", id, what).with("cursor", cursor), type));
    }

    /**
     * New events of a run, each once; to be closed. Its ids are the events' numbers within the run.
     *
     * @param types only these, as {@code type} or {@code event_type} names them; empty for all
     * @param follow whether to wait for more until the run has ended
     * @param after the number behind which to begin; 0 for the first event
     */
    public EventStream eventStream(String id, Set<String> types, boolean follow, long after) {
        return new EventStream(api, RequestPath.of("/runs/", id, "/events/stream").toString(), types, follow, after);
    }
}
