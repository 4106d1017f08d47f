package io.keelson.core.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The step whose result another step takes over or waits for.
 *
 * @param run of the step
 * @param task of the step
 */
public record SourceStep(UUID run, UUID task, UUID step) {

    private static final String PREFIX = "result:";
    private static final int PARTS = 3;

    /** As the value that a deferred step stores for the system that it waits for. */
    public String text() {
        return PREFIX + run + "/" + task + "/" + step;
    }

    /** The source that a stored text names; null for any other text. */
    public static @Nullable SourceStep of(@Nullable String text) {
        if (text == null || !text.startsWith(PREFIX)) {
            return null;
        }
        String[] ids = text.substring(PREFIX.length()).split("/", PARTS);
        return new SourceStep(UUID.fromString(ids[0]), UUID.fromString(ids[1]), UUID.fromString(ids[2]));
    }
}
