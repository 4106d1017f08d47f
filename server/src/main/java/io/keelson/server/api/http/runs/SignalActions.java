package io.keelson.server.api.http.runs;

import io.keelson.api.run.RunAction;
import io.keelson.api.tenant.Secret;
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
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /runs/{id}/signals/{name}}: sends a signal to a step that waits for it, now or later. A payload has to
 * fit the schemas of all steps that wait or will wait for the name. The payload is stored; so its size is limited and
 * secrets are redacted.
 */
public final class SignalActions {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,100}");

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
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/signals/{name}", RunAction.Signal.class, this::send);
    }

    private ApiResponse send(ApiRequest request, RunAction.Signal body) throws IOException, InterruptedException {
        String name = name(request);
        JsonNode payload = body.payload() == null ? JsonNodeFactory.instance.nullNode() : body.payload();
        UUID run = request.id("id", IdKind.RUN);
        // Read before the waits, so that steps that begin in between are among them.
        ObjectNode read = reads.run(request.workspace(), run);
        RunReader.SignalWaits waits = reads.read((runs, c) -> runs.signalWaits(c, request.workspace(), run));
        List<PlanProblem> problems = request.body().computed(() -> problems(waits.inputs().values().stream()
                .filter(input -> input.path("name").asString("").equals(name)).toList(), payload));
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
        Command.SendSignal.Awaiting awaiting = awaiting(read, waits, name);
        submission.submit(request, new Command.SendSignal(run, ids.next(), name,
                redacted(request.workspace(), payload).toString(), mayChange(read) ? null : awaiting, request.actor()));
        return ApiResponse.ok(reads.run(request.workspace(), run).put("awaited", !awaiting.isEmpty()));
    }

    private static Command.SendSignal.Awaiting awaiting(ObjectNode run, RunReader.SignalWaits waits, String name) {
        boolean unbegun = run.path("task_count").asInt(0) == 0;
        return new Command.SendSignal.Awaiting(
                waits.inputs().entrySet().stream().filter(step -> names(step.getValue(), name)).map(Map.Entry::getKey)
                        .collect(Collectors.toSet()),
                run.at("/plan/tasks").valueStream().filter(task -> waitsFor(task, name))
                        .map(task -> task.path("temp_id").asString(""))
                        .filter(task -> unbegun || waits.unfolded().contains(task)).collect(Collectors.toSet()));
    }

    /** Whether a new plan may still be made. */
    private static boolean mayChange(ObjectNode run) {
        return run.at("/config/planner").isObject() || run.at("/config/replan/planner").isObject()
                || run.path("plan_version").asInt(0) == 0;
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
                secrets.list(workspace).stream().map(Secret::name).collect(Collectors.toSet()))
                .json(payload);
    }
}
