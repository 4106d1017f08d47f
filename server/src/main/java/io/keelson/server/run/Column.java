package io.keelson.server.run;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One column of the rows that a {@link SetStatement} takes.
 *
 * @param type the PostgreSQL type of an element
 */
record Column<T>(String name, String type, Function<T, @Nullable Object> value) {

    static <T> Column<T> uuid(String name, Function<T, @Nullable UUID> value) {
        return new Column<>(name, "uuid", value::apply);
    }

    /** Text with what the database cannot store replaced. */
    static <T> Column<T> text(String name, Function<T, @Nullable String> value) {
        return new Column<>(name, "text", row -> Texts.storable(value.apply(row)));
    }

    /** Text that is cut to what its column holds. */
    static <T> Column<T> text(String name, int most, Function<T, @Nullable String> value) {
        return new Column<>(name, "text", row -> Texts.clip(Texts.storable(value.apply(row)), most));
    }

    /** JSON text. */
    static <T> Column<T> json(String name, Function<T, @Nullable String> value) {
        return new Column<>(name, "jsonb", row -> Texts.storableJson(value.apply(row)));
    }

    static <T> Column<T> integer(String name, Function<T, @Nullable Integer> value) {
        return new Column<>(name, "int4", value::apply);
    }

    static <T> Column<T> bigint(String name, Function<T, @Nullable Long> value) {
        return new Column<>(name, "int8", value::apply);
    }

    static <T> Column<T> real(String name, Function<T, @Nullable Double> value) {
        return new Column<>(name, "float8", value::apply);
    }

    static <T> Column<T> money(String name, Function<T, BigDecimal> value) {
        return new Column<>(name, "numeric", value::apply);
    }

    static <T> Column<T> flag(String name, Function<T, Boolean> value) {
        return new Column<>(name, "bool", value::apply);
    }

    static <T> Column<T> time(String name, Function<T, @Nullable Instant> value) {
        return new Column<>(name, "timestamptz", row -> {
            Instant instant = value.apply(row);
            return instant == null ? null : instant.toString();
        });
    }
}
