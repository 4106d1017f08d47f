package io.keelson.core.run;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Receives the members of a payload one by one, as they are on the wire. */
@FunctionalInterface
public interface Members {
    /** RFC 3339 with milliseconds, as all times on the wire. */
    DateTimeFormatter MILLIS = new DateTimeFormatterBuilder().appendInstant(3).toFormatter();

    /** @param value a text, number or boolean, or a list or map of them */
    void member(String name, Object value);

    /** Amounts, ids and times are texts; null is left out. */
    default Members put(String name, @Nullable Object value) {
        switch (value) {
            case null -> {
            }
            case BigDecimal amount -> member(name, amount.toPlainString());
            case UUID id -> member(name, id.toString());
            case Instant time -> member(name, MILLIS.format(time));
            default -> member(name, value);
        }
        return this;
    }

    /** Writes a member if it is true. */
    default Members flag(String name, boolean set) {
        return put(name, set ? true : null);
    }

    /** Writes the members of a part besides one's own. */
    default Members all(@Nullable PayloadPart part) {
        if (part != null) {
            part.write(this);
        }
        return this;
    }
}
