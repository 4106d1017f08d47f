package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Starts runs that were only accepted: on request, or at their start time. */
final class DeferredStart {
    /** Delay before the next try to start a run that its workspace could not pay for. */
    static final Duration RETRY_DELAY = Duration.ofMinutes(1);

    private DeferredStart() {}

    /** When a new run starts by itself; null unless that is in the future. */
    static @Nullable Instant later(NewRun run, Instant now) {
        Instant at = run.startAt();
        return at != null && at.isAfter(now) ? at : null;
    }

    /** The payload of the run's creation. */
    static RunPayload created(NewRun run, @Nullable Instant later) {
        return new RunPayload.Created(run.name(), run.goal(), EventPayloads.summary(run.policy()),
                run.policy().humans().autonomy().wire(), run.trigger(), later);
    }

    static void at(Decision d, Instant when) {
        d.view.startDue = when;
        d.arm(TimerKind.START, d.run.id(), when);
    }

    /** Starts the run on request and disarms its start time. */
    static Reply startNow(Decision d) {
        if (d.run.state == RunState.CREATED) {
            Reply.Rejected refusal = Credits.reserve(d, d.run.attempt);
            if (refusal != null) {
                return refusal;
            }
            begin(d);
            return Reply.CHANGED;
        }
        return d.run.state.terminal() ? RunActions.forbidden(d, "start") : Reply.UNCHANGED;
    }

    /** Starts the run if its time has come. An unaffordable run waits. */
    static void due(Decision d) {
        Instant due = d.view.startDue;
        if (d.run.state != RunState.CREATED || due == null) {
            d.disarm(TimerKind.START, d.run.id());
        } else if (!due.isAfter(d.now)) {
            if (Credits.reserve(d, d.run.attempt) == null) {
                begin(d);
            } else {
                at(d, d.now.plus(RETRY_DELAY));
            }
        }
    }

    private static void begin(Decision d) {
        if (d.view.startDue != null) {
            d.view.startDue = null;
            d.disarm(TimerKind.START, d.run.id());
        }
        Planning.begin(d, false, PlanRows.Kept.NOTHING);
    }
}
