package io.keelson.server.engine.execute;

import io.keelson.core.run.Command.Evaluation;
import io.keelson.server.run.read.ScopeReader;

/** Makes a run's new plan of what its planner answered. */
@FunctionalInterface
public interface Replanner {

    /** A {@link Evaluation.Planned}, or a {@link Evaluation.Broken} that names every problem. */
    Evaluation judge(ScopeReader.Replan replan);
}
