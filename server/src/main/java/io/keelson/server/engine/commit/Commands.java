package io.keelson.server.engine.commit;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.store.EndedRun;
import io.keelson.server.engine.store.KeyUse;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Accepts all commands that change a run. */
public interface Commands {

    /**
     * Decides and commits a command, in one batch with others.
     *
     * @return completes after the commit, with the reply. Completes exceptionally with {@link RunNotFound} for an
     *         unknown run, with {@link Overloaded} when too much is queued (nothing was changed), with another
     *         exception when the database was unreachable (the outcome is then unknown; commands are idempotent)
     */
    default CompletableFuture<Reply> submit(Command command) {
        return submit(command, null);
    }

    /**
     * Submits a command under an idempotency key. The command's transaction uses the key, unless the command is
     * refused. Completes exceptionally with {@link KeyUsed} if the key was used before; nothing was changed.
     *
     * @param key null if absent
     */
    CompletableFuture<Reply> submit(Command command, @Nullable KeyUse key);

    /**
     * Submits a command and waits for its commit.
     *
     * @param key as for {@link #submit(Command, KeyUse)}
     * @throws RunNotFound if there is no such run
     * @throws CompletionException with the cause of the failed submission, or after a timeout of 30 s: the outcome is
     *                             unknown then
     */
    default Reply commit(Command command, @Nullable KeyUse key) throws InterruptedException {
        try {
            return submit(command, key).get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RunNotFound notFound) {
                throw notFound;
            }
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new CompletionException(e);
        }
    }

    /**
     * Waits for the run to end. To include an end in the past, call this first and read the run's state then.
     *
     * @return completes with the next end of the run, committed by any node; never without an end. The
     *         caller cancels it to stop waiting
     */
    CompletableFuture<RunEnd> ended(UUID runId);

    /**
     * The end of a run.
     *
     * @param stored the run as this node's commit has stored it; null if the run must be read
     */
    record RunEnd(RunState state, @Nullable EndedRun stored) {}

    /** The name of this server among the servers of its database. */
    default String node() {
        return "";
    }

    /** Prices or limits have changed: this node uses the new ones from now on, others after a notification. */
    void settingsChanged();

    /** There is no run of that id. */
    final class RunNotFound extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** The idempotency key was used within the last 24 hours. */
    final class KeyUsed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Too many commands are queued; try again later. */
    final class Overloaded extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
