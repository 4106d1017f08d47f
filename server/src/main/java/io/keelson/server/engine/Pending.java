package io.keelson.server.engine;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A command on its way to a commit, and who waits for its answer. */
final class Pending {
    final Command command;
    final CompletableFuture<Reply> answer = new CompletableFuture<>();
    @Nullable Reply reply;
    @Nullable Throwable failure;

    Pending(Command command) {
        this.command = command;
    }

    /** Forgets what was decided, for it is decided again. */
    void reset() {
        reply = null;
        failure = null;
    }

    void answer() {
        if (failure != null) {
            answer.completeExceptionally(failure);
        } else {
            answer.complete(reply);
        }
    }
}
