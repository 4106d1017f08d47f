package io.keelson.server.annex.effect;

import io.keelson.server.annex.effect.EffectCommands.Settled;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.SqlFailure;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Outcomes of commands that the database did not record, because it was away. They are recorded when it is back. Thread-safe. */
final class UnrecordedOutcomes implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(UnrecordedOutcomes.class);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);
    private static final int MAX_KEPT = 10_000;

    private record Unrecorded(EffectCommand command, Settled outcome) {}

    private final BiConsumer<EffectCommand, Settled> recorder;
    private final BackgroundTask task =
            BackgroundTask.paced("command-outcomes", RETRY_DELAY, this::look);
    private final Deque<Unrecorded> kept = new ArrayDeque<>();

    /** @param recorder records an outcome; a second time changes nothing */
    UnrecordedOutcomes(BiConsumer<EffectCommand, Settled> recorder) {
        this.recorder = recorder;
    }

    void add(EffectCommand command, Settled outcome) {
        boolean first;
        synchronized (this) {
            if (kept.size() == MAX_KEPT) {
                report(kept.removeFirst());
            }
            first = kept.isEmpty();
            kept.addLast(new Unrecorded(command, outcome));
        }
        LOG.warn("the database does not record the outcome of command {}, which is kept: {}", command.id(),
                outcome.state().wire());
        if (first) {
            task.start();
        }
    }

    /**
     * Records all outcomes.
     *
     * @throws SqlFailure while the database is away
     */
    void record() {
        for (Unrecorded next = first(); next != null; next = first()) {
            recorder.accept(next.command, next.outcome);
            remove(next);
        }
    }

    private Duration look() {
        try {
            record();
            return BackgroundTask.ON_NUDGE;
        } catch (SqlFailure e) {
            LOG.debug("outcomes of commands cannot be recorded yet", e);
            return RETRY_DELAY;
        }
    }

    private synchronized @Nullable Unrecorded first() {
        return kept.peekFirst();
    }

    private synchronized void remove(Unrecorded recorded) {
        kept.remove(recorded);
    }

    private static void report(Unrecorded lost) {
        LOG.error("the outcome of command {} was not recorded: {}, provider key {}, reference {}", lost.command.id(),
                lost.outcome.state().wire(), lost.command.providerKey(), lost.outcome.reference());
    }

    BackgroundTask task() {
        return task;
    }

    /** Tries once more, and names the outcomes that are lost in the log. */
    @Override
    public void close() throws InterruptedException {
        task.close();
        look();
        synchronized (this) {
            kept.forEach(UnrecordedOutcomes::report);
        }
    }
}
