package io.keelson.server.http;

import io.keelson.server.auth.Limits;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds a workspace to its limits where runs come in. One server never lets more in than there is room for; what several
 * take in at the same moment they do not know of each other.
 */
final class Admission {

    private static final Duration A_WHILE = Duration.ofSeconds(5);
    private static final Duration LONG = Duration.ofMinutes(1);

    /** Held while a run is being made. */
    interface Ticket extends AutoCloseable {
        @Override
        void close();
    }

    private static final Ticket FREE = () -> {
    };

    private final Reads reads;
    private final Map<UUID, Integer> comingIn = new ConcurrentHashMap<>();

    Admission(Reads reads) {
        this.reads = reads;
    }

    /**
     * Lets a run in. One that is there already was let in before.
     *
     * @throws Refusal naming the limit that stands in the way
     */
    Ticket admit(Call call, UUID run) {
        boolean free = call.limits().byName().isEmpty() || reads.exists(call.workspace(), run);
        return free ? FREE : admit(call.workspace(), call.limits());
    }

    /** The same for a run that is to be open again; one that is open already, or is nowhere, has nothing to wait for. */
    Ticket reopen(Call call, UUID run) {
        boolean free = call.limits().byName().isEmpty() || !reads.exists(call.workspace(), run)
                || !reads.ended(call.workspace(), run);
        return free ? FREE : admit(call.workspace(), call.limits());
    }

    /** The same for whoever makes runs without a call. */
    Ticket admit(UUID workspace, Limits limits) {
        int others = comingIn.merge(workspace, 1, Integer::sum) - 1;
        Ticket ticket = () -> comingIn.computeIfPresent(workspace, (w, n) -> n == 1 ? null : n - 1);
        try {
            openRuns(workspace, limits.of(Limits.OPEN_RUNS), others);
            rate(workspace, limits.of(Limits.RUNS_PER_MINUTE), others);
            storage(workspace, limits.of(Limits.STORAGE_BYTES));
            return ticket;
        } catch (RuntimeException e) {
            ticket.close();
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

    private static Refusal refused(ErrorCode code, String limit, long most, String what, Duration wait) {
        return Refusal.of(code, most + " " + what + " in this workspace; nothing was changed").with("limit", limit)
                .header("Retry-After", Long.toString(Math.max(1, wait.plusMillis(999).toSeconds())));
    }
}
