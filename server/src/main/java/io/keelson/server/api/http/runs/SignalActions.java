package io.keelson.server.api.http.runs;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /runs/{id}/signals/{name}}: what a step waits for, or will. A payload has to fit the schemas of all steps
 * that wait or will wait for the name. The payload is stored; so its size is limited and secrets are redacted.
 */
public final class SignalActions {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,100}");

    record Signal(@Nullable JsonNode payload) {}

    private final Reads reads;
    private final Ids ids;
    private final SecretStore secrets;
    private final Submission submission;

    public SignalActions(Reads reads, Ids ids, SecretStore secrets, Submission submission) {
        this.reads = reads;
        this.ids = ids;
        this.secrets = secrets;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/signals/{name}", Signal.class, this::send);
    }

    private ApiResponse send(ApiRequest request, Signal body) throws IOException, InterruptedException {
        String name = name(request);
        JsonNode payload = body.payload == null ? JsonNodeFactory.instance.nullNode() : body.payload;
        UUID run = request.id("id", IdKind.RUN);
        List<JsonNode> inputs = reads.ofRun(request.workspace(), run,
                (runs, c) -> runs.signalInputs(c, request.workspace(), run));
        List<PlanProblem> problems = request.body().computed(() -> problems(
                inputs.stream().filter(input -> input.path("name").asString("").equals(name)).toList(), payload));
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
        boolean awaited = awaited(request.workspace(), run, inputs, name);
        submission.submit(request, new Command.SendSignal(run, ids.next(), name,
                redacted(request.workspace(), payload).toString(), request.actor()));
        return ApiResponse.ok(reads.run(request.workspace(), run).put("awaited", awaited));
    }

    /**
     * Whether an open step of the run waits or will wait for the signal. Where a new plan may still be made it is kept all the
     * same, and an ended run refuses it for that.
     *
     * @param inputs of the open steps that wait for signals
     */
    private boolean awaited(UUID workspace, UUID id, List<JsonNode> inputs, String name) {
        ObjectNode run = reads.run(workspace, id);
        boolean unbegun = run.path("task_count").asInt(0) == 0;
        Set<String> unfolded = reads.ofRun(workspace, id, (runs, c) -> runs.unfolded(c, workspace, id));
        boolean awaited = inputs.stream().anyMatch(input -> names(input, name))
                || run.at("/plan/tasks").valueStream().filter(
                        task -> unbegun || unfolded.contains(task.path("temp_id").asString("")))
                        .anyMatch(task -> waitsFor(task, name));
        boolean mayChange = run.at("/config/planner").isObject() || run.at("/config/replan/planner").isObject()
                || run.path("plan_version").asInt(0) == 0;
        if (!awaited && !mayChange && !run.path("state_type").asString("").equals("terminal")) {
            throw ApiProblem.of(ErrorCode.SIGNAL_NOT_AWAITED,
                    "no open step of the run waits for the signal '" + name + "'");
        }
        return awaited;
    }

    /** A name that is an expression may come to be any name. */
    private static boolean names(JsonNode input, String name) {
        String awaited = input.path("name").asString("${}");
        return awaited.equals(name) || awaited.contains("${");
    }

    private static boolean waitsFor(JsonNode plan, String name) {
        if (plan.path("tool").asString("").equals("signal.wait") && names(plan.path("input"), name)) {
            return true;
        }
        for (JsonNode part : plan) {
            if (waitsFor(part, name)) {
                return true;
            }
        }
        return false;
    }

    private static String name(ApiRequest request) {
        String name = request.pathText("name");
        if (!NAME.matcher(name).matches()) {
            throw ApiProblem.of(ErrorCode.INVALID_ID, "'" + Excerpt.piece(name)
                    + "' is not a valid signal name: 1 to 100 letters, digits, '.', '_' and '-'");
        }
        return name;
    }

    private static List<PlanProblem> problems(List<JsonNode> inputs, JsonNode payload) {
        return inputs.stream().map(input -> input.path("schema")).filter(JsonNode::isObject)
                .distinct()
                .flatMap(schema -> new DeclaredSchema(schema).check(payload).stream())
                .map(flaw -> new PlanProblem("SCHEMA_VIOLATION", "/payload" + flaw.pointer(), flaw.message())).toList();
    }

    private JsonNode redacted(UUID workspace, JsonNode payload) {
        return secrets.redaction(workspace,
                secrets.list(workspace).stream().map(SecretStore.Shown::name).collect(Collectors.toSet()))
                .json(payload);
    }
}
