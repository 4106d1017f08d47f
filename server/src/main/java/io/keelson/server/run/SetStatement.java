package io.keelson.server.run;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One SQL statement over any number of rows, which it gets as one array per column. In its text {@code {rows}} stands for
 * those rows as a table {@code u}, {@code {now}} for the time: the one given, or the database's clock.
 *
 * @param <T> a row
 */
final class SetStatement<T> {
    private static final Pattern PLACE = Pattern.compile("\\{(rows|now)}");

    private final List<Column<T>> columns;
    private final String sql;
    private final List<String> places = new ArrayList<>();

    @SafeVarargs
    SetStatement(String template, Column<T>... columns) {
        this.columns = List.of(columns);
        String rows = this.columns.stream().map(column -> "?::" + column.type() + "[]")
                .collect(Collectors.joining(", ", "unnest(", ") as u("))
                + this.columns.stream().map(Column::name).collect(Collectors.joining(", ")) + ")";
        this.sql = PLACE.matcher(template).replaceAll(place -> {
            places.add(place.group(1));
            return Matcher.quoteReplacement(
                    place.group(1).equals("rows") ? rows : "coalesce(?::timestamptz, clock_timestamp())");
        });
    }

    /** How many rows the database says it touched; 0 without asking it when there are none. */
    int execute(Connection c, Collection<? extends T> rows, @Nullable Instant now) throws SQLException {
        if (rows.isEmpty()) {
            return 0;
        }
        try (PreparedStatement statement = prepare(c, rows, now)) {
            return statement.executeUpdate();
        }
    }

    /**
     * As {@link #execute}, where every row must be touched.
     *
     * @throws StaleViewException when not
     */
    void executeAll(Connection c, String table, Collection<? extends T> rows, @Nullable Instant now)
            throws SQLException {
        int touched = execute(c, rows, now);
        if (touched != rows.size()) {
            throw new StaleViewException(table, rows.size(), touched);
        }
    }

    /** The statement with its parameters set, for queries; the caller closes it. */
    PreparedStatement prepare(Connection c, Collection<? extends T> rows, @Nullable Instant now) throws SQLException {
        PreparedStatement statement = c.prepareStatement(sql);
        try {
            int position = 1;
            for (String place : places) {
                if (place.equals("now")) {
                    bind(statement, position++, now);
                } else {
                    for (Column<T> column : columns) {
                        statement.setArray(position++, c.createArrayOf(column.type(), values(column, rows)));
                    }
                }
            }
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    private static <T> @Nullable Object[] values(Column<T> column, Collection<? extends T> rows) {
        @Nullable Object[] values = new Object[rows.size()];
        int i = 0;
        for (T row : rows) {
            values[i++] = column.value().apply(row);
        }
        return values;
    }

    private static void bind(PreparedStatement statement, int position, @Nullable Instant now) throws SQLException {
        if (now == null) {
            statement.setNull(position, Types.TIMESTAMP_WITH_TIMEZONE);
        } else {
            statement.setObject(position, now.atOffset(ZoneOffset.UTC));
        }
    }
}
