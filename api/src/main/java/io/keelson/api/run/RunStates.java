package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run's current attempt in every vocabulary.
 *
 * @param runId id of the run
 * @param attemptNumber number of the attempt, from 1
 * @param circumstance whether all open work waits for the timer of a retry or continuation, or all open work for a
 *     person; {@code not_begun} for a run that is paused before the first step of its attempt
 * @param canonical words of this server
 * @param contracts by contract; tasks and steps only where the contract speaks of them
 */
public record RunStates(@Id String runId, @Range(min = 1) int attemptNumber,
        @OneOf({
                "usual", "waits_for_timer", "waits_for_human", "not_begun"}) String circumstance,
        Words canonical, Map<String, Words> contracts) {

    /**
     * The states of a run in the words of one vocabulary.
     *
     * @param run state of the run
     * @param tasks number of tasks by state; empty if the contract has no tasks
     * @param steps number of steps by state; empty if the contract has no steps
     * @param errorCode code of a failed run in the contract {@code lifecycle}, if it has one for the error
     * @param httpStatus HTTP status of that error in the contract {@code lifecycle}
     */
    public record Words(String run, @Omittable Map<String, @Range(min = 1) Long> tasks,
            @Omittable Map<String, @Range(min = 1) Long> steps,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Ref("LifecycleErrorCode") String errorCode,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Integer httpStatus) {

        public Words {
            tasks = Absent.asEmpty(tasks);
            steps = Absent.asEmpty(steps);
        }
    }
}
