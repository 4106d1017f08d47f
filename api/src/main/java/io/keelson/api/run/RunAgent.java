package io.keelson.api.run;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An agent of one run.
 *
 * @param id id of the agent in this run
 * @param number its position in the plan
 * @param name null for the default agent of the run
 * @param attempt the run's attempt
 * @param attemptNumber its own attempt
 * @param state state of the agent
 * @param stateType kind of the state
 * @param failing whether a task has failed and its other tasks are coming to their end
 * @param failureIgnored whether it failed and the run continued without it
 * @param taskCount its tasks, without superseded ones
 * @param nextRunAt time of its next attempt
 * @param startedAt time of its start; null before it
 * @param completedAt the last agent of a run ends with the run, after its result was put together and accepted
 * @param tasksEndedAt when the last of its tasks ended; null while one is open
 */
public record RunAgent(@Id String id, @Range(min = 1) int number, @Nullable String name,
        @Range(min = 1) int attempt, @Range(min = 1) int attemptNumber,
        @OneOf({"pending", "running", "paused", "completed", "failed", "cancelled", "skipped"}) String state,
        @Ref("StateType") String stateType, boolean failing, boolean failureIgnored, @Range(min = 0) int taskCount,
        @Nullable Instant nextRunAt, @Nullable Instant startedAt, @Nullable Instant completedAt,
        @Nullable Instant tasksEndedAt) {}
