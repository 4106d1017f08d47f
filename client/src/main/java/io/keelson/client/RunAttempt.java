package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a run. The end of an attempt is immutable; a retry opens the next one.
 *
 * @param attemptNumber from 1
 * @param failures tasks that failed, and steps that failed in tasks that continued without them; 0 while it is open
 * @param creditsReserved reserved for it; when it has ended, the sum of charges and refunds
 * @param creditsUncollected its cost beyond the available credits
 */
public record RunAttempt(int attemptNumber, String state, @Nullable Instant startedAt, @Nullable Instant completedAt,
        @Nullable String errorCode, @Nullable String errorMessage, int failures, @Nullable BigDecimal creditsReserved,
        @Nullable BigDecimal creditsCharged, @Nullable BigDecimal creditsRefunded,
        @Nullable BigDecimal creditsUncollected) {}
