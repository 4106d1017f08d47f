package io.keelson.server.mission.submission;

import io.keelson.api.tenant.LimitName;
import io.keelson.core.lifecycle.RunState;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.submission.SubmissionResult.LimitReached;
import io.keelson.server.tenant.workspace.Limits;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds workspaces to their limits on open runs, runs per minute and stored bytes. One instance per server counts all
 * submissions, so that limits are exact on one server; concurrent submissions to several servers may exceed them.
 * Thread-safe.
 */
public final class AdmissionControl {

    private static final Duration OPEN_RUNS_RETRY = Duration.ofSeconds(5);
    private static final Duration LONG_RETRY = Duration.ofMinutes(1);

    /** Whether a run may be created or opened again. */
    public sealed interface Admission permits Permit, LimitReached {}

    /** Counts a run that is being submitted. Held until its commit, which makes the run itself count. */
    public static final class Permit implements Admission, AutoCloseable {

        private final Runnable release;

        private Permit(Runnable release) {
            this.release = release;
        }

        @Override
        public void close() {
            release.run();
        }
    }

    private static final Permit UNCOUNTED = new Permit(() -> {
    });

    private final Database database;
    private final RunReader reader;
    private final Map<UUID, Integer> underWay = new ConcurrentHashMap<>();

    public AdmissionControl(Database database, RunReader reader) {
        this.database = database;
        this.reader = reader;
    }

    /** Admits a new run. A run that exists already was admitted before. */
    Admission admit(UUID workspace, Limits limits, UUID run) {
        boolean unlimited = limits.byName().isEmpty()
                || database.withConnection(c -> reader.state(c, workspace, run)).isPresent();
        return unlimited ? UNCOUNTED : admit(workspace, limits);
    }

    /** Admits an ended run that is to be open again. An open or unknown run needs no permit. */
    public Admission reopen(UUID workspace, Limits limits, UUID run) {
        boolean ended = !limits.byName().isEmpty() && database.withConnection(c -> reader.state(c, workspace, run))
                .filter(RunState::terminal).isPresent();
        return ended ? admit(workspace, limits) : UNCOUNTED;
    }

    /** Admits one more open run without looking for it. */
    Admission admit(UUID workspace, Limits limits) {
        int others = underWay.merge(workspace, 1, Integer::sum) - 1;
        Permit permit = new Permit(() -> underWay.computeIfPresent(workspace, (w, n) -> n == 1 ? null : n - 1));
        LimitReached reached;
        try {
            reached = reached(workspace, limits, others);
        } catch (RuntimeException e) {
            permit.close();
            throw e;
        }
        if (reached == null) {
            return permit;
        }
        permit.close();
        return reached;
    }

    private @Nullable LimitReached reached(UUID workspace, Limits limits, int others) {
        LimitReached reached = openRuns(workspace, limits.of(LimitName.OPEN_RUNS), others);
        if (reached == null) {
            reached = rate(workspace, limits.of(LimitName.RUNS_PER_MINUTE), others);
        }
        return reached == null ? storage(workspace, limits.of(LimitName.STORAGE_BYTES)) : reached;
    }

    private @Nullable LimitReached openRuns(UUID workspace, @Nullable Long maximum, int others) {
        return maximum == null
                || database.withConnection(c -> reader.openRuns(c, workspace, maximum)) + others < maximum
                        ? null
                        : reached("OPEN_RUNS_LIMIT_REACHED", LimitName.OPEN_RUNS.text(), maximum,
                                "runs may be open at a time",
                                OPEN_RUNS_RETRY);
    }

    private @Nullable LimitReached rate(UUID workspace, @Nullable Long maximum, int others) {
        if (maximum == null) {
            return null;
        }
        long left = maximum - others;
        Duration wait = maximum == 0 ? LONG_RETRY
                : left < 1 ? Duration.ofSeconds(1)
                        : database.withConnection(c -> reader.untilNextRun(c, workspace, left));
        return wait.isZero() ? null
                : reached("RUN_RATE_LIMIT_REACHED", LimitName.RUNS_PER_MINUTE.text(), maximum,
                        "runs may be created in a minute",
                        wait);
    }

    private @Nullable LimitReached storage(UUID workspace, @Nullable Long maximum) {
        return maximum == null || database.withConnection(c -> reader.storedBytes(c, workspace)) < maximum ? null
                : reached("STORAGE_LIMIT_REACHED", LimitName.STORAGE_BYTES.text(), maximum, "bytes may be stored",
                        LONG_RETRY);
    }

    private static LimitReached reached(String code, String limit, long maximum, String what, Duration wait) {
        return new LimitReached(code, limit, maximum + " " + what + " in this workspace; nothing was changed", wait);
    }
}
