package io.keelson.server.engine.store.sql;

import io.keelson.server.base.json.Json;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Rows as documents: a column's label is the member's name, its type says how the value is written. Times are RFC 3339
 * UTC with milliseconds, null is null.
 */
public final class JsonRows {
    private JsonRows() {}

    public static List<ObjectNode> list(PreparedStatement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            List<ObjectNode> found = new ArrayList<>();
            while (rows.next()) {
                found.add(object(rows));
            }
            return found;
        }
    }

    public static Optional<ObjectNode> first(PreparedStatement statement) throws SQLException {
        return list(statement).stream().findFirst();
    }

    public static ObjectNode object(ResultSet row) throws SQLException {
        ResultSetMetaData columns = row.getMetaData();
        ObjectNode object = Json.object();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            set(object, columns.getColumnLabel(i), columns.getColumnTypeName(i), row, i);
        }
        return object;
    }

    private static void set(ObjectNode object, String name, String type, ResultSet row, int i) throws SQLException {
        if (row.getObject(i) == null) {
            object.putNull(name);
            return;
        }
        switch (type) {
            case "int2", "int4" -> object.put(name, row.getInt(i));
            case "int8", "bigserial" -> object.put(name, row.getLong(i));
            case "numeric" -> object.put(name, row.getBigDecimal(i));
            case "float8" -> object.put(name, row.getDouble(i));
            case "bool" -> object.put(name, row.getBoolean(i));
            case "jsonb", "json" -> object.set(name, Json.read(row.getString(i)));
            case "timestamptz" -> object.put(name, Json.time(row.getObject(i, OffsetDateTime.class).toInstant()));
            case "_text" -> strings(object.putArray(name), row.getArray(i));
            default -> object.put(name, row.getString(i));
        }
    }

    private static void strings(ArrayNode into, Array array) throws SQLException {
        for (Object each : (Object[]) array.getArray()) {
            into.add(String.valueOf(each));
        }
    }
}
