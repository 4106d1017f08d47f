package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.StepAssignment;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** A lease as its holder knows it. */
record Held(UUID runId, UUID stepId, Lane lane, int epoch, StepSpec spec) {

    /** The lease as an answer names it. */
    static Held of(RunRows rows, StepAssignment assignment) {
        Saved.Step step = rows.steps.get(assignment.stepId());
        return new Held(rows.id(), step.id(), rows.laneOf(step), assignment.leaseEpoch(), step.spec());
    }

    /** The leases of an assignment and the steps that follow it. */
    static List<Held> chain(RunRows rows, StepAssignment assignment) {
        return Stream.concat(Stream.of(assignment), assignment.following().stream()).map(each -> of(rows, each))
                .toList();
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
