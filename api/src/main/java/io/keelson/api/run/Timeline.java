package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When the tasks of a run waited and worked. Times of intervals are milliseconds after {@code from}.
 *
 * @param runId id of the run
 * @param attempt attempt of the run, from 1
 * @param from start of the attempt
 * @param to the end of the run; the present while it is open
 * @param open whether the run has not ended
 * @param lastSeq the event up to which the rows are complete
 * @param spent the time by activity; null with {@code after}
 * @param asked when people were asked about the run as a whole: its plan, its result, its budget, a ticket of no task. Null
 *     with {@code after} of a run of many events
 * @param tasks tasks in the order of the plan
 */
public record Timeline(@Id String runId, int attempt, Instant from, Instant to, boolean open, long lastSeq,
        @Nullable Spent spent, @Nullable List<Interval> asked, List<Row> tasks) {

    /**
     * An interval.
     *
     * @param fromMs start
     * @param toMs end; null while it lasts
     */
    public record Interval(long fromMs, @Nullable Long toMs) {}

    /**
     * The time from {@code from} to {@code to}, each moment once. If tasks differ, the first member counts.
     *
     * @param workMs executions that did not fail
     * @param failedMs tries that failed
     * @param queuedMs only a worker, or a place for it, was missing
     * @param backoffMs between a failure and the next try
     * @param personMs a person was asked, also about a plan, a failure, a result or a budget
     * @param timerMs a time, a signal or a child run was awaited
     * @param otherMs of no task: planning, a pause, the backoff between two attempts
     * @param endedMs the run had ended and was retried later; no part of its duration
     * @param idle intervals in which no task worked or was queued
     */
    public record Spent(long workMs, long failedMs, long queuedMs, long backoffMs, long personMs, long timerMs,
            long otherMs, long endedMs, List<Interval> idle) {}

    /**
     * A task.
     *
     * @param id id of the resource
     * @param key id of the task in the plan
     * @param title title
     * @param state state of the task
     * @param stateType type of the state
     * @param waits the state of the steps of a running task that wait, if none is executed
     * @param groupId the {@code for_each} task of an item
     * @param itemIndex position in the fan-out, from 0; number of a round; null for other tasks
     * @param maxRounds of a task with {@code repeat}: the maximum number of its rounds
     * @param flow its place in the switches and groups of the plan
     * @param agentName name of its agent
     * @param errorCode code of the error; null without one
     * @param failures failed attempts so far
     * @param attemptNumber number of the attempt, from 1
     * @param steps steps that have begun
     * @param versionId number that rises with each change
     * @param stretches intervals of its history
     */
    public record Row(@Id String id, String key, String title, @Ref("TaskState") String state,
            @Ref("StateType") String stateType, @Nullable @Ref("StepState") String waits, @Nullable @Id String groupId,
            @Nullable Integer itemIndex, @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Integer maxRounds,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable TaskFlow flow, @Nullable String agentName,
            @Nullable String errorCode, int failures,
            int attemptNumber, int steps, long versionId, List<Part> stretches) {}

    /**
     * An interval of a task's history.
     *
     * @param kind activity in the interval
     * @param fromMs start; below 0 before the run's first attempt
     * @param toMs end; null while it lasts
     */
    public record Part(@OneOf({"work", "failed", "queued", "backoff", "person", "timer"}) String kind, long fromMs,
            @Nullable Long toMs) {}
}
