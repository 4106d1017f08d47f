package io.keelson.server.engine.execute;

import io.keelson.core.run.Command.Evaluation;
import io.keelson.server.run.read.ScopeReader;
import tools.jackson.databind.JsonNode;

/** Makes the run that a step is to start. */
@FunctionalInterface
public interface ChildMissions {

    /** Where no run starts others. */
    ChildMissions NONE = (starter, input) -> {
        throw new IllegalStateException("no child runs here");
    };

    /**
     * An {@link Evaluation.Starts}, or an {@link Evaluation.Broken} that names every problem.
     *
     * @param starter the run whose step it is
     * @param input the step's, resolved but for what is the child's own
     */
    Evaluation make(ScopeReader.Starter starter, JsonNode input);
}
