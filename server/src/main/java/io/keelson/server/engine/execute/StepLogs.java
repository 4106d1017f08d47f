package io.keelson.server.engine.execute;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import io.keelson.server.engine.tool.StepLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Log lines of in-process executions, written as they come, bounded per execution; and details of their steps. A line waits while
 * the database is away, so that an execution does not lose an outcome by it.
 */
public final class StepLogs {
    private static final int MAX_LINES = 1_000;
    private static final int MAX_CHARS = 4_000;
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private final Database database;
    private final LeaseHeartbeats heartbeats;

    public StepLogs(Database database, LeaseHeartbeats heartbeats) {
        this.database = database;
        this.heartbeats = heartbeats;
    }

    /** The details of the execution's step. */
    public RecordedRequests.Details details(StepExecution execution) {
        String holder = execution.holder();
        return new RecordedRequests.Details() {
            @Override
            public boolean write(String text) {
                return holder != null && database.inTransaction(c -> heartbeats.record(c, execution.workspaceId(),
                        holder,
                        new LeaseHeartbeats.Beat(execution.stepId(), execution.leaseEpoch(), null, null, text)));
            }

            @Override
            public @Nullable String read() {
                return database.withConnection(c -> heartbeats.details(c, execution.stepId()));
            }
        };
    }

    public StepLog of(StepExecution execution) {
        AtomicInteger lines = new AtomicInteger();
        return text -> {
            if (lines.incrementAndGet() <= MAX_LINES) {
                String line = text.length() <= MAX_CHARS ? text : text.substring(0, MAX_CHARS) + "…";
                write(new LeaseHeartbeats.Log(execution.stepId(), execution.leaseEpoch(), execution.attempt(),
                        List.of(line)));
            }
        };
    }

    /** @throws SqlFailure if the thread is interrupted while the database is away */
    private void write(LeaseHeartbeats.Log line) {
        while (true) {
            try {
                database.runInTransaction(c -> heartbeats.log(c, List.of(line)));
                return;
            } catch (SqlFailure e) {
                if (!e.unavailable() || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                LockSupport.parkNanos(RETRY_DELAY.toNanos());
            }
        }
    }
}
