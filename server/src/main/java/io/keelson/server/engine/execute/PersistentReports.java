package io.keelson.server.engine.execute;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.SqlFailure;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submits reports again until the database records or refuses them, so that an outage loses no outcome of a step. A repeated report
 * changes nothing. Thread-safe.
 */
final class PersistentReports implements Function<Command, CompletableFuture<Reply>> {
    private static final Logger LOG = LoggerFactory.getLogger(PersistentReports.class);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private final Function<Command, CompletableFuture<Reply>> commands;
    private final DelayedActions delayed;
    private final BooleanSupplier closing;

    /** @param closing whether reports fail with the next failure of the database */
    PersistentReports(Function<Command, CompletableFuture<Reply>> commands, DelayedActions delayed,
            BooleanSupplier closing) {
        this.commands = commands;
        this.delayed = delayed;
        this.closing = closing;
    }

    @Override
    public CompletableFuture<Reply> apply(Command report) {
        return submit(report, true);
    }

    private CompletableFuture<Reply> submit(Command report, boolean first) {
        return commands.apply(report).exceptionallyCompose(failure -> {
            if (closing.getAsBoolean() || !unavailable(failure)) {
                return CompletableFuture.failedFuture(failure);
            }
            if (first) {
                LOG.warn("the database does not record a report of run {}, which is kept: {}", report.runId(),
                        failure.getMessage());
            }
            CompletableFuture<Reply> later = new CompletableFuture<>();
            var _ = delayed.after(RETRY_DELAY, () -> {
                var _ = submit(report, false).whenComplete((reply, next) -> {
                    if (next == null) {
                        later.complete(reply);
                    } else {
                        later.completeExceptionally(next);
                    }
                });
            });
            return later;
        });
    }

    /** Whether the database did not answer or took no changes, and may do so later. */
    static boolean unavailable(@Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause()
                : failure;
        return switch (cause) {
            case SqlFailure sql -> sql.unavailable();
            case SQLException sql -> new SqlFailure(sql).unavailable();
            case null, default -> false;
        };
    }
}
