package io.keelson.server.engine.commit;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.log.LogContext;
import io.keelson.server.engine.store.CreditSlots;
import io.keelson.server.engine.store.StaleViewException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One committing thread with its own connection. While it commits, the next batch gathers in the queue, so batches grow
 * with the load and a single command is never delayed. A batch that the database refuses is split until the failing
 * command is alone. No background task, because it takes commands from a queue and waits for the next one within
 * microseconds.
 */
final class CommitLoop implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(CommitLoop.class);
    private static final int TRIES = 5;
    private static final long RETRY_DELAY_MS = 200;

    private final CommandQueue queue;
    private final Database database;
    private final BatchCommit batchCommit;
    private final DiskSpace diskSpace;
    private @Nullable Connection connection;
    private @Nullable CreditSlots slot;

    CommitLoop(CommandQueue queue, Database database, BatchCommit batchCommit, DiskSpace diskSpace) {
        this.queue = queue;
        this.database = database;
        this.batchCommit = batchCommit;
        this.diskSpace = diskSpace;
    }

    /** Commits and answers commands until the queue is closed and empty. */
    @Override
    public void run() {
        boolean open = true;
        while (open) {
            try {
                List<PendingCommand> batch = queue.take();
                open = !batch.isEmpty();
                if (open) {
                    commitAndAnswer(batch);
                }
            } catch (InterruptedException e) {
                queue.close();
            }
        }
        discardConnection();
    }

    private void commitAndAnswer(List<PendingCommand> batch) throws InterruptedException {
        try {
            commit(batch);
        } finally {
            queue.answered(batch);
            batch.forEach(PendingCommand::answer);
            queue.release(batch);
        }
    }

    private void commit(List<PendingCommand> all) throws InterruptedException {
        int cut = Batch.cut(all);
        commitTogether(all.subList(0, cut));
        if (cut < all.size()) {
            commit(all.subList(cut, all.size()));
        }
    }

    private void commitTogether(List<PendingCommand> batch) throws InterruptedException {
        for (int tried = 1;; tried++) {
            try {
                Connection open = connection();
                batchCommit.run(open, slot(open), batch);
                return;
            } catch (SQLException | SqlFailure | StaleViewException e) {
                boolean lost = !rolledBack();
                boolean full = diskSpace.refused(e);
                if (!lost && batch.size() > 1) {
                    if (!full) {
                        LOG.warn("a batch of {} commands was refused and is split: {}", batch.size(), e.getMessage());
                    }
                    commit(batch.subList(0, batch.size() / 2));
                    commit(batch.subList(batch.size() / 2, batch.size()));
                    return;
                }
                if (tried == TRIES || !lost && !transientRefusal(e)) {
                    try (LogContext _ = LogContext.run(batch.getFirst().command.runId())) {
                        logRefusal(e);
                    }
                    batch.forEach(pending -> pending.failure = e);
                    return;
                }
                TimeUnit.MILLISECONDS.sleep(RETRY_DELAY_MS * tried);
            } catch (RuntimeException e) {
                if (rolledBack() && batch.size() > 1) {
                    commit(batch.subList(0, batch.size() / 2));
                    commit(batch.subList(batch.size() / 2, batch.size()));
                    return;
                }
                try (LogContext _ = LogContext.run(batch.getFirst().command.runId())) {
                    LOG.error("a command could not be decided: {}", batch.getFirst().command, e);
                }
                batch.forEach(pending -> pending.failure = e);
                return;
            }
        }
    }

    /** A violated constraint is the client's error and part of its reply; other refusals are ours. */
    private static void logRefusal(Exception e) {
        if (e.getCause() instanceof SQLException sql && String.valueOf(sql.getSQLState()).startsWith("23")
                || e instanceof SQLException own && String.valueOf(own.getSQLState()).startsWith("23")) {
            LOG.debug("a command broke a constraint", e);
        } else {
            LOG.error("a command could not be committed", e);
        }
    }

    /** Lock timeout, deadlock, serialization failure, stale view: a retry may succeed. */
    private static boolean transientRefusal(Exception e) {
        if (e instanceof StaleViewException) {
            return true;
        }
        Throwable sql = e instanceof SqlFailure failure ? failure.getCause() : e;
        String state = sql instanceof SQLException refusal ? String.valueOf(refusal.getSQLState()) : "";
        return state.startsWith("40") || state.startsWith("55");
    }

    private Connection connection() throws SQLException {
        if (connection == null) {
            connection = database.committerConnection();
        }
        return connection;
    }

    private CreditSlots slot(Connection open) throws SQLException {
        if (slot == null) {
            slot = batchCommit.ownSlot(open);
        }
        return slot;
    }

    /** False when the connection is gone; it is replaced before the next use. */
    private boolean rolledBack() {
        if (connection == null) {
            return false;
        }
        try {
            connection.rollback();
            return true;
        } catch (SQLException e) {
            discardConnection();
            batchCommit.connectionLost();
            return false;
        }
    }

    private void discardConnection() {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                LOG.debug("closing a lost connection", e);
            }
            connection = null;
            slot = null;
        }
    }
}
