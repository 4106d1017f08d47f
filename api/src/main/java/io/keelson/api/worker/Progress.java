package io.keelson.api.worker;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a step for people.
 *
 * @param fraction part that is done
 * @param message text for people
 */
@Request
public record Progress(@Nullable @Range(min = 0, max = 1) Double fraction,
        @Default("") @Text(cleaned = true) String message) {}
