package io.keelson.server.mission.bulk;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.engine.store.read.RunSearch;
import io.keelson.server.engine.store.retention.RunDeletion;
import io.keelson.server.mission.bulk.BulkRetryAdmission.Answer;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Executes jobs in batches, no faster than their rates. A batch is stored, then each of its runs receives the command
 * under its own idempotency key, then the batch is counted. Any number of nodes may do so at once, and any may
 * die at any instruction: the next node resumes the same batch, and each run executes the command once.
 */
public final class BulkDriver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BulkDriver.class);
    private static final int MAX_AT_ONCE = 50;
    /** Longer than any batch takes; after it, another node takes the job. */
    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(30);
    /** How soon another node finds the job of a node that is gone. */
    private static final Duration POLL_INTERVAL = Duration.ofMinutes(1);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(2);

    private final Database database;
    private final BulkJobs jobs;
    private final Commands commands;
    private final BulkRetryAdmission admission;
    private final RunDeletion deletion = new RunDeletion(DbClock.DATABASE);
    private final BackgroundTask task = BackgroundTask.paced("bulk", POLL_INTERVAL, this::work);

    public BulkDriver(Database database, BulkJobs jobs, Commands commands, BulkRetryAdmission admission) {
        this.database = database;
        this.jobs = jobs;
        this.commands = commands;
        this.admission = admission;
    }

    /** Polls for jobs, also for those whose node is gone. */
    public BulkDriver start() {
        task.nudge();
        return this;
    }

    /** A job was made. Returns at once. */
    public void signal() {
        task.nudge();
    }

    private Duration work() throws InterruptedException {
        Duration next = database.withConnection(jobs::untilNext);
        while (next != null && !next.isPositive() && !task.isClosed()) {
            Optional<BulkJobs.Claimed> claimed = database.inTransaction(c -> jobs.claim(c, LEASE));
            if (claimed.isPresent()) {
                portion(claimed.get());
            }
            next = database.withConnection(jobs::untilNext);
        }
        return next == null || next.compareTo(POLL_INTERVAL) > 0 ? POLL_INTERVAL : next;
    }

    private void portion(BulkJobs.Claimed claimed) throws InterruptedException {
        List<UUID> runs = claimed.portion().isEmpty() ? choose(claimed) : claimed.portion();
        if (runs.isEmpty()) {
            return;
        }
        Tally tally = new Tally();
        Obstacle obstacle = submit(claimed.job(), runs, tally);
        Duration pause = Duration.ofMillis(1_000L * runs.size() / claimed.job().order().perSecond());
        database.runInTransaction(c -> {
            if (obstacle != null && !obstacle.closed()) {
                jobs.postpone(c, claimed, obstacle.code(), RETRY_DELAY);
                return;
            }
            jobs.counted(c, claimed, tally.changed, tally.unchanged, tally.refused, pause);
            if (obstacle != null) {
                jobs.stop(c, claimed.job().workspaceId(), claimed.job().id());
            }
        });
    }

    /**
     * Why a batch is not done.
     *
     * @param code the error code; of a closed workspace it is not recorded
     * @param closed whether the job can never continue
     */
    private record Obstacle(String code, boolean closed) {}

    /** Stores the next runs; none when the job is complete or another node has claimed it. */
    private List<UUID> choose(BulkJobs.Claimed claimed) {
        BulkJobRow job = claimed.job();
        return database.inTransaction(c -> {
            List<RunSearch.Place> found = RunSearch.next(c, job.workspaceId(), job.order().filter(),
                    job.order().action().wanted(), job.createdAt(), claimed.last(),
                    Math.min(MAX_AT_ONCE, job.order().perSecond()));
            if (found.isEmpty()) {
                jobs.complete(c, claimed);
            } else if (jobs.chosen(c, claimed, found)) {
                return found.stream().map(RunSearch.Place::id).toList();
            }
            return List.of();
        });
    }

    /** @return null when every run has its reply */
    private @Nullable Obstacle submit(BulkJobRow job, List<UUID> runs, Tally tally) throws InterruptedException {
        if (job.order().action() == BulkJobRow.Action.DELETE) {
            runs.forEach(run -> delete(job, run, tally));
            return null;
        }
        Obstacle obstacle = null;
        List<CompletableFuture<Reply>> replies = new ArrayList<>();
        for (UUID run : runs) {
            obstacle = job.order().action() == BulkJobRow.Action.RETRY ? retry(job, run, replies) : null;
            if (obstacle != null) {
                break;
            }
            if (job.order().action() != BulkJobRow.Action.RETRY) {
                replies.add(commands.submit(command(job.order(), run), key(job, run)));
            }
        }
        for (CompletableFuture<Reply> reply : replies) {
            String later = tally.add(reply);
            obstacle = obstacle == null && later != null ? new Obstacle(later, false) : obstacle;
        }
        return obstacle;
    }

    /** Submits one retry and waits for its commit, before which its permit counts it among the open runs. */
    private @Nullable Obstacle retry(BulkJobRow job, UUID run, List<CompletableFuture<Reply>> replies)
            throws InterruptedException {
        return switch (admission.admit(job.workspaceId())) {
            case Answer.LimitReached(String code) -> new Obstacle(code, false);
            case Answer.Closed() -> new Obstacle("WORKSPACE_CLOSED", true);
            case Answer.Admitted(Runnable release) -> {
                try {
                    CompletableFuture<Reply> reply = commands.submit(command(job.order(), run), key(job, run));
                    replies.add(reply);
                    await(reply);
                    yield null;
                } finally {
                    release.run();
                }
            }
        };
    }

    /** A repeated portion finds its runs deleted already, and counts them as changed by the first try. */
    private void delete(BulkJobRow job, UUID run, Tally tally) {
        Actor actor = job.order().actor();
        Optional<RunDeletion.Found> found = database.inTransaction(c -> {
            Optional<RunDeletion.Found> was = deletion.delete(c, job.workspaceId(), run);
            if (was.isPresent() && was.get().state().terminal() && !was.get().deleted()) {
                AuditLog.write(c, new AuditOrigin(String.valueOf(actor.id()), actor.type().wire(), null, null),
                        "run_deleted", job.workspaceId(), run.toString(), JsonNodeFactory.instance.objectNode());
            }
            return was;
        });
        if (found.isEmpty()) {
            tally.refuse("RUN_NOT_FOUND");
        } else if (found.get().state().terminal()) {
            tally.changed++;
        } else {
            tally.refuse("INVALID_STATE_TRANSITION");
        }
    }

    private static void await(CompletableFuture<Reply> reply) throws InterruptedException {
        try {
            var _ = reply.get(REPLY_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("no reply to a command of a bulk job", e);
        }
    }

    private static Command command(BulkJobRow.Order order, UUID run) {
        return switch (order.action()) {
            case CANCEL -> new Command.Cancel(run, order.reason(), order.actor());
            case RETRY -> new Command.Retry(run, order.fromStart(), order.actor());
            case PAUSE -> new Command.Pause(run, order.reason(), order.actor());
            case RESUME -> new Command.Resume(run, order.actor());
            case DELETE -> throw new IllegalArgumentException("a deletion is no command");
        };
    }

    private static KeyUse key(BulkJobRow job, UUID run) {
        return new KeyUse(new KeyUse.Id(job.workspaceId(), "BULK " + job.id(), run.toString()), job.id().toString(),
                run);
    }

    /** The outcomes of a batch. */
    private static final class Tally {
        private int changed;
        private int unchanged;
        private final ObjectNode refused = JsonNodeFactory.instance.objectNode();

        /** Returns why the run must receive the command again; null if it need not. */
        @Nullable String add(CompletableFuture<Reply> reply) throws InterruptedException {
            try {
                switch (reply.get(REPLY_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                    case Reply.Rejected no -> refuse(no.code());
                    case Reply.Done(boolean done) when !done -> unchanged++;
                    case Reply.Done _,Reply.Claimed _,Reply.Duplicate _,Reply.Metered _,Reply.Paid _,Reply.Taken _ ->
                        changed++;
                }
                return null;
            } catch (TimeoutException e) {
                return "OVERLOADED";
            } catch (ExecutionException e) {
                return switch (e.getCause()) {
                    case Commands.KeyUsed _ -> {
                        changed++; // executed before a crash
                        yield null;
                    }
                    case Commands.RunNotFound _ -> {
                        refuse("RUN_NOT_FOUND");
                        yield null;
                    }
                    case null, default -> {
                        LOG.warn("a command of a bulk job failed and is sent again", e.getCause());
                        yield "OVERLOADED";
                    }
                };
            }
        }

        private void refuse(String code) {
            refused.put(code, refused.path(code).asInt(0) + 1);
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
