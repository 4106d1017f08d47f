package io.keelson.server.engine.execute;

import io.keelson.core.run.Command.Evaluation;
import io.keelson.server.engine.store.read.ScopeReader;
import tools.jackson.databind.JsonNode;

/** Creates child runs for steps, and for agents' calls that delegate a task. */
public interface ChildMissions {

    /** No run may start others. */
    ChildMissions NONE = new ChildMissions() {
        @Override
        public Evaluation make(ScopeReader.Starter starter, boolean untrusted, JsonNode input) {
            throw new IllegalStateException("no child runs here");
        }

        @Override
        public Evaluation delegate(ScopeReader.Starter starter, ScopeReader.Caller caller, JsonNode call) {
            throw new IllegalStateException("no child runs here");
        }
    };

    /**
     * An {@link Evaluation.Starts}, or an {@link Evaluation.Broken} with all problems.
     *
     * @param starter the run of the step
     * @param untrusted whether the input may contain data from outside
     * @param input the step's, resolved except for the child's own expressions
     */
    Evaluation make(ScopeReader.Starter starter, boolean untrusted, JsonNode input);

    /** Starts the child run of a call of {@code agent.delegate}. */
    Evaluation delegate(ScopeReader.Starter starter, ScopeReader.Caller caller, JsonNode call);
}
