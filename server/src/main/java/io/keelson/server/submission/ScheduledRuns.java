package io.keelson.server.submission;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ErrorCode;
import io.keelson.server.http.support.Json;
import io.keelson.server.http.support.Reads;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.recipe.Recipes;
import io.keelson.server.run.read.RunReader;
import io.keelson.server.schedule.RunSubmitter;
import io.keelson.server.schedule.Schedule;
import io.keelson.server.schedule.ScheduledTime;
import io.keelson.server.workspace.WorkspaceRow;
import io.keelson.server.workspace.Workspaces;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/** Runs that schedules make: checked, admitted and paid for as those that clients ask for. */
public final class ScheduledRuns implements RunSubmitter {

    private static final long PATIENCE_SECONDS = 30;
    private static final String UNIQUE_VIOLATION = "23505";

    private final Commands commands;
    private final RecipeMissions missions;
    private final Workspaces workspaces;
    private final RunReader reader;
    private final Reads reads;
    private final AdmissionControl admission;

    /** @param missions reads what a workspace's schedules have: its own workers' tools are known in it */
    public ScheduledRuns(Database database, Commands commands, Function<UUID, MissionReader> missions, Recipes recipes,
            Workspaces workspaces, RunReader reader) {
        this.commands = commands;
        this.missions = new RecipeMissions(database, recipes, missions);
        this.workspaces = workspaces;
        this.reader = reader;
        this.reads = new Reads(database, reader);
        this.admission = new AdmissionControl(reads);
    }

    @Override
    public Outcome make(Schedule schedule, ScheduledTime time) throws InterruptedException {
        if (made(time)) {
            return new Outcome.Submitted();
        }
        WorkspaceRow workspace = workspaces.find(schedule.workspaceId()).orElse(null);
        if (workspace == null || workspace.closedAt() != null) {
            return new Outcome.Refused(ErrorCode.WORKSPACE_CLOSED.name(), ErrorCode.WORKSPACE_CLOSED.title());
        }
        try {
            Command.Create create = create(schedule, time);
            try (AdmissionControl.Permit _ = admission.admit(workspace.id(), workspace.limits())) {
                return submit(create) instanceof Reply.Rejected refused
                        ? new Outcome.Refused(refused.code(), refused.message())
                        : new Outcome.Submitted();
            }
        } catch (ApiProblem problem) {
            return new Outcome.Refused(problem.document().get("code").stringValue(),
                    problem.document().get("detail").stringValue());
        } catch (CompletionException e) {
            if (e.getCause() instanceof SQLException sql && UNIQUE_VIOLATION.equals(sql.getSQLState())
                    && made(time)) {
                return new Outcome.Submitted();
            }
            throw e;
        }
    }

    private Command.Create create(Schedule schedule, ScheduledTime time) {
        RecipeMissions.PreparedMission prepared =
                missions.draw(schedule.workspaceId(), schedule.spec(), switch (time.kind()) {
                    case CRON -> "cron";
                    case MANUAL -> "manual";
                    case BACKFILL -> "backfill";
                });
        ObjectNode origin = prepared.origin() == null ? Json.object() : prepared.origin();
        origin.put("schedule_id", schedule.id().toString()).put("scheduled_for", Json.time(time.scheduledFor()));
        return new Command.Create(prepared.mission().newRun(time.runId(), schedule.workspaceId(), schedule.createdBy(),
                null, origin, null), true, Actor.service("schedule " + schedule.spec().name()));
    }

    @Override
    public boolean made(ScheduledTime time) {
        return !reads.read((runs, c) -> runs.progress(c, Set.of(time.runId()))).isEmpty();
    }

    @Override
    public void cancel(UUID run, String reason) throws InterruptedException {
        try {
            submit(new Command.Cancel(run, reason, Actor.SYSTEM));
        } catch (Commands.RunNotFound e) {
            // as good as ended
        }
    }

    private Reply submit(Command command) throws InterruptedException {
        try {
            return commands.submit(command).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Commands.RunNotFound notFound) {
                throw notFound;
            }
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new CompletionException(e);
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
