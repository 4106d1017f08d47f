package io.keelson.server.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.base.db.SqlFailure;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PersistentReportsTest {

    private static final SQLException AWAY = new SQLException("connection refused", "08001");
    private static final SQLException BROKEN = new SQLException("duplicate key", "23505");

    private final DelayedActions delayed = new DelayedActions();
    private final Deque<CompletableFuture<Reply>> replies = new ArrayDeque<>();
    private boolean closing;
    private int submitted;
    private final PersistentReports reports = new PersistentReports(report -> {
        submitted++;
        return replies.removeFirst();
    }, delayed, () -> closing);

    @AfterEach
    void stop() {
        delayed.close();
    }

    private CompletableFuture<Reply> report() {
        return reports.apply(new Command.Complete(new UUID(0, 1), new UUID(0, 2), 1, Result.of("1"),
                Actor.agent("node")));
    }

    private void fail(Throwable... failures) {
        for (Throwable each : failures) {
            replies.add(CompletableFuture.failedFuture(each));
        }
    }

    @Test
    void aReportIsRepeatedWhileTheDatabaseIsAway() throws Exception {
        fail(AWAY, new SqlFailure(AWAY));
        replies.add(CompletableFuture.completedFuture(Reply.CHANGED));
        assertThat(report().get(30, TimeUnit.SECONDS)).isEqualTo(Reply.CHANGED);
        assertThat(submitted).isEqualTo(3);
    }

    @Test
    void refusalsAndReportsOfAClosedNodeAreNotRepeated() {
        for (Throwable each : List.of(BROKEN, new SqlFailure(BROKEN), new IllegalStateException("a defect"))) {
            fail(each);
            assertThat(report()).isCompletedExceptionally();
        }
        closing = true;
        fail(AWAY);
        assertThat(report()).isCompletedExceptionally();
        assertThat(submitted).isEqualTo(4);
    }
}
