package io.keelson.server.engine.store.sql;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.sql.Column.Element;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One SQL statement over any number of rows, passed as one array of a row type of the schema, or over a single row, whose
 * columns are parameters. In its text {@code {rows}} is a table {@code u} of those rows, {@code {count}} their number,
 * {@code {shared}} an array of JSON values that several rows have, {@code {now}} the time of the decision, and
 * {@code {clock}} the current time. An INSERT with {@code {clock}} costs more:
 * its rows stay a subquery, because the planner does not merge a subquery with a volatile function.
 *
 * @param <T> a row
 */
public final class RowSetStatement<T> {
    /** The SQLSTATE of a statement that touched an unexpected number of rows. */
    public static final String OVERTAKEN = "KE001";

    private static final Pattern PLACE = Pattern.compile("\\{(rows|count|shared|now|clock)}");
    private static final Map<String, String> MARKS = Map.of("count", "?::integer", "shared", "?::jsonb[]", "now",
            "?::timestamptz", "clock", DbClock.SQL);

    private final String rowType;
    private final List<Column<T>> columns;
    private final String sql;
    private final String sqlOfOne;
    private final List<String> places = new ArrayList<>();

    /**
     * @param rowType the name of the row type; its attributes are the columns, in their order
     */
    @SafeVarargs
    public RowSetStatement(String rowType, String template, Column<T>... columns) {
        this(rowType, template, List.of(columns));
    }

    public RowSetStatement(String rowType, String template, List<Column<T>> columns) {
        this.rowType = rowType;
        this.columns = columns;
        PLACE.matcher(template).results().forEach(place -> places.add(place.group(1)));
        this.sql = sql(template, "unnest(?::" + rowType + "[]) as u");
        this.sqlOfOne =
                sql(template, columns.stream().map(column -> "?::" + column.sqlType() + " as " + column.name())
                        .collect(Collectors.joining(", ", "(select ", ") as u")));
    }

    private static String sql(String template, String rows) {
        return PLACE.matcher(template)
                .replaceAll(place -> Matcher.quoteReplacement(MARKS.getOrDefault(place.group(1), rows)));
    }

    /**
     * An UPDATE in the form of a MERGE, of rows that must all exist. Fails with {@link #OVERTAKEN} otherwise, like
     * {@link #ofAll}, whose count costs as much as changing one row.
     *
     * @param key the column that identifies the rows
     * @param template the MERGE as far as its {@code when matched}
     */
    public static <T> RowSetStatement<T> ofEach(String rowType, String key, String template, List<Column<T>> columns) {
        return new RowSetStatement<>(rowType, template + """

                 when not matched then insert (%s)
                    values (keelson_raise('%s', 'a row of %s to change is gone')::uuid)"""
                .formatted(key, OVERTAKEN, rowType), columns);
    }

    /** {@link #ofEach(String, String, String, List)} with the columns as varargs. */
    @SafeVarargs
    public static <T> RowSetStatement<T> ofEach(String rowType, String key, String template, Column<T>... columns) {
        return ofEach(rowType, key, template, List.of(columns));
    }

    /**
     * A statement that must touch as many rows as it is given. Fails with {@link #OVERTAKEN} otherwise, so that the
     * rest of its message is skipped.
     */
    @SafeVarargs
    public static <T> RowSetStatement<T> ofAll(String rowType, String template, Column<T>... columns) {
        return ofAll(rowType, template, List.of(columns));
    }

    /** {@link #ofAll(String, String, Column...)} with the columns as a list. */
    public static <T> RowSetStatement<T> ofAll(String rowType, String template, List<Column<T>> columns) {
        return new RowSetStatement<>(rowType, "with touched as (" + template + """
                 returning 1)
                select keelson_raise_stale('%s', {count}, count(*)) from touched having count(*) <> {count}"""
                .formatted(rowType), columns);
    }

    /**
     * The time of a statement.
     *
     * @param now the time of the decision; null only for a statement without it
     * @param clock the current time, null for the database's
     */
    public record Moment(@Nullable Instant now, @Nullable Instant clock) {}

    /** Rows for this statement. */
    public Part<T> of(Collection<? extends T> rows) {
        return of(rows, List.of());
    }

    /**
     * Rows for this statement, and JSON texts that they name by their places, from 1. The database parses each text once, and a
     * JSON column for each row.
     */
    public Part<T> of(Collection<? extends T> rows, Collection<String> shared) {
        return new Part<>(this, rows, shared);
    }

    /**
     * A statement with its rows.
     *
     * @param shared the JSON texts of {@code {shared}}
     */
    public record Part<T>(RowSetStatement<T> statement, Collection<? extends T> rows, Collection<String> shared) {

        public boolean empty() {
            return rows.isEmpty();
        }

        /**
         * The SQL text. A single row is not an array: a look-up by it costs the database a third less. Each of its
         * columns is a parameter, because an expression that takes a field out of a row costs more.
         *
         * @param alone true where a single row may come in that form
         */
        public String sql(boolean alone) {
            return alone && rows.size() == 1 ? statement.sqlOfOne : statement.sql;
        }

        /** Sets the parameters of {@link #sql}, the first at that position; returns the position after the last. */
        public int bind(PreparedStatement prepared, int first, boolean alone, Moment moment) throws SQLException {
            return statement.bind(prepared, first, this, alone && rows.size() == 1, moment);
        }
    }

    public String sql() {
        return sql;
    }

    public String sqlOfOne() {
        return sqlOfOne;
    }

    public String rowType() {
        return rowType;
    }

    public List<Column<T>> columns() {
        return columns;
    }

    /**
     * The number of touched rows; 0 without a query when there are no rows.
     *
     * @param clock the current time, null for the database's; the statement has no {@code {now}}
     */
    public int execute(Connection c, Collection<? extends T> rows, @Nullable Instant clock) throws SQLException {
        if (rows.isEmpty()) {
            return 0;
        }
        try (PreparedStatement statement = prepare(c, rows, clock)) {
            return statement.executeUpdate();
        }
    }

    /** The statement with its parameters set, for queries; the caller closes it. */
    public PreparedStatement prepare(Connection c, Collection<? extends T> rows, @Nullable Instant clock)
            throws SQLException {
        PreparedStatement statement = c.prepareStatement(sql);
        try {
            bind(statement, 1, of(rows), false, new Moment(null, clock));
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    private int bind(PreparedStatement statement, int first, Part<T> part, boolean single, Moment moment)
            throws SQLException {
        Collection<? extends T> rows = part.rows;
        int position = first;
        for (String place : places) {
            if (place.equals("rows") && single) {
                position = BinaryParameter.bindRow(statement, position, columns, rows.iterator().next());
            } else if (place.equals("rows")) {
                BinaryParameter.bind(statement, position++, rowType, columns, rows);
            } else if (place.equals("count")) {
                statement.setInt(position++, rows.size());
            } else if (place.equals("shared")) {
                BinaryParameter.bind(statement, position++, part.shared, Element.JSONB);
            } else {
                BinaryParameter.bindTime(statement, position++, place.equals("now") ? moment.now : moment.clock);
            }
        }
        return position;
    }
}
