package io.keelson.server.base.db;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The columns of a record: its components in snake case; a nested record's components, too. Reads a row by these names,
 * and gives the lists of a statement. A component is a text, number, boolean, UUID, time, duration in whole seconds,
 * array of bytes, JSON node, list of texts or an enum, whose words are those of {@code wire()} or else its names in
 * small letters.
 */
public final class RecordColumns<T extends Record> implements Rows.Reader<T> {

    /** The name of a component's column, where it is another one. */
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Column {
        String value();
    }

    /** Gets the columns of one record. */
    @FunctionalInterface
    interface Sink {
        void set(String column, SqlType type, @Nullable Object value);
    }

    /**
     * A component.
     *
     * @param words of an enum, in the order of its constants; null for another type
     * @param nested the columns of a record; null for a component with a column of its own
     */
    private record Part(String column, SqlType type, boolean optional, Method accessor,
            @Nullable List<String> words, @Nullable RecordColumns<?> nested) {

        String parameter() {
            return type == SqlType.JSON ? ":" + column + "::jsonb" : ":" + column;
        }
    }

    private static final Map<Class<?>, SqlType> TYPES = Map.ofEntries(Map.entry(String.class, SqlType.TEXT),
            Map.entry(UUID.class, SqlType.UUID), Map.entry(Instant.class, SqlType.TIME),
            Map.entry(int.class, SqlType.INT), Map.entry(Integer.class, SqlType.INT),
            Map.entry(long.class, SqlType.LONG), Map.entry(Long.class, SqlType.LONG),
            Map.entry(boolean.class, SqlType.BOOLEAN),
            Map.entry(Boolean.class, SqlType.BOOLEAN), Map.entry(Duration.class, SqlType.SECONDS),
            Map.entry(BigDecimal.class, SqlType.NUMERIC), Map.entry(byte[].class, SqlType.BYTES),
            Map.entry(List.class, SqlType.TEXTS));

    private static final ClassValue<RecordColumns<?>> KNOWN = new ClassValue<>() {
        @Override
        protected RecordColumns<?> computeValue(Class<?> type) {
            return new RecordColumns<>(type.asSubclass(Record.class));
        }
    };

    private final Constructor<T> constructor;
    private final List<Part> parts;

    private RecordColumns(Class<T> type) {
        RecordComponent[] components = type.getRecordComponents();
        try {
            this.constructor = type.getDeclaredConstructor(
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
            constructor.setAccessible(true);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
        this.parts = Arrays.stream(components).map(RecordColumns::part).toList();
    }

    private RecordColumns(Constructor<T> constructor, List<Part> parts) {
        this.constructor = constructor;
        this.parts = parts;
    }

    /** The lists of a statement without these columns. */
    public RecordColumns<T> without(String... columns) {
        List<String> omitted = List.of(columns);
        return new RecordColumns<>(constructor,
                parts.stream().filter(each -> !omitted.contains(each.column)).toList());
    }

    /** Made once for a type. */
    @SuppressWarnings("unchecked") // the value of a key has its type
    public static <T extends Record> RecordColumns<T> of(Class<T> type) {
        return (RecordColumns<T>) KNOWN.get(type);
    }

    private static Part part(RecordComponent component) {
        Column column = component.getAnnotation(Column.class);
        String name = column == null ? component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT)
                : column.value();
        Class<?> type = component.getType();
        boolean single = type.isEnum() || type.isRecord();
        SqlType sql = JsonNode.class.isAssignableFrom(type) ? SqlType.JSON : single ? SqlType.TEXT : TYPES.get(type);
        if (sql == null) {
            throw new IllegalArgumentException("no column has the type of " + component);
        }
        return new Part(name, sql, component.getAnnotatedType().isAnnotationPresent(Nullable.class),
                component.getAccessor(),
                type.isEnum() ? Stream.of(type.getEnumConstants()).map(RecordColumns::word).toList() : null,
                type.isRecord() ? of(type.asSubclass(Record.class)) : null);
    }

    private static String word(Object constant) {
        Enum<?> named = (Enum<?>) constant;
        try {
            return (String) call(named.getDeclaringClass().getDeclaredMethod("wire"), constant);
        } catch (NoSuchMethodException e) {
            return named.name().toLowerCase(Locale.ROOT);
        }
    }

    private static Object call(Method method, Object target) {
        try {
            method.setAccessible(true);
            return method.invoke(target);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Stream<Part> columns() {
        return parts.stream().flatMap(each -> each.nested == null ? Stream.of(each) : each.nested.columns());
    }

    /** {@code id, name, inputs}: for {@code select} and {@code insert}. */
    public String names() {
        return columns().map(Part::column).collect(Collectors.joining(", "));
    }

    /** {@code :id, :name, :inputs::jsonb}: for {@code values}. */
    public String parameters() {
        return columns().map(Part::parameter).collect(Collectors.joining(", "));
    }

    /** {@code id = :id, name = :name, inputs = :inputs::jsonb}: for {@code update}. */
    public String assignments() {
        return columns().map(each -> each.column + " = " + each.parameter()).collect(Collectors.joining(", "));
    }

    /** The record of the current row. A component that is not {@code @Nullable} refuses null. */
    @Override
    public T read(ResultSet row) throws SQLException {
        @Nullable Object[] values = new @Nullable Object[parts.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(row, parts.get(i));
        }
        try {
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static @Nullable Object value(ResultSet row, Part part) throws SQLException {
        if (part.nested != null) {
            return part.optional && part.nested.absent(row) ? null : part.nested.read(row);
        }
        Object value = part.type.read(row, part.column);
        if (value == null && !part.optional) {
            throw new IllegalStateException("the column " + part.column + " is null");
        }
        if (value == null || part.words == null) {
            return value;
        }
        int index = part.words.indexOf(value);
        if (index < 0) {
            throw new IllegalStateException(
                    "the column " + part.column + " is " + value + ", not one of " + part.words);
        }
        return part.accessor.getReturnType().getEnumConstants()[index];
    }

    private boolean absent(ResultSet row) throws SQLException {
        for (Part each : parts) {
            if (each.nested == null ? each.type.read(row, each.column) != null : !each.nested.absent(row)) {
                return false;
            }
        }
        return true;
    }

    /** Gives all columns of a record to the sink. A nested record that is null gives none. */
    void forEach(Record record, Sink sink) {
        for (Part each : parts) {
            Object value = call(each.accessor, record);
            if (each.nested == null) {
                sink.set(each.column, each.type, each.words == null || value == null ? value
                        : each.words.get(((Enum<?>) value).ordinal()));
            } else if (value != null) {
                each.nested.forEach((Record) value, sink);
            }
        }
    }
}
