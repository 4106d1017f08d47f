package io.keelson.server.engine.purge;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.tenant.workspace.WorkspacePurge;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Purges deleted workspaces: cancels their open runs, then deletes their rows in portions, each in its own transaction.
 * After a crash at any point the next run continues.
 */
public final class WorkspacePurger implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkspacePurger.class);
    private static final Duration PURGE_INTERVAL = Duration.ofMinutes(5);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(5);
    private static final int BATCH_SIZE = 2_000;
    private static final int RUN_BATCH_SIZE = 200;
    private static final String CLOSED = "the workspace was closed";

    private final WorkspacePurge purge;
    private final Database database;
    private final RunReader runs;
    private final Commands commands;
    private final BackgroundTask task = BackgroundTask.paced("workspace-purge", PURGE_INTERVAL, this::work);

    public WorkspacePurger(Database database, RunReader runs, Commands commands) {
        this.purge = new WorkspacePurge(database);
        this.database = database;
        this.runs = runs;
        this.commands = commands;
    }

    /** Starts periodic runs. */
    public WorkspacePurger start() {
        task.nudge();
        return this;
    }

    /** A workspace is to be emptied. Returns at once. */
    public void signal() {
        task.nudge();
    }

    public WorkspacePurge requests() {
        return purge;
    }

    private Duration work() {
        purge.requested().forEach(this::empty);
        return purge.requested().isEmpty() ? PURGE_INTERVAL : RETRY_DELAY;
    }

    /** Empties a workspace. A failure does not delay other workspaces. */
    private void empty(UUID workspace) {
        try {
            cancelAll(workspace, Actor.SYSTEM);
            while (!task.isClosed() && purge.portion(workspace, BATCH_SIZE)) {
                LOG.debug("part of workspace {} deleted", workspace);
            }
        } catch (RuntimeException e) {
            LOG.warn("could not delete workspace {}, retrying", workspace, e);
        }
    }

    /** Cancels the open runs of a workspace that accepts no new work. */
    public void cancelAll(UUID workspace, Actor actor) {
        UUID last = null;
        while (true) {
            @Nullable UUID after = last;
            List<UUID> open = database.withConnection(c -> runs.open(c, workspace, after, RUN_BATCH_SIZE));
            List<CompletableFuture<Reply>> answers = open.stream()
                    .map(run -> commands.submit(new Command.Cancel(run, CLOSED, actor))).toList();
            answers.forEach(CompletableFuture::join);
            if (open.size() < RUN_BATCH_SIZE) {
                return;
            }
            last = open.getLast();
        }
    }

    public List<BackgroundTask> tasks() {
        return List.of(task);
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
