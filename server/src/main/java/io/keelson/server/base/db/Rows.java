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
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows read into values. */
public final class Rows {

    /** Creates a value from the result's current row. */
    @FunctionalInterface
    public interface Reader<T> {

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

    /**
     * The one of that id, if it is the workspace's.
     *
     * @param sql with places for the workspace and the id
     */
    public static <T> Optional<T> ofWorkspace(Connection c, String sql, UUID workspace, UUID id, Reader<T> reader)
            throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            s.setObject(1, workspace);
            s.setObject(2, id);
            return all(s, reader).stream().findFirst();
        }
    }

    /**
     * A {@link #page} of what a workspace has under names.
     *
     * @param sql with places for the workspace, twice the name, twice the name before, and the number of rows
     * @param name only that one; null for all
     * @param after the last name of the page before; null for the first
     */
    public static <T> Page<T> byName(Connection c, String sql, UUID workspace, @Nullable String name,
            @Nullable String after, int limit, Reader<T> reader) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            s.setObject(1, workspace);
            s.setString(2, name);
            s.setString(3, name);
            s.setString(4, after);
            s.setString(5, after);
            s.setInt(6, limit + 1);
            return page(s, limit, reader);
        }
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
