package io.keelson.server.api.http.runs;

import io.keelson.api.tenant.Secret;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes the command of a signal. A payload has to fit the schemas of all steps that wait or will wait for the name. The payload is
 * stored; so its size is limited and secrets are redacted.
 */
public final class SignalCommands {

    /** A valid name of a signal. */
    public static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,100}");

    private final Database database;
    private final RunReader reader;
    private final SecretStore secrets;

    public SignalCommands(Database database, RunReader reader, SecretStore secrets) {
        this.database = database;
        this.reader = reader;
        this.secrets = secrets;
    }

    /** Checks a payload within the bounds of tenants' computations. */
    @FunctionalInterface
    public interface Computed {
        /** The result of the check. */
        List<PlanProblem> of(Check check) throws IOException, InterruptedException;
    }

    /** The check of a payload. */
    @FunctionalInterface
    public interface Check {
        /** All problems. */
        List<PlanProblem> problems();
    }

    /**
     * A command, not submitted yet.
     *
     * @param awaited whether a step waits or will wait for the signal
     */
    public record Prepared(Command.SendSignal command, boolean awaited) {}

    /**
     * The command that sends a signal.
     *
     * @param id id of the signal
     * @throws ApiProblem for an unknown run, or a payload that does not fit
     */
    public Prepared prepare(UUID workspace, UUID run, UUID id, String name, JsonNode payload, Actor actor,
            Computed computed) throws IOException, InterruptedException {
        // Read before the waits, so that steps that begin in between are among them.
        ObjectNode read =
                Reads.found(database.withConnection(c -> reader.run(c, workspace, run)), IdKind.RUN, run);
        RunReader.SignalWaits waits = database.withConnection(c -> reader.signalWaits(c, workspace, run));
        List<PlanProblem> problems = computed.of(() -> problems(waits.inputs().values().stream()
                .filter(input -> input.path("name").asString("").equals(name)).toList(), payload));
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
        Command.SendSignal.Awaiting awaiting = awaiting(read, waits, name);
        return new Prepared(new Command.SendSignal(run, id, name, redacted(workspace, payload).toString(),
                mayChange(read) ? null : awaiting, actor), !awaiting.isEmpty());
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
