package io.keelson.core.decide;

import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A field of a row that a column of its table stores unchanged. The table writes and reads the column by it.
 *
 * @param <R> the row
 * @param <V> type of the value
 * @param column name of the column
 * @param type Integer, Boolean, String, BigDecimal or Instant
 * @param length maximum number of characters that the column stores of a text; 0 if unlimited
 * @param getter reads the field
 * @param setter sets the field to a stored value
 */
public record StoredField<R, V>(String column, Class<V> type, int length, Function<R, @Nullable V> getter,
        BiConsumer<R, @Nullable V> setter) {

    /** A field that may be null. */
    static <R, V> StoredField<R, V> optional(String column, Class<V> type, Function<R, @Nullable V> getter,
            BiConsumer<R, @Nullable V> setter) {
        return new StoredField<>(column, type, 0, getter, setter);
    }

    /** A field that is never null. */
    static <R, V> StoredField<R, V> required(String column, Class<V> type, Function<R, V> getter,
            BiConsumer<R, V> setter) {
        return new StoredField<>(column, type, 0, getter::apply,
                (row, value) -> setter.accept(row, Objects.requireNonNull(value, column)));
    }

    /** A text that may be null, of which the column stores a limited number of characters. */
    static <R> StoredField<R, String> text(String column, int length, Function<R, @Nullable String> getter,
            BiConsumer<R, @Nullable String> setter) {
        return new StoredField<>(column, String.class, length, getter, setter);
    }

    /** The value of the field. */
    public @Nullable V of(R row) {
        return getter.apply(row);
    }

    /**
     * Sets the field; for the loader of views only.
     *
     * @throws ClassCastException if the value has another type
     */
    public void restore(R row, @Nullable Object value) {
        setter.accept(row, type.cast(value));
    }
}
