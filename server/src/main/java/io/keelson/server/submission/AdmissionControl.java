package io.keelson.server.submission;

import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ErrorCode;
import io.keelson.server.http.support.Reads;
import io.keelson.server.workspace.Limits;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds a workspace to its limits where runs come in. One server never lets more in than there is room for; what several
 * take in at the same moment they do not know of each other.
 */
public final class AdmissionControl {

    private static final Duration A_WHILE = Duration.ofSeconds(5);
    private static final Duration LONG = Duration.ofMinutes(1);

    /** Held while a run is being made. */
    public interface Permit extends AutoCloseable {
        @Override
        void close();
    }

    private static final Permit FREE = () -> {
    };

    private final Reads reads;
    private final Map<UUID, Integer> comingIn = new ConcurrentHashMap<>();

    public AdmissionControl(Reads reads) {
        this.reads = reads;
    }

    /**
     * Lets a run in. One that is there already was let in before.
     *
     * @throws ApiProblem naming the limit that stands in the way
     */
    public Permit admit(ApiRequest request, UUID run) {
        boolean free = request.limits().byName().isEmpty() || reads.exists(request.workspace(), run);
        return free ? FREE : admit(request.workspace(), request.limits());
    }

    /** The same for a run that is to be open again; one that is open already, or is nowhere, has nothing to wait for. */
    public Permit reopen(ApiRequest request, UUID run) {
        boolean free = request.limits().byName().isEmpty() || !reads.exists(request.workspace(), run)
                || !reads.ended(request.workspace(), run);
        return free ? FREE : admit(request.workspace(), request.limits());
    }

    /** The same for whoever makes runs without a call. */
    Permit admit(UUID workspace, Limits limits) {
        int others = comingIn.merge(workspace, 1, Integer::sum) - 1;
        Permit permit = () -> comingIn.computeIfPresent(workspace, (w, n) -> n == 1 ? null : n - 1);
        try {
            openRuns(workspace, limits.of(Limits.OPEN_RUNS), others);
            rate(workspace, limits.of(Limits.RUNS_PER_MINUTE), others);
            storage(workspace, limits.of(Limits.STORAGE_BYTES));
            return permit;
        } catch (RuntimeException e) {
            permit.close();
            throw e;
        }
    }

    private void openRuns(UUID workspace, @Nullable Long most, int others) {
        if (most != null && reads.read((runs, c) -> runs.openRuns(c, workspace, most)) + others >= most) {
            throw refused(ErrorCode.OPEN_RUNS_LIMIT_REACHED, Limits.OPEN_RUNS, most, "runs may be open at a time",
                    A_WHILE);
        }
    }

    private void rate(UUID workspace, @Nullable Long most, int others) {
        if (most != null) {
            long room = most - others;
            Duration wait = most == 0 ? LONG
                    : room < 1 ? Duration.ofSeconds(1)
                            : reads.read((runs, c) -> runs.untilNextRun(c, workspace, room));
            if (!wait.isZero()) {
                throw refused(ErrorCode.RUN_RATE_LIMIT_REACHED, Limits.RUNS_PER_MINUTE, most,
                        "runs may be created in a minute", wait);
            }
        }
    }

    private void storage(UUID workspace, @Nullable Long most) {
        if (most != null && reads.read((runs, c) -> runs.storedBytes(c, workspace)) >= most) {
            throw refused(ErrorCode.STORAGE_LIMIT_REACHED, Limits.STORAGE_BYTES, most, "bytes may be stored", LONG);
        }
    }

    private static ApiProblem refused(ErrorCode code, String limit, long most, String what, Duration wait) {
        return ApiProblem.of(code, most + " " + what + " in this workspace; nothing was changed").with("limit", limit)
                .header("Retry-After", Long.toString(Math.max(1, wait.plusMillis(999).toSeconds())));
    }
}
