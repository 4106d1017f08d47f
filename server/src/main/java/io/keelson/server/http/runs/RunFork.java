package io.keelson.server.http.runs;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.server.auth.Scope;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ApiResponse;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Reads;
import io.keelson.server.http.support.Route;
import io.keelson.server.http.support.RunSubmissions;
import io.keelson.server.json.Excerpt;
import io.keelson.server.json.Json;
import io.keelson.server.plan.CheckedMission;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.plan.ReadResult;
import io.keelson.server.submission.RunSubmission;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /runs/{id}/fork}: a run of the same plan with other inputs, in which what completed before a task is taken
 * over.
 */
public final class RunFork {

    /** @param task its id in the plan */
    record Fork(String task, @Nullable String name, @Nullable ObjectNode inputs) {}

    private final Function<UUID, MissionReader> missions;
    private final Ids ids;
    private final Reads reads;
    private final RunSubmission submission;

    public RunFork(Function<UUID, MissionReader> missions, Ids ids, Reads reads, RunSubmission submission) {
        this.missions = missions;
        this.ids = ids;
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/fork", Fork.class, this::fork);
    }

    private ApiResponse fork(ApiRequest request, Fork body) throws InterruptedException {
        String task = body.task;
        UUID source = request.id("id", IdKind.RUN);
        CheckedMission mission = mission(request.workspace(), source, body.name, body.inputs);
        if (mission.plan().tasks().stream().noneMatch(each -> each.id().equals(task))) {
            throw ApiProblem.of("UNKNOWN_REFERENCE", "/task",
                    "the run's plan has no task '" + Excerpt.piece(task) + "'");
        }
        Map<String, UUID> completed = reads.read((runs, c) -> runs.completed(c, request.workspace(), source));
        Map<String, UUID> carried = carried(mission.plan(), task, completed);
        if (mission.plan().tasks().stream().anyMatch(each -> carried.containsKey(each.id()) && decidedByHumans(each))) {
            request.require(Scope.APPROVE);
        }
        UUID id = RunSubmissions.runId(request, ids);
        NewRun run = mission.newRun(id, request.workspace(), String.valueOf(request.actor().id()),
                new NewRun.Fork(source, task, carried), null, request.traceparent());
        var _ = RunSubmissions.submitted(submission.submit(RunSubmissions.of(request,
                new Command.Create(run, true, request.actor()), mission.externalIdPolicy())));
        return ApiResponse.created("/api/v1/runs/" + id, reads.run(request.workspace(), id));
    }

    /** Its decision was about the inputs of the source, and would hold for others without a human having seen them. */
    private static boolean decidedByHumans(TaskSpec task) {
        return task.policy().review() || task.steps().stream().anyMatch(each -> each.kind() == StepKind.APPROVAL);
    }

    private CheckedMission mission(UUID workspace, UUID source, @Nullable String name, @Nullable ObjectNode inputs) {
        ObjectNode document = RunMission.of(reads, workspace, source);
        document.set("input", inputs == null ? Json.object() : inputs);
        document.put("trigger", "fork");
        keepBudgets(document, reads.run(workspace, source).path("task_budgets"));
        if (name != null) {
            document.put("name", name);
        }
        return switch (missions.apply(workspace).read(document)) {
            case ReadResult.Ok<CheckedMission>(CheckedMission mission) -> mission;
            case ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems) -> throw ApiProblem.of(problems.stream()
                    .map(each -> new PlanProblem(each.code(), each.pointer().replaceFirst("^/input/", "/inputs/"),
                            each.message()))
                    .toList());
        };
    }

    /** Tasks keep the budgets that were raised in the source. */
    private static void keepBudgets(ObjectNode mission, JsonNode budgets) {
        Map<String, JsonNode> inForce = new HashMap<>();
        budgets.forEach(each -> inForce.put(each.path("task").stringValue(), each.path("budget_usd")));
        mission.path("plan").path("tasks").valueStream()
                .filter(task -> inForce.containsKey(task.path("temp_id").asString("")))
                .forEach(task -> ((ObjectNode) task).set("budget_usd", inForce.get(task.path("temp_id").asString(""))));
    }

    /** Completed tasks, except the given one and those that depend on repeated tasks. */
    private static Map<String, UUID> carried(Plan plan, String task, Map<String, UUID> completed) {
        Map<String, UUID> carried = new HashMap<>();
        for (boolean grew = true; grew;) {
            grew = false;
            for (TaskSpec each : plan.tasks()) {
                UUID holder = completed.get(each.id());
                if (holder != null && !each.id().equals(task) && !carried.containsKey(each.id())
                        && each.dependsOn().stream().map(Dependency::task).allMatch(carried::containsKey)) {
                    carried.put(each.id(), holder);
                    grew = true;
                }
            }
        }
        return carried;
    }
}
