package io.keelson.server.base.db;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A statement with named parameters: {@code :name}, as often as needed. {@code {now}} is the time of a {@link DbClock}. A constant,
 * parsed once; {@link #on} begins one execution of it.
 */
public final class Sql {

    /** Literals and casts, which are skipped; names; a parameter without a name, which is refused. */
    private static final Pattern TOKEN = Pattern.compile("'[^']*'|::|:([a-z]\\w*)|\\?");

    private static final String NOW = "now";

    private final String text;
    private final String jdbc;
    private final List<String> names = new ArrayList<>();
    /** The index of the name at each position. */
    private final int[] places;

    private Sql(String text) {
        this.text = text;
        List<Integer> found = new ArrayList<>();
        Matcher tokens = TOKEN.matcher(text.replace("{now}", "coalesce(:now::timestamptz, clock_timestamp())"));
        this.jdbc = tokens.replaceAll(token -> {
            String name = token.group(1);
            if (name == null) {
                if (token.group().equals("?")) {
                    throw new IllegalArgumentException("a parameter without a name: " + text);
                }
                return Matcher.quoteReplacement(token.group());
            }
            if (!names.contains(name)) {
                names.add(name);
            }
            found.add(names.indexOf(name));
            return "?";
        });
        this.places = found.stream().mapToInt(Integer::intValue).toArray();
    }

    /** @param text with names as parameters, and without values in it */
    public static Sql of(String text) {
        return new Sql(text);
    }

    /** This statement continued by {@code more}, such as a lock. */
    public Sql and(String more) {
        return of(text + more);
    }

    /** Begins an execution. The connection stays open, and commits nothing by this. */
    public Call on(Connection connection) {
        return new Call(connection);
    }

    @FunctionalInterface
    private interface Work<T extends @Nullable Object> {
        T of(PreparedStatement statement) throws SQLException;
    }

    private record Parameter(SqlType type, @Nullable Object value) {}

    /** One execution: parameters by name, then one of the methods that execute. Used by one thread, once. */
    public final class Call {

        private final Connection connection;
        private final @Nullable Parameter[] parameters = new Parameter[names.size()];

        private Call(Connection connection) {
            this.connection = connection;
        }

        public Call set(String name, @Nullable String value) {
            return set(name, SqlType.TEXT, value);
        }

        public Call set(String name, @Nullable UUID value) {
            return set(name, SqlType.UUID, value);
        }

        public Call set(String name, @Nullable Instant value) {
            return set(name, SqlType.TIME, value);
        }

        public Call set(String name, @Nullable Integer value) {
            return set(name, SqlType.INT, value);
        }

        public Call set(String name, @Nullable Long value) {
            return set(name, SqlType.LONG, value);
        }

        public Call set(String name, @Nullable Boolean value) {
            return set(name, SqlType.BOOLEAN, value);
        }

        public Call set(String name, @Nullable BigDecimal value) {
            return set(name, SqlType.NUMERIC, value);
        }

        public Call set(String name, byte @Nullable [] value) {
            return set(name, SqlType.BYTES, value);
        }

        /** Text; the statement casts it: {@code :name::jsonb}. */
        public Call set(String name, @Nullable JsonNode value) {
            return set(name, SqlType.JSON, value);
        }

        /** An array of {@code text}. */
        public Call setTexts(String name, @Nullable Collection<? extends @Nullable String> values) {
            return set(name, SqlType.TEXTS, values);
        }

        /** An array of {@code uuid}. */
        public Call setUuids(String name, @Nullable Collection<UUID> values) {
            return set(name, SqlType.UUIDS, values);
        }

        /** An array of {@code bigint}. */
        public Call setLongs(String name, Collection<Long> values) {
            return set(name, SqlType.LONGS, values);
        }

        /** The time of {@code {now}}. */
        public Call at(DbClock clock) {
            return set(NOW, clock.override());
        }

        /** All parameters that are named like a column of the record. */
        public Call set(Record record) {
            RecordColumns.of(record.getClass()).forEach(record, (name, type, value) -> {
                if (names.contains(name)) {
                    set(name, type, value);
                }
            });
            return this;
        }

        private Call set(String name, SqlType type, @Nullable Object value) {
            int index = names.indexOf(name);
            if (index < 0) {
                throw new IllegalArgumentException("no parameter :" + name + " in: " + text);
            }
            parameters[index] = new Parameter(type, value);
            return this;
        }

        private <T extends @Nullable Object> T execute(Work<T> work) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(jdbc)) {
                for (int i = 0; i < places.length; i++) {
                    Parameter parameter = parameters[places[i]];
                    if (parameter == null) {
                        throw new IllegalStateException("no value for :" + names.get(places[i]) + " in: " + text);
                    }
                    parameter.type.bind(statement, i + 1, parameter.value);
                }
                return work.of(statement);
            }
        }

        /** The number of rows that were changed. */
        public int update() throws SQLException {
            return this.<Integer>execute(PreparedStatement::executeUpdate);
        }

        /** Executes a query for its effect, such as a lock; true when it has a row. */
        public boolean exists() throws SQLException {
            return first(row -> true).isPresent();
        }

        /** All rows, in order. */
        public <T> List<T> all(Rows.Reader<T> reader) throws SQLException {
            return execute(statement -> Rows.all(statement, reader));
        }

        /** The first row; empty if the query has no row. */
        public <T> Optional<T> first(Rows.Reader<T> reader) throws SQLException {
            return execute(statement -> {
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() ? Optional.of(reader.read(row)) : Optional.empty();
                }
            });
        }

        /**
         * The row of a query that always has one.
         *
         * @throws IllegalStateException if the query has no row
         */
        public <T extends @Nullable Object> T one(Rows.Reader<T> reader) throws SQLException {
            return execute(statement -> {
                try (ResultSet row = statement.executeQuery()) {
                    if (row.next()) {
                        return reader.read(row);
                    }
                    throw new IllegalStateException("no row of: " + text);
                }
            });
        }

        /** The first rows of a query with the parameter {@code :limit}, by {@link Rows#page}. */
        public <T> Page<T> page(int limit, Rows.Reader<T> reader) throws SQLException {
            set("limit", limit + 1);
            return execute(statement -> Rows.page(statement, limit, reader));
        }
    }
}
