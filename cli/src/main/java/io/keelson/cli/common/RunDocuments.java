package io.keelson.cli.common;

import io.keelson.api.inbox.Escalation;
import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.RunAttempt;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.cli.view.FailureView;
import io.keelson.cli.view.PendingDecisions;
import io.keelson.cli.view.RunTree;
import io.keelson.client.EscalationQuery;
import io.keelson.client.InboxQuery;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.RunQuery;
import io.keelson.client.Runs;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Documents of the API as they are, for {@code --json}. */
public final class RunDocuments {

    /** Maximum levels of child runs that are shown. */
    private static final int LEVELS = 3;
    /** Above this number of steps, failed steps are not named. */
    private static final int MAX_STEPS = 2_000;
    /** Maximum tasks of a run whose last tasks are read to show its result. */
    private static final int MAX_TASKS = 500;
    /** Among so many runs {@code latest} looks for the caller's. */
    private static final int NEWEST = 200;

    private RunDocuments() {}

    /** The id that an argument means: {@code latest} is the newest run that the caller has submitted. */
    public static String id(Keelson keelson, String argument) {
        if (!argument.equals("latest")) {
            return RunPrefix.of(argument).map(prefix -> prefix.whole(keelson)).orElse(argument);
        }
        String caller = keelson.whoAmI().key().principal();
        return keelson.runs().list(RunQuery.all().limit(NEWEST)).items().stream()
                .filter(run -> run.parentRunId() == null && run.scheduleId() == null && caller.equals(run.createdBy()))
                .map(Run::id).findFirst().orElseThrow(() -> CliException.failed("RUN_NOT_FOUND", "'" + caller
                        + "' has submitted none of the newest " + NEWEST + " runs; give a run's id"));
    }

    /** The id that an optional argument means; null if absent. */
    public static @Nullable String idIfGiven(Keelson keelson, @Nullable String argument) {
        return argument == null ? null : id(keelson, argument);
    }

    /** Reads the task with that key. */
    public static Task task(Keelson keelson, String run, String key) {
        List<Task> tasks = keelson.runs().tasks(run).stream().filter(each -> !each.superseded()).toList();
        return tasks.stream().filter(each -> each.key().equals(key)).findFirst()
                .orElseThrow(() -> CliException.failed("TASK_NOT_FOUND", "run " + run + " has no task " + key
                        + "; it has " + String.join(", ", tasks.stream().map(Task::key).limit(20).toList())));
    }

    /** The steps of a task, in order. */
    public static List<Step> steps(Keelson keelson, Task task) {
        return keelson.runs().steps(task.runId()).stream().filter(step -> step.taskId().equals(task.id())).toList();
    }

    /** Steps in the state running that no server or worker executes, for the limits of the run have stopped it. */
    public static Set<String> blocked(Keelson keelson, Run run, List<Step> steps) {
        return !run.state().equals("budget_exceeded") ? Set.of()
                : steps.stream().filter(step -> step.state().equals("running")).map(Step::id)
                        .filter(id -> keelson.steps().explain(id).reasons().stream()
                                .noneMatch(reason -> reason.code().equals("RUNNING")))
                        .collect(Collectors.toSet());
    }

    /** Reads the pending decisions of the run. */
    public static PendingDecisions waits(Keelson keelson, Run run) {
        List<Step> approvals = keelson.runs().steps(run.id()).stream()
                .filter(step -> step.state().equals("waiting_approval")).toList();
        List<Task> tasks = keelson.runs().tasks(run.id());
        List<Task> outputs = tasks.stream().filter(task -> task.state().equals("awaiting_human")).toList();
        List<Escalation> tickets = keelson.escalations().list(EscalationQuery.open().run(run.id())).items();
        List<InboxItem> questions = keelson.inbox().list(InboxQuery.all().kind("elicitation").run(run.id())).items();
        return new PendingDecisions(run, approvals, outputs, results(tasks), tickets, questions, stopped(keelson, run));
    }

    /**
     * The last tasks of a run that has completed without an output of its own: their texts are its result. Empty for any other run, and
     * where there are too many tasks to read them.
     */
    public static List<Task> results(Runs runs, Run run) {
        return run.completed() && run.output().isNull() && run.taskCount() <= MAX_TASKS
                ? results(runs.tasks(run.id())).stream().filter(task -> task.output().isString()).toList()
                : List.of();
    }

