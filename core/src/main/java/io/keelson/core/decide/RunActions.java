package io.keelson.core.decide;

import io.keelson.core.lifecycle.PossibleActions;
import io.keelson.core.run.Reply;
import java.util.List;

/** The actions of people that a run allows, by its state and its past; refusals name them. */
final class RunActions {

    private RunActions() {}

    static List<String> of(Decision d) {
        return PossibleActions.of(d.run.state).stream().filter(action -> switch (action) {
            case "retry" -> canBeRetried(d);
            case "undo" -> !Undoing.is(d) && (d.view.undo == null || d.view.undo.state() == UndoRow.State.REFUSED);
            default -> true;
        }).toList();
    }

    private static boolean canBeRetried(Decision d) {
        return !undone(d) && d.run.parent == null && d.run.attempt < d.run.policy().maxAttempts();
    }

    /** Whether an undo of the run's completed work is under way or has ended: no attempt can continue from it. */
    static boolean undone(Decision d) {
        return d.view.undo != null && d.view.undo.state() != UndoRow.State.REFUSED
                && d.view.undo.state() != UndoRow.State.NOTHING;
    }

    /** The refusal of a command that the run's state does not allow, with the actions that are possible instead. */
    static Reply.Rejected forbidden(Decision d, String what) {
        return new Reply.Rejected("INVALID_STATE_TRANSITION", "cannot " + what + " a run that is " + d.run.state.wire(),
                d.run.state.wire(), of(d).stream().filter(action -> !action.equals(what)).toList());
    }
}
