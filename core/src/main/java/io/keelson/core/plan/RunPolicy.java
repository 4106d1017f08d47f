package io.keelson.core.plan;

import io.keelson.core.money.Budget;
import org.jspecify.annotations.Nullable;

/**
 * The part of a run's configuration that the core uses.
 *
 * @param approvePlan true when a person must approve the plan before anything runs
 * @param maxAttempts how many attempts a run may have, the first included
 * @param maxAgents agents at work at a time
 * @param tasksPerAgent tasks of a roster agent at a time
 * @param tasksPerDefaultAgent tasks of the default agent at a time
 * @param stepsPerTask steps of a parallel task at a time
 * @param sequentialTasks true when an agent does its tasks one by one in plan order
 * @param maxDeliveries claims of one step without a report of its worker, before it fails as poison
 * @param maxContinuations turns of a task beyond the first
 * @param maxFanOut items of one {@code for_each}
 * @param failures reactions to failures
 * @param timeouts maximum durations
 * @param humans requirements of people besides the plan's gate
 * @param hooks steps before and after all others
 * @param budget estimated cost and limits
 * @param concurrency its concurrency key; null if absent
 * @param undo when its work is undone, and the run that it undoes
 * @param versions whether it stays with versions of workers; null for the rules of the tools
 */
public record RunPolicy(boolean approvePlan, int maxAttempts, int maxAgents, int tasksPerAgent,
        int tasksPerDefaultAgent, int stepsPerTask, boolean sequentialTasks, int maxDeliveries, int maxContinuations,
        int maxFanOut, FailureRules failures, Timeouts timeouts, HumanRules humans, Hooks hooks, Budget budget,
        @Nullable Concurrency concurrency, UndoRules undo, @Nullable VersionBehavior versions) {

    /** The specification's defaults, for a plan that its caller submitted and so approved. */
    public static final RunPolicy DEFAULT = new RunPolicy(false, 3, 10, 5, 100, 3, false, 10, 10, 10_000);

    /** A policy with the defaults for failures, time and people, and without a budget. */
    public RunPolicy(boolean approvePlan, int maxAttempts, int maxAgents, int tasksPerAgent, int tasksPerDefaultAgent,
            int stepsPerTask, boolean sequentialTasks, int maxDeliveries, int maxContinuations, int maxFanOut) {
        this(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask, sequentialTasks,
                maxDeliveries, maxContinuations, maxFanOut, FailureRules.DEFAULT, Timeouts.DEFAULT, HumanRules.DEFAULT,
                Hooks.NONE, Budget.NONE, null, UndoRules.NONE, null);
    }

    /** A policy of a run that is undone on request only. */
    public RunPolicy(boolean approvePlan, int maxAttempts, int maxAgents, int tasksPerAgent, int tasksPerDefaultAgent,
            int stepsPerTask, boolean sequentialTasks, int maxDeliveries, int maxContinuations, int maxFanOut,
            FailureRules failures, Timeouts timeouts, HumanRules humans, Hooks hooks, Budget budget,
            @Nullable Concurrency concurrency) {
        this(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask, sequentialTasks,
                maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, humans, hooks, budget, concurrency,
                UndoRules.NONE, null);
    }

    public RunPolicy withApprovePlan(boolean approve) {
        return new RunPolicy(approve, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, humans, hooks, budget,
                concurrency, undo, versions);
    }

    public RunPolicy with(FailureRules rules) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, rules, timeouts, humans, hooks, budget,
                concurrency, undo, versions);
    }

    public RunPolicy with(Timeouts limits) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, limits, humans, hooks, budget,
                concurrency, undo, versions);
    }

    public RunPolicy with(HumanRules rules) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, rules, hooks, budget,
                concurrency, undo, versions);
    }

    public RunPolicy with(Hooks steps) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, humans, steps, budget,
                concurrency, undo, versions);
    }

    public RunPolicy with(Budget limits) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, humans, hooks, limits,
                concurrency, undo, versions);
    }

    public RunPolicy with(Concurrency turn) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, humans, hooks, budget,
                turn, undo, versions);
    }

    public RunPolicy with(UndoRules rules) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, humans, hooks, budget,
                concurrency, rules, versions);
    }

    public RunPolicy with(@Nullable VersionBehavior behavior) {
        return new RunPolicy(approvePlan, maxAttempts, maxAgents, tasksPerAgent, tasksPerDefaultAgent, stepsPerTask,
                sequentialTasks, maxDeliveries, maxContinuations, maxFanOut, failures, timeouts, humans, hooks, budget,
                concurrency, undo, behavior);
    }
}
