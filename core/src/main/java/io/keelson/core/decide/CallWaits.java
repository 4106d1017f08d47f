package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.CallWait.State;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TimerKind;
import org.jspecify.annotations.Nullable;

/**
 * Calls of other servers that wait. The holder of the step stores where its call is; a person's answer to a question makes the step
 * due in the same decision.
 */
final class CallWaits {
    private CallWaits() {}

    /**
     * The holder stores where its call is, before it continues. A repeated report changes nothing.
     *
     * @param now null when the call may be sent as if for the first time
     */
    static Reply track(Decision d, StepRow step, @Nullable CallWait now) {
        CallRow known = step.call;
        if (now == null ? known == null : known != null && known.equals(row(step, now))) {
            return Reply.UNCHANGED;
        }
        if (!follows(known == null ? null : known.state(), now == null ? null : now.state())) {
            return Reply.rejected("OUTCOME_UNKNOWN", "another execution of this call has sent it");
        }
        d.changes.touch(d.run);
        if (now == null) {
            step.call = null;
            d.changes.forgetCall(step);
        } else {
            put(d, step, now);
        }
        return Reply.CHANGED;
    }

    /** Whether an execution may bring a call from one state to the other. Null: nothing is stored of the call. */
    private static boolean follows(@Nullable State from, @Nullable State to) {
        return switch (from) {
            case null -> to == State.SENT;
            case ANSWERED -> to == State.SENT || to == State.TASK;
            case SENT -> to == null || to == State.ANSWERED;
            case ASKED, TASK -> false;
        };
    }

    /**
     * Stores the wait of a call whose step goes back.
     *
     * @return the deferral of the step; null if it may be claimed at once, because its question was answered during the execution
     */
    static @Nullable Deferral handBack(Decision d, StepRow step, Command.Release command) {
        CallWait wait = command.call();
        if (wait == null) {
            return command.deferral();
        }
        CallRow known = step.call;
        if (known != null && wait.state() == State.ASKED && wait.rounds() == known.rounds()) {
            return known.state() == State.ANSWERED ? null : command.deferral();
        }
        put(d, step, wait);
        return command.deferral();
    }

    private static void put(Decision d, StepRow step, CallWait wait) {
        step.call = row(step, wait);
        d.changes.put(new ChangeSet.Call(d.run, step, wait, step.leaseEpoch));
    }

    private static CallRow row(StepRow step, CallWait wait) {
        return new CallRow(wait.state(), wait.rounds(), step.leaseEpoch);
    }

    /** Stores a person's answer. A step that waits for it is due from now on. */
    static Reply answer(Decision d, Command.Answer command) {
        StepRow step = d.view.steps.get(command.stepId());
        CallRow call = step == null ? null : step.call;
        if (step == null || call == null || step.state != StepState.RUNNING || call.state() != State.ASKED
                || call.rounds() != command.round()) {
            return Reply.rejected("INBOX_ITEM_NOT_FOUND", "no inbox item elic_" + command.stepId()
                    + ": the question has an answer, or its call has ended");
        }
        step.call = call.answered();
        d.changes.add(new ChangeSet.CallAnswer(step.id(), command.answers(), d.actor));
        d.note(step.task(), step, new StepPayload.Answered(d.by(), call.rounds()));
        if (step.deferred()) {
            step.nextRunAt = null;
            d.changes.touch(step);
            d.disarm(TimerKind.STEP_RETRY, step.id());
            SlotScheduling.open(d, step, null);
        }
        return Reply.CHANGED;
    }
}
