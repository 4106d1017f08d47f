package io.keelson.server.mission.submission;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.schedule.RunSubmitter;
import io.keelson.server.mission.schedule.ScheduleRow;
import io.keelson.server.mission.schedule.ScheduledTimeRow;
import io.keelson.server.tenant.workspace.WorkspaceRow;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Submits the runs of schedules, under the same limits as requests. */
public final class ScheduledRuns implements RunSubmitter {

    private final RunSubmission submission;
    private final RecipeMissions missions;
    private final Commands commands;
    private final WorkspaceStore workspaces;
    private final Database database;
    private final RunReader reader;

    public ScheduledRuns(RunSubmission submission, RecipeMissions missions, Commands commands,
            WorkspaceStore workspaces, Database database, RunReader reader) {
        this.submission = submission;
        this.missions = missions;
        this.commands = commands;
        this.workspaces = workspaces;
        this.database = database;
        this.reader = reader;
    }

    @Override
    public Outcome make(ScheduleRow schedule, ScheduledTimeRow time) throws InterruptedException {
        if (made(time)) {
            return new Outcome.Submitted();
        }
        WorkspaceRow workspace = workspaces.find(schedule.workspaceId()).orElse(null);
        if (workspace == null || workspace.closedAt() != null) {
            return new Outcome.Refused("WORKSPACE_CLOSED", "the workspace is closed");
        }
        return switch (missions.ofSchedule(schedule.workspaceId(), schedule.recipe(),
                Objects.requireNonNull(schedule.shown().inputs()), schedule.shown().mission(), trigger(time))) {
            case ReadResult.Invalid<PreparedMission>(List<PlanProblem> problems) -> refused(problems);
            case ReadResult.Ok<PreparedMission>(PreparedMission prepared) -> outcome(time,
                    submission.submit(new RunSubmission.Request(create(schedule, time, prepared),
                            prepared.mission().externalIdPolicy(), workspace.limits(), null, false)));
        };
    }

    private static Outcome outcome(ScheduledTimeRow time, SubmissionResult result) {
        return switch (result) {
            case SubmissionResult.Submitted(UUID run, boolean created) -> created || run.equals(time.runId())
                    ? new Outcome.Submitted()
                    : externalIdTaken(run);
            case SubmissionResult.ExternalIdTaken(UUID run) -> externalIdTaken(run);
            case SubmissionResult.InsufficientCredits insufficient ->
                new Outcome.Refused("INSUFFICIENT_CREDITS", insufficient.message());
            case SubmissionResult.LimitReached reached -> new Outcome.Refused(reached.code(), reached.message());
            case SubmissionResult.Rejected(Reply.Rejected reply) -> new Outcome.Refused(reply.code(), reply.message());
        };
    }

    private static Outcome externalIdTaken(UUID run) {
        return new Outcome.Refused("EXTERNAL_ID_TAKEN", "the external id belongs to run " + run);
    }

    private static Outcome refused(List<PlanProblem> problems) {
        PlanProblem first = problems.getFirst();
        return new Outcome.Refused(first.code(), problems.size() == 1 ? first.message()
                : problems.size() + " problems, the first: " + first.message());
    }

    private static String trigger(ScheduledTimeRow time) {
        return switch (time.kind()) {
            case CRON -> "cron";
            case MANUAL -> "manual";
            case BACKFILL -> "backfill";
        };
    }

    private static Command.Create create(ScheduleRow schedule, ScheduledTimeRow time, PreparedMission prepared) {
        ObjectNode origin = prepared.origin() == null ? JsonNodeFactory.instance.objectNode() : prepared.origin();
        origin.put("schedule_id", schedule.id().toString())
                .put("scheduled_for", Json.time(time.scheduledFor()));
        return new Command.Create(
                prepared.mission().newRun(time.runId(), schedule.workspaceId(), schedule.shown().createdBy(),
                        null, origin, null),
                true, Actor.service("schedule " + schedule.shown().name()));
    }

    @Override
    public boolean made(ScheduledTimeRow time) {
        return !database.withConnection(c -> reader.progress(c, Set.of(time.runId()))).isEmpty();
    }

    @Override
    public void cancel(UUID run, String reason) throws InterruptedException {
        try {
            commands.commit(new Command.Cancel(run, reason, Actor.SYSTEM), null);
        } catch (Commands.RunNotFound e) {
            // a deleted run has ended
        }
    }

    @Override
    public Set<UUID> ended(Connection c, Collection<UUID> runs) throws SQLException {
        Set<UUID> ended = new HashSet<>(runs);
        reader.progress(c, Set.copyOf(runs)).forEach((run, progress) -> {
            if (!progress.ended()) {
                ended.remove(run);
            }
        });
        return ended;
    }
}
