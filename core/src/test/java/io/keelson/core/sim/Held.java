package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.StepAssignment;
import java.util.UUID;

/** A lease as its holder knows it. */
record Held(UUID runId, UUID stepId, Lane lane, int epoch, StepSpec spec) {

    /** The lease as an answer names it. */
    static Held of(RunRows rows, StepAssignment assignment) {
        Saved.Step step = rows.steps.get(assignment.stepId());
        return new Held(rows.id(), step.id(), rows.laneOf(step), assignment.leaseEpoch(), step.spec());
    }

    /** The lease as the store has it; null when it is not that holder's. */
    static Held read(RunRows rows, UUID stepId, String holder) {
        Saved.Step step = rows.steps.get(stepId);
        Lane lane = rows.laneOf(step);
        Saved.Place place = rows.queue.get(lane);
        return place == null || !holder.equals(place.item().holder()) ? null
                : new Held(rows.id(), stepId, lane, step.leaseEpoch(), step.spec());
    }
}
