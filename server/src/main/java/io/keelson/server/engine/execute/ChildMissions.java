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

    /**
     * The same for a call of {@code agent.delegate}.
     *
     * @param starter the run of the call
     * @param caller the agent that calls
     * @param call the call's input, which fits the tool's schema; a value without expressions
     */
    Evaluation delegate(ScopeReader.Starter starter, ScopeReader.Caller caller, JsonNode call);
}
