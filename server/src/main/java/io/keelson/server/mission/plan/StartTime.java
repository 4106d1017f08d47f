package io.keelson.server.mission.plan;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** When a run is to start by itself. */
final class StartTime {
    private static final int LAST_YEAR = 9999;

    private StartTime() {}

    /** Null where there is none or it is wrong. */
    static @Nullable Instant read(JsonNode document, Problems problems) {
        JsonNode given = document.path("start_at");
        if (!given.isString()) {
            return null;
        }
        try {
            OffsetDateTime time = OffsetDateTime.parse(given.stringValue());
            if (time.getYear() > 0 && time.getYear() <= LAST_YEAR) {
                return time.toInstant();
            }
        } catch (DateTimeException e) {
            // said below, as a year that no calendar has
        }
        problems.add("INVALID_VALUE", "/start_at",
                "must be a time with its offset (RFC 3339), such as 2026-12-01T06:00:00Z or 2026-12-01T07:00:00+01:00");
        return null;
    }
}
