package io.keelson.api.schedule;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Requests the times that a schedule would have.
 *
 * @param cron five fields, or a name such as @daily
 * @param timeZone of the IANA's, such as Europe/Berlin
 * @param endAt last possible time
 * @param after from then on instead of from now
 * @param count maximum number of times
 */
@Request
public record SchedulePreview(@Text(format = "cron", pattern = "\\S", max = 250) String cron,
        @Default("UTC") @Text(format = "time-zone", max = 60) String timeZone, @Nullable Instant endAt,
        @Nullable Instant after, @Default("5") @Range(min = 1, max = 100) int count) {}
