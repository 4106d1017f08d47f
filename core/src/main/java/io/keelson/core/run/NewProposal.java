package io.keelson.core.run;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a step proposes to people, to be recorded with its result.
 *
 * @param id made by whoever reports
 * @param body further text; null for none
 * @param data JSON text, opaque to the core; null for none
 * @param lifetime for how long it may be decided; null for ever
 */
public record NewProposal(UUID id, String title, @Nullable String body, @Nullable String data,
        @Nullable Duration lifetime) {}
