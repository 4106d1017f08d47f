package io.keelson.server.mission.bulk;

import io.keelson.core.run.Actor;
import io.keelson.server.engine.store.read.RunSearch;
import io.keelson.server.engine.store.read.RunSelection;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command to many runs and its progress.
 *
 * @param matches number of matching runs at its creation, counted up to {@link BulkJobs#MAX_COUNTED}
 * @param changed runs that executed the command
 * @param unchanged runs that were already in the target state
 * @param refused number of runs that refused, by the code of the refusal
 * @param waitsFor the code of its obstacle, such as a limit of the workspace; null while it progresses
 * @param endedAt null while it is at work
 */
public record BulkJobRow(UUID id, UUID workspaceId, Order order, State state, long matches, long changed,
        long unchanged, ObjectNode refused, @Nullable String waitsFor, Instant createdAt, @Nullable Instant endedAt) {

    /**
     * The command to each run, and its rate.
     *
     * @param reason for the record; null if absent
     * @param fromStart whether a retry repeats completed tasks, too
     * @param perSecond at most so many runs
     */
    public record Order(Action action, RunSelection filter, @Nullable String reason, boolean fromStart, int perSecond,
            Actor actor) {

        /** The filter as a document. */
        public ObjectNode filterDocument() {
            return FilterJson.of(filter);
        }
    }

    /** The command for each run. */
    public enum Action {
        CANCEL(RunSearch.Wanted.OPEN), RETRY(RunSearch.Wanted.FAILED), PAUSE(RunSearch.Wanted.OPEN),
        RESUME(RunSearch.Wanted.PAUSED), DELETE(RunSearch.Wanted.ENDED);

        private final RunSearch.Wanted wanted;
        private final String wire = name().toLowerCase(Locale.ROOT);

        Action(RunSearch.Wanted wanted) {
            this.wanted = wanted;
        }

        /** To which runs it can be done. */
        RunSearch.Wanted wanted() {
            return wanted;
        }

        public String wire() {
            return wire;
        }
    }

    /** How far it is. */
    public enum State {
        RUNNING, COMPLETED,
        /** A client stopped it. */
        STOPPED;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }
    }
}
