package io.keelson.server.engine.execute;

import io.keelson.core.run.Command.Evaluation;
import io.keelson.server.run.read.ScopeReader;
import tools.jackson.databind.JsonNode;

/** Creates child runs for steps. */
@FunctionalInterface
public interface ChildMissions {

    /** No run may start others. */
    ChildMissions NONE = (starter, input) -> {
        throw new IllegalStateException("no child runs here");
    };

    /**
     * An {@link Evaluation.Starts}, or an {@link Evaluation.Broken} with all problems.
     *
     * @param starter the run of the step
     * @param input the step's, resolved except for the child's own expressions
     */
    Evaluation make(ScopeReader.Starter starter, JsonNode input);
}
