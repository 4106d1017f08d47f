package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.submission.PreparedMission;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.mission.submission.RunSubmission;
import io.keelson.server.mission.submission.SubmissionResult;
import io.keelson.server.tenant.workspace.WorkspaceRow;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Submits the runs of deliveries, under the same limits as requests. */
final class TriggeredRuns {

    /** Maximum triggers on ends of runs that lead to a run. */
    static final int MAX_DEPTH = 10;

    private final RunSubmission submission;
    private final RecipeMissions missions;
    private final WorkspaceStore workspaces;
    private final Database database;
    private final RunReader reader;
    private final EventExpressions expressions;
    private final FlowStore flow;

    TriggeredRuns(RunSubmission submission, RecipeMissions missions, WorkspaceStore workspaces, Database database,
            RunReader reader, EventExpressions expressions, FlowStore flow) {
        this.submission = submission;
        this.missions = missions;
        this.workspaces = workspaces;
        this.database = database;
        this.reader = reader;
        this.expressions = expressions;
        this.flow = flow;
    }

    /** The result of the rules that need no lock. */
    sealed interface Prepared {

        /** There is no run to submit. */
        record Decided(Outcome outcome) implements Prepared {}

        /** A run to submit. */
        record Ready(RunSubmission.Request request) implements Prepared {}

        /** A signal to send. */
        record Signals(TriggeredSignals.Target target) implements Prepared {}
    }

    /** The result of the filter. */
    sealed interface Screened {

        /** There is no run. */
        record Decided(Outcome outcome) implements Screened {}

        /** The keys of the rules of flow; without keys for a trigger without rules. */
        record Keyed(FlowGate.Keys keys) implements Screened {}
    }

    /** Evaluates the filter and the keys of the rules of flow. */
    Screened screen(TriggerRow trigger, Trigger.Definition definition, DeliveryRow delivery) {
        ObjectNode scope = Event.scope(delivery.headers(), delivery.body());
        try {
            if (!expressions.passes(trigger.workspaceId(), definition.filter(), scope)) {
                return new Screened.Decided(Outcome.dropped("FILTERED", "the event does not meet the filter"));
            }
            return new Screened.Keyed(definition.flow() == null ? new FlowGate.Keys(null, null, null)
                    : expressions.keys(trigger.workspaceId(), definition.flow(), scope));
        } catch (ExpressionException e) {
            return new Screened.Decided(Outcome.refusal(e.code(), e.getMessage()));
        }
    }

    /** Evaluates the inputs of a delivery that has passed, and reads the mission of its run. */
    Prepared prepare(TriggerRow trigger, Trigger.Definition definition, DeliveryRow delivery) {
        ObjectNode scope = Event.scope(delivery.headers(), delivery.body());
        ObjectNode inputs;
        JsonNode priority;
        try {
            if (definition.flow() != null && definition.flow().batch() != null) {
                ArrayNode batch = scope.putArray("batch");
                flow.group(delivery).forEach(each -> batch.add(Event.scope(each.headers(),
                        each.body())));
            }
            if (definition.signal() != null) {
                return new Prepared.Signals(
                        expressions.target(trigger.workspaceId(), trigger.name(), definition.signal(), scope));
            }
            inputs = expressions.inputs(trigger.workspaceId(), definition, scope);
            priority = expressions.priority(trigger.workspaceId(), definition, scope);
        } catch (ExpressionException e) {
            return new Prepared.Decided(Outcome.refusal(e.code(), e.getMessage()));
        }
        int depth = depth(definition, delivery);
        if (depth > MAX_DEPTH) {
            return new Prepared.Decided(Outcome.refusal("TRIGGER_DEPTH_EXCEEDED",
                    "the end of a run that " + MAX_DEPTH + " triggers on ends of runs have led to starts no run"));
        }
        WorkspaceRow workspace = workspaces.find(trigger.workspaceId()).orElse(null);
        if (workspace == null || workspace.closed()) {
            return new Prepared.Decided(Outcome.dropped("WORKSPACE_CLOSED", "the workspace is closed"));
        }
        return switch (missions.ofSchedule(trigger.workspaceId(), trigger.recipeId(), inputs, definition.mission(),
                cause(definition), priority)) {
            case ReadResult.Invalid<PreparedMission>(List<PlanProblem> problems) ->
                new Prepared.Decided(refusal(problems));
            case ReadResult.Ok<PreparedMission>(PreparedMission prepared) -> new Prepared.Ready(
                    new RunSubmission.Request(create(trigger, delivery, prepared, depth),
                            prepared.mission().externalIdPolicy(), workspace.limits(), null, false));
        };
    }

    /** The value of the run's {@code trigger}. */
    private static String cause(Trigger.Definition definition) {
        return TriggerRow.ofRuns(definition) ? "run" : definition.source().event() == null ? "webhook" : "event";
    }

    /** The number of triggers on ends of runs that lead to the run: a cycle of them ends. */
    private static int depth(Trigger.Definition definition, DeliveryRow delivery) {
        return TriggerRow.ofRuns(definition) ? delivery.body().path("depth").asInt(0) + 1 : 0;
    }

    private static Outcome refusal(List<PlanProblem> problems) {
        PlanProblem first = problems.getFirst();
        String text = first.pointer() + ": " + first.message();
        return Outcome.refusal(first.code(),
                problems.size() == 1 ? text : problems.size() + " problems, the first at " + text);
    }

    private static Command.Create create(TriggerRow trigger, DeliveryRow delivery, PreparedMission prepared,
            int depth) {
        ObjectNode origin = prepared.origin() == null ? Json.object() : prepared.origin();
        origin.put("trigger_id", trigger.id().toString()).put("delivery_id", delivery.id().toString());
        if (depth > 0) {
            origin.put("trigger_depth", depth);
        }
        return new Command.Create(prepared.mission().newRun(delivery.runId(), trigger.workspaceId(),
                trigger.createdBy(), null, origin, null), true, Actor.service("trigger " + trigger.name()));
    }

    /** The runs of these that exist, or existed and were deleted. */
    Set<UUID> existing(Set<UUID> runs) {
        return runs.isEmpty() ? Set.of() : database.withConnection(c -> reader.progress(c, runs)).keySet();
    }

    /** Submits a run that did not exist before. */
    Outcome submit(DeliveryRow delivery, RunSubmission.Request request) throws InterruptedException {
        UUID run = delivery.runId();
        return switch (submission.submit(request)) {
            case SubmissionResult.Submitted(UUID made, boolean created) -> created || made.equals(run)
                    ? Outcome.started(run)
                    : externalIdTaken(made);
            case SubmissionResult.ExternalIdTaken(UUID other) -> externalIdTaken(other);
            case SubmissionResult.InsufficientCredits insufficient ->
                Outcome.failure(delivery.failures(), "INSUFFICIENT_CREDITS", insufficient.message());
            case SubmissionResult.LimitReached reached ->
                Outcome.postponed(reached.code(), reached.message(), reached.retryAfter());
            case SubmissionResult.Rejected(Reply.Rejected reply) ->
                Outcome.failure(delivery.failures(), reply.code(), reply.message());
        };
    }

    private static Outcome externalIdTaken(UUID run) {
        return Outcome.refusal("EXTERNAL_ID_TAKEN", "the external id belongs to run " + run);
    }
}
