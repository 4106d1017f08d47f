package io.keelson.api.run;

import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a run. The end of an attempt is immutable; a retry opens the next one.
 *
 * @param attemptNumber number of the attempt, from 1
 * @param state state of the attempt
 * @param startedAt time of its start
 * @param completedAt null while it is open
 * @param errorCode code of the error; null without one
 * @param errorMessage message of the error; null without one
 * @param failures tasks and steps that had failed when it ended
 * @param creditsReserved credits reserved for it
 * @param creditsCharged credits that its steps were charged
 * @param creditsRefunded reserved credits that were returned at its end
 * @param creditsUncollected cost of its steps in credits that could not be charged
 */
public record RunAttempt(@Range(min = 1) int attemptNumber, @Ref("RunState") String state, Instant startedAt,
        @Nullable Instant completedAt, @Nullable String errorCode, @Nullable String errorMessage,
        @Range(min = 0) int failures, @Range(min = 0) BigDecimal creditsReserved,
        @Range(min = 0) BigDecimal creditsCharged, @Range(min = 0) BigDecimal creditsRefunded,
        @Range(min = 0) BigDecimal creditsUncollected) {}
