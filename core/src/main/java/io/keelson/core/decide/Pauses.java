package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Actor;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.TimerKind;
import org.jspecify.annotations.Nullable;

/** Stops dispatch of a run; work in flight may finish and is recorded. */
final class Pauses {
    private Pauses() {}

    /** Pauses a run that is to pause with its parent, as soon as it runs. */
    static boolean pauseWithParent(Decision d) {
        boolean rests = d.run.parent != null && d.run.parent.held() && d.carriedOut();
        if (rests) {
            pause(d, Actor.SYSTEM.name(), "the run that started it is paused");
        }
        return rests;
    }

    /** @param by who pauses it, as named in payloads */
    static Reply pause(Decision d, String by, @Nullable String reason) {
        d.move(RunState.PAUSED, new RunPayload.Paused(by, reason));
        if (d.run.gate == RunRow.Gate.ACCEPTANCE) {
            d.disarm(TimerKind.HUMAN, d.run.id());
        }
        rest(d);
        ChildLinks.tellAll(d);
        return Reply.CHANGED;
    }

    /** Stops dispatch; work in flight may finish and is recorded. */
    static void rest(Decision d) {
        for (AgentRow agent : d.view.agents) {
            if (!agent.state.terminal()) {
                d.move(agent, AgentState.PAUSED, new AgentPayload.Paused());
            }
        }
        SlotScheduling.withdraw(d);
    }
}
