package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TurnAnswer;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Calls of tools by a step's program. Each is a step of the kind {@code call} at the position of its caller and in a lane of its own.
 * It outlives the lease of its caller, so that a program that is executed again finds its result. It ends with its caller at the latest.
 */
final class ProgramCalls {
    /** The most calls of a step. */
    static final int MAX_CALLS = 1_000;
    /** The most calls of a step that have not ended. */
    static final int MAX_OPEN = 64;
    /** The most characters of the arguments of all calls of a step, as the view of the run has them all. */
    static final int MAX_ARGUMENTS = 16 << 20;

    private ProgramCalls() {}

    /** Adds the call and opens it. A repeated command changes nothing. */
    static Reply call(Decision d, StepRow caller, Command.CallTool command) {
        if (d.view.steps.containsKey(command.call())) {
            return Reply.UNCHANGED;
        }
        Reply refusal = refusal(d, caller, command.made());
        if (refusal != null) {
            return refusal;
        }
        d.changes.touch(d.run);
        TaskRow task = caller.task();
        TurnAnswer.Call made = command.made();
        StepRow call = AgentTurns.add(d, task, task.endOf(caller.position()), new StepRow(command.call(), task,
                new StepSpec(made.tool(), StepKind.CALL, made.tool(), made.input(), made.retry(), made.timeout()),
                caller.position(), task.lastTurn(caller.position()) + 1, freeLane(task),
                AgentTurns.effect(task, made)).calledBy(caller.id()));
        TurnAnswer.Recorded recorded = made.recorded();
        if (recorded != null) {
            AgentTurns.answerFromRecord(d, call, recorded);
        } else {
            call.gate = AgentTurns.gate(task, made);
            SlotScheduling.open(d, call, null);
        }
        d.view.lookAtWaits(task);
        return Reply.CHANGED;
    }

    /** Why the program may not make the call now; null if it may. */
    private static @Nullable Reply refusal(Decision d, StepRow caller, TurnAnswer.Call made) {
        if (caller.spec().kind() != StepKind.TOOL) {
            return Reply.rejected("CALLS_NOT_POSSIBLE",
                    "only a program of a step of the plan calls tools; this step is a "
                            + caller.spec().kind().wire());
        }
        if (caller.calls.size() >= MAX_CALLS) {
            return Reply.rejected(AgentTurns.CALLS,
                    "the step has made " + MAX_CALLS + " calls, the most that it may make");
        }
        if (caller.calls.stream().filter(call -> !call.state.terminal()).count() >= MAX_OPEN) {
            return Reply.rejected("TOO_MANY_CALLS", MAX_OPEN + " calls of the step have not ended");
        }
        if (caller.calls.stream().mapToLong(call -> call.spec().input().length()).sum()
                + made.input().length() > MAX_ARGUMENTS) {
            return Reply.rejected(AgentTurns.CALLS,
                    "the arguments of all calls of the step have more than " + MAX_ARGUMENTS + " characters");
        }
        BigDecimal price = d.funds.prices().toolPrice(made.tool());
        String task = caller.task().planKey();
        return HardLimit.allows(HardLimit.run(d), price) && HardLimit.allows(HardLimit.task(d, task), price) ? null
                : Reply.rejected("BUDGET_EXCEEDED",
                        "the limits of the run and its task do not pay the call, which costs "
                                + Amounts.text(price) + ": raise them with `keelson budget " + d.run.id() + "`");
    }

    /** Ends the lease of a step whose program waits for a call that waits for a person. */
    static Reply park(Decision d, StepRow caller) {
        if (caller.calls.stream().noneMatch(call -> waits(d, call))) {
            return Reply.rejected("NO_CALL_WAITS", "no call of the step waits for a person");
        }
        SlotScheduling.close(d, caller);
        caller.deliveries--;
        d.move(caller, StepState.WAITING, new StepPayload.Waiting());
        return Reply.CHANGED;
    }

    /** True for a call that waits for a person, or for the end of a pause of the run. */
    private static boolean waits(Decision d, StepRow call) {
        CallRow foreign = call.call;
        return call.state == StepState.WAITING_APPROVAL || call.parked()
                || call.deferred() && foreign != null && foreign.state() == CallWait.State.ASKED
                || SlotScheduling.idle(call) && !d.atWork();
    }

    /** The first lane, from 1, that no open step of the task has. */
    private static int freeLane(TaskRow task) {
        Set<Integer> taken = new HashSet<>();
        task.steps.stream().filter(step -> !step.state.terminal()).forEach(step -> taken.add(step.lane()));
        int lane = 1;
        while (taken.contains(lane)) {
            lane++;
        }
        return lane;
    }
}
