package io.keelson.server.api.http.support;

import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.EndedRun;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** Holds calls open until a run has ended. A waiting call has a virtual thread, and no connection to the database. */
public final class RunEndPoll {

    private final Commands commands;
    private final Reads reads;
    private final LongPoll poll;

    public RunEndPoll(Commands commands, Reads reads, LongPoll poll) {
        this.commands = commands;
        this.reads = reads;
        this.poll = poll;
    }

    /** The end of a run. Learns of each end after its creation, until it is closed. */
    public final class Awaited implements AutoCloseable {

        private final UUID run;
        private final CompletableFuture<Commands.RunEnd> end;

        private Awaited(UUID run) {
            this.run = run;
            this.end = commands.ended(run);
        }

        /** Waits for a run that was created after this. */
        public void next(ApiRequest request, Duration timeout) throws InterruptedException {
            poll.await(request, end, timeout);
        }

        /**
         * Waits unless the run has ended.
         *
         * @throws ApiProblem RUN_NOT_FOUND
         */
        public void reached(ApiRequest request, Duration timeout) throws InterruptedException {
            if (!reads.ended(request.workspace(), run)) {
                poll.await(request, end, timeout);
            }
        }

        /** The run as this node's commit of its end has stored it, if that is known. */
        public Optional<EndedRun> storedRun() {
            Commands.RunEnd known = end.state() == Future.State.SUCCESS ? end.resultNow() : null;
            return Optional.ofNullable(known == null ? null : known.stored());
        }

        @Override
        public void close() {
            end.cancel(false);
        }
    }

    /** @param run existing, or yet to be created */
    public Awaited of(UUID run) {
        return new Awaited(run);
    }
}
