package io.keelson.core.plan;

/**
 * What a run's configuration says to the core.
 *
 * @param approvePlan true when a human must approve the plan before anything runs
 * @param maxAttempts how many attempts a run may have, the first included
 * @param maxAgents agents at work at a time
 * @param tasksPerAgent tasks of a roster agent at a time
 * @param tasksPerDefaultAgent tasks of the default agent at a time
 * @param stepsPerTask steps of a parallel task at a time
 * @param sequentialTasks true when an agent does its tasks one by one in plan order
 * @param maxDeliveries claims of one step without a word from its worker, before it fails as poison
 * @param maxContinuations turns of a task beyond the first
 * @param maxFanOut items of one {@code for_each}
 */
public record RunPolicy(boolean approvePlan, int maxAttempts, int maxAgents, int tasksPerAgent,
        int tasksPerDefaultAgent, int stepsPerTask, boolean sequentialTasks, int maxDeliveries, int maxContinuations,
        int maxFanOut) {

    /** The specification's defaults, for a plan that its caller gave and so approved. */
    public static final RunPolicy DEFAULT = new RunPolicy(false, 3, 10, 5, 100, 3, false, 10, 10, 10_000);

    public RunPolicy withApprovePlan(boolean approve) {
        return new RunPolicy(approve, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut);
    }
}
