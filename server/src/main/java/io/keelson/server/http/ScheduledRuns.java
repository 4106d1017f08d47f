package io.keelson.server.http;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.auth.WorkspaceRow;
import io.keelson.server.auth.Workspaces;
import io.keelson.server.db.Database;
import io.keelson.server.engine.Commands;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.recipe.Recipes;
import io.keelson.server.run.RunReader;
import io.keelson.server.schedule.RunMaker;
import io.keelson.server.schedule.Schedule;
import io.keelson.server.schedule.Tick;
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
public final class ScheduledRuns implements RunMaker {

    private static final long PATIENCE_SECONDS = 30;
    private static final String UNIQUE_VIOLATION = "23505";

    private final Commands commands;
    private final RecipeMissions missions;
    private final Workspaces workspaces;
    private final RunReader reader;
    private final Reads reads;
    private final Admission admission;

    /** @param missions reads what a workspace's schedules have: its own workers' tools are known in it */
    public ScheduledRuns(Database database, Commands commands, Function<UUID, MissionReader> missions, Recipes recipes,
            Workspaces workspaces, RunReader reader) {
        this.commands = commands;
        this.missions = new RecipeMissions(database, recipes, missions);
        this.workspaces = workspaces;
        this.reader = reader;
        this.reads = new Reads(database, reader);
        this.admission = new Admission(reads);
    }

    @Override
    public Outcome make(Schedule schedule, Tick tick) throws InterruptedException {
        if (made(tick)) {
            return new Outcome.Made();
        }
        WorkspaceRow workspace = workspaces.find(schedule.workspaceId()).orElse(null);
        if (workspace == null || workspace.closedAt() != null) {
            return new Outcome.Refused(ErrorCode.WORKSPACE_CLOSED.name(), ErrorCode.WORKSPACE_CLOSED.title());
        }
        try {
            Command.Create create = create(schedule, tick);
            try (Admission.Ticket _ = admission.admit(workspace.id(), workspace.limits())) {
                return submit(create) instanceof Reply.Rejected refused
                        ? new Outcome.Refused(refused.code(), refused.message())
                        : new Outcome.Made();
            }
        } catch (Refusal refusal) {
            return new Outcome.Refused(refusal.document().get("code").stringValue(),
                    refusal.document().get("detail").stringValue());
        } catch (CompletionException e) {
            if (e.getCause() instanceof SQLException sql && UNIQUE_VIOLATION.equals(sql.getSQLState())
                    && made(tick)) {
                return new Outcome.Made();
            }
            throw e;
        }
    }

    private Command.Create create(Schedule schedule, Tick tick) {
        RecipeMissions.Drawn drawn = missions.draw(schedule.workspaceId(), schedule.spec(), switch (tick.kind()) {
            case CRON -> "cron";
            case MANUAL -> "manual";
            case BACKFILL -> "backfill";
        });
        ObjectNode origin = drawn.origin() == null ? Json.object() : drawn.origin();
        origin.put("schedule_id", schedule.id().toString()).put("scheduled_for", Json.time(tick.scheduledFor()));
        return new Command.Create(drawn.mission().newRun(tick.runId(), schedule.workspaceId(), schedule.createdBy(),
                null, origin, null), true, Actor.service("schedule " + schedule.spec().name()));
    }

    @Override
    public boolean made(Tick tick) {
        return !reads.read((runs, c) -> runs.progress(c, Set.of(tick.runId()))).isEmpty();
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
