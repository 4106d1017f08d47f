package io.keelson.api.tenant;

import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A value that plans use with {@code ${ secret("name") }}; the API never returns it.
 *
 * @param name name in {@code secret("…")}
 * @param version rises with each new value
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param updatedBy name of the principal that changed it last
 */
public record Secret(String name, @Range(min = 1) int version, Instant createdAt, Instant updatedAt,
        @Nullable String updatedBy) {

    /**
     * Sets a secret.
     *
     * @param value the secret; redaction of shorter values would change unrelated text
     */
    @Request
    public record Value(@Text(pattern = "\\S", min = 4, max = 65_536) String value) {

        /** Without the value. */
        @Override
        public String toString() {
            return "Value[…]";
        }
    }
}
