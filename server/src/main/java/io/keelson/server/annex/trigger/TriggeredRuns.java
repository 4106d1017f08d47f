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
import tools.jackson.databind.node.ObjectNode;

/** Submits the runs of deliveries, under the same limits as requests. */
final class TriggeredRuns {

    private final RunSubmission submission;
    private final RecipeMissions missions;
    private final WorkspaceStore workspaces;
    private final Database database;
    private final RunReader reader;
    private final EventExpressions expressions;

    TriggeredRuns(RunSubmission submission, RecipeMissions missions, WorkspaceStore workspaces, Database database,
            RunReader reader, EventExpressions expressions) {
        this.submission = submission;
        this.missions = missions;
        this.workspaces = workspaces;
        this.database = database;
        this.reader = reader;
        this.expressions = expressions;
    }

    /** The result of the rules that need no lock. */
    sealed interface Prepared {

        /** There is no run to submit. */
        record Decided(Outcome outcome) implements Prepared {}

        /** A run to submit. */
        record Ready(RunSubmission.Request request) implements Prepared {}
    }

    /** Evaluates the expressions of a delivery, and reads the mission of its run. */
    Prepared prepare(TriggerRow trigger, DeliveryRow delivery) {
        Trigger.Definition definition = trigger.read();
        ObjectNode scope = Event.scope(delivery.headers(), delivery.body());
        ObjectNode inputs;
        try {
            if (!expressions.passes(trigger.workspaceId(), definition.filter(), scope)) {
                return new Prepared.Decided(Outcome.dropped("FILTERED", "the event does not meet the filter"));
            }
            inputs = expressions.inputs(trigger.workspaceId(), definition, scope);
        } catch (ExpressionException e) {
            return new Prepared.Decided(Outcome.refusal(e.code(), e.getMessage()));
        }
        WorkspaceRow workspace = workspaces.find(trigger.workspaceId()).orElse(null);
        if (workspace == null || workspace.closed()) {
            return new Prepared.Decided(Outcome.dropped("WORKSPACE_CLOSED", "the workspace is closed"));
        }
        return switch (missions.ofSchedule(trigger.workspaceId(), trigger.recipeId(), inputs, definition.mission(),
                "webhook")) {
            case ReadResult.Invalid<PreparedMission>(List<PlanProblem> problems) ->
                new Prepared.Decided(refusal(problems));
            case ReadResult.Ok<PreparedMission>(PreparedMission prepared) -> new Prepared.Ready(
                    new RunSubmission.Request(create(trigger, delivery, prepared),
                            prepared.mission().externalIdPolicy(), workspace.limits(), null, false));
        };
    }

    private static Outcome refusal(List<PlanProblem> problems) {
        PlanProblem first = problems.getFirst();
        String text = first.pointer() + ": " + first.message();
        return Outcome.refusal(first.code(),
                problems.size() == 1 ? text : problems.size() + " problems, the first at " + text);
    }

    private static Command.Create create(TriggerRow trigger, DeliveryRow delivery, PreparedMission prepared) {
        ObjectNode origin = prepared.origin() == null ? Json.object() : prepared.origin();
        origin.put("trigger_id", trigger.id().toString()).put("delivery_id", delivery.id().toString());
        return new Command.Create(prepared.mission().newRun(delivery.runId(), trigger.workspaceId(),
                trigger.createdBy(), null, origin, null), true, Actor.service("trigger " + trigger.name()));
    }

    /** Submits a run. A run that exists, or existed and was deleted, is not submitted again. */
    Outcome submit(DeliveryRow delivery, RunSubmission.Request request) throws InterruptedException {
        UUID run = delivery.runId();
        if (!database.withConnection(c -> reader.progress(c, Set.of(run))).isEmpty()) {
            return Outcome.started(run);
        }
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
