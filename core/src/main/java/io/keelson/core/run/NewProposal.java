package io.keelson.core.run;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A step's proposal to people, recorded with its result.
 *
 * @param id made by the reporter
 * @param body further text; null if absent
 * @param data JSON text, opaque to the core; null if absent
 * @param lifetime how long it may be decided; null for no limit
 */
public record NewProposal(UUID id, String title, @Nullable String body, @Nullable String data,
        @Nullable Duration lifetime) {}
