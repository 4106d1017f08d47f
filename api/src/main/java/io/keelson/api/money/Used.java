package io.keelson.api.money;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Use of one part, such as a day, an agent or a model.
 *
 * @param day where divided by day (UTC)
 * @param agent where divided by agent; null is the default agent
 * @param model where divided by model
 * @param tool where divided by tool
 * @param purpose where divided by purpose
 * @param hour where divided by hour (UTC); its beginning
 * @param run where divided by run; its id
 * @param runName where divided by run
 * @param task where divided by task; its key
 * @param recipe where divided by recipe; its id, null for runs of none
 * @param schedule where divided by schedule; its id, null for runs of none
 * @param credits charged credits
 * @param estimatedCredits the part of the credits whose tokens are an upper bound, as no answer reported them
 * @param tokens tokens of the charges
 * @param usage tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up to
 *     all. Null for no tokens
 * @param charges number of charges
 * @param runs number of runs with charges
 */
public record Used(@JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Text(format = "date") String day,
        @Omittable @Nullable String agent, @Omittable @Nullable String model, @Omittable @Nullable String tool,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @OneOf({"work", "planning", "verification",
                "compaction", "gateway"}) String purpose,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Instant hour, @Omittable @Nullable String run,
        @Omittable @Nullable String runName, @Omittable @Nullable String task, @Omittable @Nullable String recipe,
        @Omittable @Nullable String schedule, BigDecimal credits, BigDecimal estimatedCredits, long tokens,
        @Nullable TokenUsage usage, int charges, int runs) {}
