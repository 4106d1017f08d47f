package io.keelson.server.api.http.runs;

import io.keelson.api.run.RunAction;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import io.keelson.server.engine.store.read.CopiedTurns;
import io.keelson.server.engine.store.read.RoundOutputs;
import io.keelson.server.mission.plan.CheckedMission;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.submission.RunSubmission;
import io.keelson.server.tenant.auth.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /runs/{id}/fork}: a run of the same plan with other inputs, in which what completed before a task is taken
 * over. From a turn of a task it takes over the task's turns before that one as well.
 */
public final class RunFork {
    /** A task's id and a round of the task, {@code collect#7} or as the run shows it, {@code collect[7]}. */
    private static final Pattern ROUND = Pattern.compile("(.*)(?:#([1-9][0-9]{0,5})|\\[([1-9][0-9]{0,5})])");
    /** A task of a round of a group. */
    private static final Pattern MEMBER = Pattern.compile("(.*)\\[([1-9][0-9]{0,5})]\\..*");
    private static final int MAX_OUTPUT = 262_144;

    /**
     * @param task its id in the plan
     * @param turn of the task, the first that is taken again; null to repeat the whole task
     * @param calls {@code live} or {@code recorded}: whether the task's calls are made, or answered as in the source
     * @param taskOnly whether the fork has only the task and those it depends on, without hooks, people's acceptance, ladder and
     *                 new plans
     */
    /** The differences of the task's agent from the source; null if absent. */
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
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/fork", RunAction.Fork.class, this::fork);
    }

    private ApiResponse fork(ApiRequest request, RunAction.Fork given) throws InterruptedException {
        Matcher ofRound = ROUND.matcher(given.task());
        int round = ofRound.matches()
                ? Integer.parseInt(ofRound.group(2) == null ? ofRound.group(3) : ofRound.group(2))
                : 0;
        RunAction.Fork body = round == 0 ? given
                : new RunAction.Fork(ofRound.group(1), given.turn(), given.overrides(), given.inputs(), given.calls(),
                        given.taskOnly(), given.name());
        if (round > 0 && (body.turn() != null || body.recorded())) {
            throw ApiProblem.of("INVALID_VALUE", "/task", "a round is done again as a whole: leave out its number");
        }
        String task = body.task();
        UUID source = request.id("id", IdKind.RUN);
        ObjectNode original = reads.run(request.workspace(), source);
        if (original.path("undoes").isString()) {
            throw ApiProblem.of(ErrorCode.UNDO_OF_UNDO, "the run is an undo and has no forks: retry it if it failed");
        }
        CheckedMission mission = mission(request.workspace(), source, body, round);
        if (mission.plan().tasks().stream().noneMatch(each -> each.id().equals(task))) {
            Matcher member = MEMBER.matcher(task);
            throw ApiProblem.of("UNKNOWN_REFERENCE", "/task",
                    "the run's plan has no task '" + Excerpt.piece(task) + "'" + (member.matches()
                            ? "; a group is forked from a round as a whole: '" + Excerpt.piece(member.group(1)) + "#"
                                    + member.group(2) + "'"
                            : ""));
        }
        Map<String, UUID> completed = reads.read((runs, c) -> runs.completed(c, request.workspace(), source));
        Map<String, UUID> carried = carried(mission.plan(), task, completed);
        requireEffects(original, carried);
        if (mission.plan().tasks().stream().anyMatch(each -> carried.containsKey(each.id()) && decidedByHumans(each))) {
            request.require(Scope.APPROVE);
        }
        if (body.taskOnly()) {
            requireUpstreams(mission.plan(), task, carried);
        }
        ObjectNode origin = body.turn() == null && !body.recorded() ? null
                : Json.object().set(CopiedTurns.ORIGIN, copied(request.workspace(), source, body));
        UUID id = request.runId(ids);
        NewRun run = mission.newRun(id, request.workspace(), String.valueOf(request.actor().id()),
                new NewRun.Fork(source, task, carried), origin, request.traceparent());
        var _ = SubmissionMapping.submitted(submission.submit(SubmissionMapping.of(request,
                new Command.Create(run, true, request.actor()), mission.externalIdPolicy())));
        return ApiResponse.created("/api/v1/runs/" + id, reads.run(request.workspace(), id));
    }

    /** A fork takes over no work that is undone. */
    private static void requireEffects(ObjectNode source, Map<String, UUID> carried) {
        String undo = source.path("undo").path("state").asString("nothing");
        if (!carried.isEmpty() && !undo.equals("nothing") && !undo.equals("refused")) {
            throw ApiProblem.of(ErrorCode.RUN_UNDONE,
                    "the completed work of the run is undone: a fork can only begin at its"
                            + " first tasks");
        }
    }

    /** The task's upstreams are not executed again for it alone. */
    private static void requireUpstreams(Plan plan, String task, Map<String, UUID> carried) {
        plan.tasks().stream().map(TaskSpec::id).filter(each -> !each.equals(task) && !carried.containsKey(each))
                .findFirst().ifPresent(open -> {
                    throw ApiProblem.of(ErrorCode.INVALID_STATE_TRANSITION, "the task depends on '"
                            + Excerpt.piece(open) + "', which has not completed and would be executed again");
                });
    }

    /** The turns before the first that is taken again, and their calls. */
    private ObjectNode copied(UUID workspace, UUID source, RunAction.Fork body) {
        String task = body.task();
        int turn = body.turn() == null ? 1 : body.turn();
        CopiedTurns.Source turns = reads.read((runs, c) -> runs.turns(c, workspace, source, task))
                .orElseThrow(() -> ApiProblem.of("UNKNOWN_REFERENCE", "/task",
                        "the run has no single task '" + Excerpt.piece(task) + "'"));
        if (turn > turns.turns()) {
            throw ApiProblem.of("UNKNOWN_REFERENCE", "/turn", turns.turns() == 0 ? "the task has no turns"
                    : "the task's turns are 1 to " + turns.turns());
        }
        if (!turns.ended()) {
            throw ApiProblem.of(ErrorCode.INVALID_STATE_TRANSITION,
                    "the task has not ended: its turns can still be taken again");
        }
        return body.recorded() ? turns.recorded(task, turn) : turns.before(task, turn);
    }

    /** Its decision was about the inputs of the source, and would hold for others without a person having seen them. */
    private static boolean decidedByHumans(TaskSpec task) {
        return task.policy().review() || task.steps().stream().anyMatch(each -> each.kind() == StepKind.APPROVAL);
    }

    /** The task begins with a round of the source instead of round 1. */
    private void begin(ObjectNode task, UUID workspace, UUID source, RunAction.Fork body, int round) {
        if (!(task.path("repeat") instanceof ObjectNode repeat)) {
            throw ApiProblem.of("UNKNOWN_REFERENCE", "/task",
                    "the task '" + Excerpt.piece(body.task()) + "' has no rounds");
        }
        int max = repeat.path("max").asInt(Repeat.DEFAULT_ROUNDS);
        if (round > max) {
            throw ApiProblem.of("OUT_OF_RANGE", "/task",
                    "the task '" + Excerpt.piece(body.task()) + "' has at most " + max + " rounds");
        }
        repeat.remove("after");
        if (round == 1) {
            return;
        }
        JsonNode output = reads.read((runs, c) -> RoundOutputs.of(c, workspace, source, body.task(), round - 1))
                .orElseThrow(() -> ApiProblem.of("UNKNOWN_REFERENCE", "/task",
                        "in this run, no round " + (round - 1) + " of the task '" + Excerpt.piece(body.task())
                                + "' has ended"));
        if (JsonSize.chars(output, MAX_OUTPUT) > MAX_OUTPUT) {
            throw ApiProblem.of("TOO_LONG", "/task",
                    "the output of round " + (round - 1) + " has more than " + MAX_OUTPUT + " characters");
        }
        repeat.putObject("after").put("round", round - 1).set("output", output);
    }

    /** @param round the first round of the task; 0 for all */
    private CheckedMission mission(UUID workspace, UUID source, RunAction.Fork body, int round) {
        ObjectNode document = RunMission.of(reads, workspace, source);
        document.set("input", body.inputs() == null ? Json.object() : body.inputs());
        document.path("plan").path("tasks").valueStream()
                .filter(each -> each.path("temp_id").asString("").equals(body.task()))
                .forEach(each -> {
                    change((ObjectNode) each, body);
                    if (round > 0) {
                        begin((ObjectNode) each, workspace, source, body, round);
                    }
                });
        if (body.taskOnly()) {
            TaskOnly.reduce(document, body.task());
        }
        document.put("trigger", "fork");
        keepBudgets(document, reads.run(workspace, source).path("task_budgets"));
        if (body.name() != null) {
            document.put("name", body.name());
        }
        return switch (missions.apply(workspace).read(document)) {
            case ReadResult.Ok<CheckedMission>(CheckedMission mission) -> mission;
            case ReadResult.Invalid<CheckedMission>(List<PlanProblem> problems) -> throw ApiProblem.of(problems.stream()
                    .map(each -> new PlanProblem(each.code(), each.pointer().replaceFirst("^/input/", "/inputs/"),
                            each.message()))
                    .toList());
        };
    }

    /** Copied turns may have seen data from outside, but their calls are not calls of the fork. */
    private static void change(ObjectNode task, RunAction.Fork body) {
        JsonNode agent = task.path("assigned_agent");
        if (body.turn() != null && body.turn() > 1
                && (agent.isObject() ? !agent.path("open_world").isEmpty() : !task.path("tools_needed").isEmpty())) {
            task.put("untrusted_input", true);
        }
        if (body.overrides() != null) {
            override(task, body.overrides());
        }
    }

    /** Other instructions or tools make the agent that had the task a contractor of the fork, under the same rules about its calls. */
    private static void override(ObjectNode task, RunAction.Overrides overrides) {
        if (overrides.model() != null) {
            task.put("suggested_model", overrides.model());
        }
        if (overrides.instructions() == null && overrides.tools() == null) {
            return;
        }
        JsonNode agent = task.path("assigned_agent");
        ObjectNode contractor = Json.object().put("type", "contractor")
                .put("agent_name", agent.path("agent_name").asString("contractor"));
        for (String kept : List.of("model", "instructions", "tools", "max_turns")) {
            JsonNode value = agent.path(kept);
            if (!value.isMissingNode() && !value.isNull() && value.asInt(1) > 0) {
                contractor.set(kept, value);
            }
        }
        if (agent.path("approvals").isObject()) {
            task.withObjectProperty("limits").set("approvals", agent.get("approvals"));
        }
        if (overrides.instructions() != null) {
            contractor.put("instructions", overrides.instructions());
        }
        if (overrides.tools() != null) {
            task.remove("tools_needed");
            overrides.tools().forEach(contractor.putArray("tools")::add);
        }
        task.set("suggested_agent", contractor);
    }

    /** Tasks keep the budgets that were raised in the source. */
    private static void keepBudgets(ObjectNode mission, JsonNode budgets) {
        Map<String, JsonNode> inForce = new HashMap<>();
        budgets.forEach(each -> inForce.put(each.path("task").stringValue(), each.path("budget_usd")));
        mission.path("plan").path("tasks").valueStream()
                .filter(task -> inForce.containsKey(task.path("temp_id").asString("")))
                .forEach(task -> ((ObjectNode) task).set("budget_usd", inForce.get(task.path("temp_id").asString(""))));
    }

    /** Completed tasks, except the given task and tasks that depend on repeated tasks. */
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
