package io.keelson.client.worker;

/** Takes the turns of agents. Called by many threads at once, one call per turn. */
@FunctionalInterface
public interface AgentHandler {

    /**
     * Takes one turn. It may be called again for the same turn, after a failure or a lost worker; the turns before it stand
     * as they are.
     *
     * @return {@link Turn#call} for tools to be called before the next turn, {@link Turn#done} for the task's output
     * @throws StepFailure the named, classified outcome "it did not work"
     * @throws StepDeferral when a system that the turn needs is busy, such as its model
     * @throws Exception anything else counts as an {@link ErrorClass#INFRASTRUCTURE} failure and is tried again
     */
    Turn.Answer take(Turn turn) throws Exception;
}