    /** Tasks of the plan that have completed, on whose output no other task depends. */
    private static List<Task> results(List<Task> tasks) {
        Set<String> upstreams = tasks.stream().flatMap(task -> task.dependsOn().stream()).collect(Collectors.toSet());
        return tasks.stream().filter(task -> task.state().equals("completed") && task.groupId() == null)
                .filter(task -> !task.superseded() && !task.key().startsWith("."))
                .filter(task -> !upstreams.contains(task.key())).toList();
    }

    private static List<Explanation.Reason> stopped(Keelson keelson, Run run) {
        return !run.state().equals("budget_exceeded") ? List.of()
                : keelson.runs().explain(run.id()).reasons().stream().filter(reason -> reason.taskId() == null)
                        .toList();
    }

    /** All attempts of a run with several; empty, without a request, for a single attempt. */
    public static List<RunAttempt> attempts(Runs runs, Run run) {
        return run.attemptNumber() > 1 ? runs.attempts(run.id()) : List.of();
    }

    /** The failed parts of the run, without steps if there are too many to read. */
    public static FailureView failures(Runs runs, Run run) {
        if (run.failures() == 0 && run.tasksFailed() == 0 && !run.state().equals("failed")) {
            return new FailureView(run, List.of(), List.of());
        }
        List<Step> steps = run.stepsTotal() > MAX_STEPS ? List.of() : runs.steps(run.id());
        return new FailureView(run, runs.tasks(run.id()), steps);
    }

    /** The child runs of the run. */
    public static RunTree family(Runs runs, Run run) {
        return family(runs, run, LEVELS);
    }

    private static RunTree family(Runs runs, Run run, int levels) {
        if (levels == 0 || run.childCount() == 0) {
            return RunTree.NONE;
        }
        return new RunTree(runs.children(run.id()).reversed().stream()
                .map(child -> new RunTree.Member(child, family(runs, child, levels - 1))).toList());
    }

    public static JsonNode run(Keelson keelson, String id) {
        return keelson.api().get("/runs/" + id);
    }

    /** The run's state, or {@code completed_with_failures} if the run completed with failures. */
    private static String outcome(Run run) {
        return run.completedWithFailures() ? "completed_with_failures" : run.state();
    }

    /** The run with its outcome, failures, tasks and artifacts, and on request its attempts and steps. */
    public static ObjectNode whole(Keelson keelson, String id, boolean steps) {
        ObjectNode document = Json.object();
        document.set("run", run(keelson, id));
        Run read = keelson.runs().get(id);
        document.put("outcome", outcome(read));
        document.set("failures", failures(keelson.runs(), read).document());
        document.set("tasks", all(keelson, "/runs/" + id + "/tasks"));
        if (steps) {
            document.set("attempts", all(keelson, "/runs/" + id + "/attempts"));
            document.set("steps", all(keelson, "/runs/" + id + "/steps"));
            document.set("children", children(keelson, document.get("run"), LEVELS));
        }
        document.set("artifacts", all(keelson, "/runs/" + id + "/artifacts"));
        return document;
    }

    /** Newest first, each with its own as {@code children}. */
    private static ArrayNode children(Keelson keelson, JsonNode run, int levels) {
        if (levels == 0 || run.path("child_count").asInt(0) == 0) {
            return Json.object().putArray("items");
        }
        ArrayNode children = all(keelson, "/runs?parent_run_id=" + run.path("id").asString());
        children.forEach(child -> ((ObjectNode) child).set("children", children(keelson, child, levels - 1)));
        return children;
    }

    /** All items of a list. */
    public static ArrayNode all(Keelson keelson, String path) {
        ArrayNode items = Json.object().putArray("items");
        String cursor = "";
        do {
            JsonNode page = keelson.api()
                    .get(path + (cursor.isEmpty() ? "" : (path.contains("?") ? "&" : "?") + "cursor=" + cursor));
            page.path("items").forEach(items::add);
            cursor = page.path("next_cursor").asString("");
        } while (!cursor.isEmpty());
        return items;
    }
}
