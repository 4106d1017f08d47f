package io.keelson.server.engine.commit;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.run.KeyUse;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The way in for everything that changes a run. */
public interface Commands {

    /**
     * Decides and commits a command together with others that are under way.
     *
     * @return completes after the commit, with the answer. Completes exceptionally with {@link RunNotFound} when there
     *         is no such run, with {@link Overloaded} when too much is queued (nothing was changed), with another
     *         exception when the database could not be reached (the outcome is then unknown; commands are idempotent)
     */
    default CompletableFuture<Reply> submit(Command command) {
        return submit(command, null);
    }

    /**
     * The same under an idempotency key, which is used by the transaction that does what the command says, unless the
     * command is refused. Completes exceptionally with {@link KeyUsed} when the key was used before; nothing was changed.
     *
     * @param key null for none
     */
    CompletableFuture<Reply> submit(Command command, @Nullable KeyUse key);

    /**
     * Submits a command and waits for its commit.
     *
     * @param key as for {@link #submit(Command, KeyUse)}
     * @throws RunNotFound if there is no such run
     * @throws CompletionException with the cause that the submission completed with, or a timeout after 30 s: the outcome
     *     is unknown then
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
     * Waits for the run to end. Who wants to know of an end that may have come already asks for this first and looks at
     * the run then.
     *
     * @return completes with the terminal state that the run enters next, whichever node committed it; never when it
     *         does not end. Whoever gives up cancels it
     */
    CompletableFuture<RunState> ended(UUID runId);

    /** Prices or limits have changed: this node goes by the new ones from now on, others as soon as they hear of it. */
    void settingsChanged();

    /** There is no run of that id. */
    final class RunNotFound extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** The idempotency key was used within the last 24 hours. */
    final class KeyUsed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** More was submitted than can be committed; try again later. */
    final class Overloaded extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
