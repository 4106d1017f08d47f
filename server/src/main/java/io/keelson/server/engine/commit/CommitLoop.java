package io.keelson.server.engine.commit;

import io.keelson.server.db.Database;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.log.LogContext;
import io.keelson.server.run.StaleViewException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One committing thread with its own connection. While it commits, the next batch gathers, so batches grow with the
 * load and a single command is never delayed. A batch that the database refuses is split until the failing command is
 * alone. No background task, because it takes commands from a queue and waits for the next one within microseconds.
 */
final class CommitLoop implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(CommitLoop.class);
    private static final int MAX_BATCH = 300;
    private static final int YIELDS = 100;
    private static final int TRIES = 5;
    private static final long RETRY_DELAY_MS = 200;

    private final Database database;
    private final BatchCommit batchCommit;
    private final DiskSpace diskSpace;
    private final BlockingQueue<PendingCommand> queue = new LinkedBlockingQueue<>();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicLong text = new AtomicLong();
    private @Nullable Connection connection;
    private volatile boolean closing;

    CommitLoop(Database database, BatchCommit batch, DiskSpace diskSpace) {
        this.diskSpace = diskSpace;
        this.database = database;
        this.batchCommit = batch;
    }

    /**
     * Queues the command within the limits. An empty loop accepts one command of any size.
     *
     * @param most maximum number of unanswered commands
     * @param mostText their maximum text together, in characters
     */
    boolean offer(PendingCommand pending, int most, long mostText) {
        int others = unanswered.getAndIncrement();
        long theirText = text.getAndAdd(pending.text);
        if (others >= most || others > 0 && theirText + pending.text > mostText) {
            left(pending);
            return false;
        }
        enqueue(pending);
        return true;
    }

    /** Queues the command regardless of limits. */
    void add(PendingCommand pending) {
        unanswered.getAndIncrement();
        text.getAndAdd(pending.text);
        enqueue(pending);
    }

    private void enqueue(PendingCommand pending) {
        queue.add(pending);
        if (closing && queue.remove(pending)) {
            pending.failure = new Commands.Overloaded();
            answer(pending);
        }
    }

    private void answer(PendingCommand pending) {
        left(pending);
        pending.answer();
    }

    private void left(PendingCommand pending) {
        unanswered.getAndDecrement();
        text.getAndAdd(-pending.text);
    }

    /** Ends the loop once everything that was added before has been answered. */
    void close() {
        closing = true;
    }

    @Override
    public void run() {
        List<PendingCommand> batch = new ArrayList<>();
        while (!closing || !queue.isEmpty()) {
            try {
                PendingCommand first = next();
                if (first != null) {
                    batch.add(first);
                    gather(batch);
                    commit(batch);
                }
            } catch (InterruptedException e) {
                closing = true;
            } finally {
                batch.forEach(this::answer);
                batch.clear();
            }
        }
        discardConnection();
    }

    /**
     * The next command, null when none comes for a while. Follow-ups of the last commit arrive within microseconds,
     * sooner than a parked thread wakes.
     */
    @SuppressWarnings("ThreadPriorityCheck") // it yields to any runnable thread
    private @Nullable PendingCommand next() throws InterruptedException {
        for (int waited = 0; waited < YIELDS; waited++) {
            PendingCommand next = queue.poll();
            if (next != null) {
                return next;
            }
            Thread.yield();
        }
        return queue.poll(100, TimeUnit.MILLISECONDS);
    }

    /**
     * Takes queued commands, and waits while more arrive: after a commit its replies cause new commands at once, and a
     * commit of the first few would delay the others. A single command yields once.
     */
    @SuppressWarnings("ThreadPriorityCheck") // it yields to the threads that have just got their replies
    private void gather(List<PendingCommand> batch) {
        do {
            Thread.yield();
        } while (queue.drainTo(batch, MAX_BATCH - batch.size()) > 0 && batch.size() < MAX_BATCH);
    }

    private void commit(List<PendingCommand> all) throws InterruptedException {
        int cut = BatchCommit.cut(all);
        commitTogether(all.subList(0, cut));
        if (cut < all.size()) {
            commit(all.subList(cut, all.size()));
        }
    }

    private void commitTogether(List<PendingCommand> batch) throws InterruptedException {
        for (int tried = 1;; tried++) {
            try {
                batchCommit.run(connection(), batch);
                return;
            } catch (SQLException | SqlFailure | StaleViewException e) {
                boolean lost = !rolledBack();
                if (!lost && batch.size() > 1) {
                    LOG.warn("a batch of {} commands was refused and is split: {}", batch.size(), e.getMessage());
                    commit(batch.subList(0, batch.size() / 2));
                    commit(batch.subList(batch.size() / 2, batch.size()));
                    return;
                }
                diskSpace.refused(e);
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
        }
    }
}
