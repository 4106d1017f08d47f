package io.keelson.server.engine.execute;

import io.keelson.core.run.Command.Evaluation;
import io.keelson.server.engine.store.read.ScopeReader;

/** Creates a run's new plan from its planner's answer. */
@FunctionalInterface
public interface Replanner {

    /** A {@link Evaluation.Planned}, or an {@link Evaluation.Broken} with all problems. */
    Evaluation judge(ScopeReader.Replan replan);
}
