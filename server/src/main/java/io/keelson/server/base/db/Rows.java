package io.keelson.server.base.db;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows read into values. */
public final class Rows {

    /** Creates a value from the result's current row. */
    @FunctionalInterface
    public interface Reader<T extends @Nullable Object> {

        T read(ResultSet row) throws SQLException;
    }

    /** Bytes of rows after which a page ends. */
    private static final int MAX_PAGE_BYTES = 4 << 20;

    /** Rows that the driver holds at a time: a page of large rows ends before the others are fetched. */
    private static final int FETCHED_ROWS = 16;

    private Rows() {}

    /** All rows of the query, in order. */
    public static <T> List<T> all(PreparedStatement query, Reader<T> reader) throws SQLException {
        List<T> found = new ArrayList<>();
        try (ResultSet row = query.executeQuery()) {
            while (row.next()) {
                found.add(reader.read(row));
            }
        }
        return found;
    }

    /**
     * The first rows of the query, in order: {@code limit}, or fewer when they are large. A page ends with the row that
     * completes 4 MiB, so it has at least one.
     *
     * @param query reads one row more than {@code limit}, and does not change rows
     * @param limit at least 1
     */
    public static <T> Page<T> page(PreparedStatement query, int limit, Reader<T> reader) throws SQLException {
        Connection c = query.getConnection();
        boolean commits = c.getAutoCommit();
        c.setAutoCommit(false);
        query.setFetchSize(FETCHED_ROWS);
        List<T> items = new ArrayList<>();
        boolean more = false;
        try (ResultSet row = query.executeQuery()) {
            long size = 0;
            while (!more && row.next()) {
                more = items.size() == limit || size >= MAX_PAGE_BYTES;
                if (!more) {
                    size += size(row);
                    items.add(reader.read(row));
                }
            }
        }
        c.setAutoCommit(commits);
        return new Page<>(items, more);
    }

    private static long size(ResultSet row) throws SQLException {
        long size = 0;
        for (int i = row.getMetaData().getColumnCount(); i > 0; i--) {
            byte[] value = row.getBytes(i);
            size += value == null ? 0 : value.length;
        }
        return size;
    }

    /** A time that is always there. */
    public static Instant time(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    /** A time that may be missing. */
    public static @Nullable Instant optionalTime(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    /** An array that is always there. */
    public static <T> List<T> list(ResultSet row, String column, Class<T[]> type) throws SQLException {
        return List.of(type.cast(row.getArray(column).getArray()));
    }

    /** An array that may be missing. */
    public static <T> @Nullable List<T> optionalList(ResultSet row, String column, Class<T[]> type)
            throws SQLException {
        Array array = row.getArray(column);
        return array == null ? null : List.of(type.cast(array.getArray()));
    }
}
