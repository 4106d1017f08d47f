package io.keelson.server.base.db;

import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Types of parameters and columns: how a value is given to the driver and read from it. */
enum SqlType {
    TEXT(Types.VARCHAR), UUID(Types.OTHER), TIME(Types.TIMESTAMP_WITH_TIMEZONE), INT(Types.INTEGER), LONG(Types.BIGINT),
    BOOLEAN(Types.BOOLEAN), NUMERIC(Types.NUMERIC), BYTES(Types.BINARY), TEXTS(Types.ARRAY), UUIDS(Types.ARRAY),
    LONGS(Types.ARRAY),
    /** A JSON node, bound as a text that the statement casts. */
    JSON(Types.VARCHAR),
    /** A duration in whole seconds. */
    SECONDS(Types.INTEGER);

    private final int jdbc;

    SqlType(int jdbc) {
        this.jdbc = jdbc;
    }

    void bind(PreparedStatement s, int position, @Nullable Object value) throws SQLException {
        if (value == null) {
            s.setNull(position, jdbc);
            return;
        }
        switch (this) {
            case TEXT, JSON -> s.setString(position, value.toString());
            case UUID -> s.setObject(position, value);
            case TIME -> s.setObject(position, ((Instant) value).atOffset(ZoneOffset.UTC));
            case INT -> s.setInt(position, (Integer) value);
            case LONG -> s.setLong(position, (Long) value);
            case BOOLEAN -> s.setBoolean(position, (Boolean) value);
            case NUMERIC -> s.setBigDecimal(position, (BigDecimal) value);
            case BYTES -> s.setBytes(position, (byte[]) value);
            case TEXTS -> array(s, position, "text", value);
            case UUIDS -> array(s, position, "uuid", value);
            case LONGS -> array(s, position, "bigint", value);
            case SECONDS -> s.setInt(position, Math.toIntExact(((Duration) value).toSeconds()));
        }
    }

    private static void array(PreparedStatement s, int position, String type, Object values) throws SQLException {
        s.setArray(position, s.getConnection().createArrayOf(type, ((Collection<?>) values).toArray()));
    }

    @Nullable Object read(ResultSet row, String column) throws SQLException {
        Object value = switch (this) {
            case TEXT -> row.getString(column);
            case UUID -> row.getObject(column, java.util.UUID.class);
            case TIME -> Rows.optionalTime(row, column);
            case INT -> row.getInt(column);
            case LONG -> row.getLong(column);
            case BOOLEAN -> row.getBoolean(column);
            case NUMERIC -> row.getBigDecimal(column);
            case BYTES -> row.getBytes(column);
            case TEXTS, UUIDS, LONGS -> Rows.optionalList(row, column, Object[].class);
            case JSON -> row.getString(column) instanceof String text ? Json.read(text) : null;
            case SECONDS -> Duration.ofSeconds(row.getLong(column));
        };
        return row.wasNull() ? null : value;
    }
}
