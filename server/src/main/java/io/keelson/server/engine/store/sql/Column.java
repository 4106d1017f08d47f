package io.keelson.server.engine.store.sql;

import io.keelson.core.decide.StoredField;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One column of the rows that a {@link RowSetStatement} takes.
 *
 * @param type of an element
 * @param rows the row type of a value with rows; null for a plain value
 */
public record Column<T>(String name, Element type, Function<T, @Nullable Object> value, @Nullable RowArray<T, ?> rows) {

    /**
     * The type of a column; a value is a UUID, String, Integer, Long, Double, BigDecimal, Boolean or Instant, of
     * {@link #JSONBS} a collection of strings, or of {@link #ROWS} one of rows.
     */
    public enum Element {
        UUID(2950), TEXT(25), JSONB(3802), INT4(23), INT8(20), FLOAT8(701), NUMERIC(1700), BOOL(16), TIMESTAMPTZ(1184),
        /** A list of JSON texts. */
        JSONBS(3807),
        /** An array of a row type of the schema. */
        ROWS(0);

        private final int oid;

        Element(int oid) {
            this.oid = oid;
        }

        /** PostgreSQL's number of the type, the same everywhere; 0 for {@link #ROWS}. */
        int oid() {
            return oid;
        }

        /** Its name in SQL. */
        public String sql() {
            return this == JSONBS ? JSONB.sql() + "[]" : name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The rows in a column.
     *
     * @param rowType the name of the row type; its attributes are the columns, in their order
     */
    public record RowArray<T, S>(String rowType, List<Column<S>> columns, Function<T, Collection<S>> of) {}

    private Column(String name, Element type, Function<T, @Nullable Object> value) {
        this(name, type, value, null);
    }

    /** The name of its type in SQL. */
    public String sqlType() {
        return rows == null ? type.sql() : rows.rowType + "[]";
    }

    private static final Map<Class<?>, Element> FIELDS = Map.of(Integer.class, Element.INT4, Boolean.class,
            Element.BOOL, BigDecimal.class, Element.NUMERIC, Instant.class, Element.TIMESTAMPTZ);

    /** This column, for rows that contain its row. */
    public <S> Column<S> of(Function<S, T> part) {
        return new Column<>(name, type, row -> value.apply(part.apply(row)));
    }

    /** These columns, for rows that contain their row. */
    public static <S, T> List<Column<S>> of(List<Column<T>> columns, Function<S, T> part) {
        return columns.stream().map(column -> column.of(part)).toList();
    }

    /** The column of a field. */
    public static <T> Column<T> stored(StoredField<T, ?> field) {
        if (field.type() == String.class) {
            Function<T, @Nullable String> text = row -> (String) field.of(row);
            return field.length() == 0 ? text(field.column(), text) : text(field.column(), field.length(), text);
        }
        return new Column<>(field.column(), Objects.requireNonNull(FIELDS.get(field.type())), field::of);
    }

    /** Concatenates columns. */
    @SafeVarargs
    public static <T> List<Column<T>> joined(List<Column<T>>... all) {
        return Stream.of(all).flatMap(List::stream).toList();
    }

    /** The names of columns for a list in SQL, each after the prefix: {@code t.state, t.cost}. */
    public static String names(String prefix, List<? extends Column<?>> columns) {
        return columns.stream().map(column -> prefix + column.name()).collect(Collectors.joining(", "));
    }

    /** Assignments from the rows of a statement: {@code state = u.state, cost = u.cost}. */
    public static String assignments(List<? extends Column<?>> columns) {
        return columns.stream().map(column -> column.name() + " = u." + column.name())
                .collect(Collectors.joining(", "));
    }

    public static <T> Column<T> uuid(String name, Function<T, @Nullable UUID> value) {
        return new Column<>(name, Element.UUID, value::apply);
    }

    /** Text; replaces characters that the database cannot store. */
    public static <T> Column<T> text(String name, Function<T, @Nullable String> value) {
        return new Column<>(name, Element.TEXT, row -> TextColumns.storable(value.apply(row)));
    }

    /** A word of ours, such as a state, without characters to replace. */
    public static <T> Column<T> word(String name, Function<T, @Nullable String> value) {
        return new Column<>(name, Element.TEXT, value::apply);
    }

    /** Text that is cut to the column's length. */
    public static <T> Column<T> text(String name, int most, Function<T, @Nullable String> value) {
        return new Column<>(name, Element.TEXT, row -> TextColumns.clip(TextColumns.storable(value.apply(row)), most));
    }

    /** JSON text. */
    public static <T> Column<T> json(String name, Function<T, @Nullable String> value) {
        return new Column<>(name, Element.JSONB, row -> TextColumns.storableJson(value.apply(row)));
    }

    /** JSON texts that the database accepts, see {@link TextColumns#storableJson}. */
    public static <T> Column<T> jsons(String name, Function<T, Collection<String>> values) {
        return new Column<>(name, Element.JSONBS, values::apply);
    }

    public static <T> Column<T> integer(String name, Function<T, @Nullable Integer> value) {
        return new Column<>(name, Element.INT4, value::apply);
    }

    public static <T> Column<T> bigint(String name, Function<T, @Nullable Long> value) {
        return new Column<>(name, Element.INT8, value::apply);
    }

    public static <T> Column<T> real(String name, Function<T, @Nullable Double> value) {
        return new Column<>(name, Element.FLOAT8, value::apply);
    }

    public static <T> Column<T> money(String name, Function<T, @Nullable BigDecimal> value) {
        return new Column<>(name, Element.NUMERIC, value::apply);
    }

    /** Rows within a row, of a row type of the schema. */
    public static <T, S> Column<T> rows(String name, String rowType, List<Column<S>> columns,
            Function<T, Collection<S>> rows) {
        return new Column<>(name, Element.ROWS, rows::apply, new RowArray<>(rowType, columns, rows));
    }

    public static <T> Column<T> flag(String name, Function<T, @Nullable Boolean> value) {
        return new Column<>(name, Element.BOOL, value::apply);
    }

    public static <T> Column<T> time(String name, Function<T, @Nullable Instant> value) {
        return new Column<>(name, Element.TIMESTAMPTZ, value::apply);
    }
}
