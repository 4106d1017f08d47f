package io.keelson.server.engine.store.sql;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.sql.Column.Element;
import io.keelson.server.engine.store.sql.Column.RowArray;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TypeInfo;
import org.postgresql.jdbc.PgConnection;
import org.postgresql.util.PGBinaryObject;
import org.postgresql.util.PGobject;

/**
 * A parameter in PostgreSQL's binary format: an array of a plain type or of a row type, or a single value. As text,
 * writing and parsing arrays took a sixth of the database's time; one array of rows costs a tenth of one array per
 * column (docs/adr/0011).
 */
public final class BinaryParameter extends PGobject implements PGBinaryObject {
    private static final long serialVersionUID = 1L;
    private static final int BYTES_PER_ROW = 256;

    private final transient BinaryOut out;
    /** Its beginning in {@link #out}, at whose end it ends. */
    private final int start;

    private BinaryParameter(String type, BinaryOut out, int start) {
        setType(type);
        this.out = out;
        this.start = start;
    }

    private BinaryParameter(String elementType, int elementOid, int count, int capacity) {
        this("_" + elementType, new BinaryOut(20 + capacity), 0);
        out.arrayOf(elementOid, count);
    }

    public static void bind(PreparedStatement statement, int position, Collection<?> values, Element type)
            throws SQLException {
        BinaryParameter array = new BinaryParameter(type.sql(), type.oid(), values.size(), values.size() * 20);
        values.forEach(value -> array.out.value(type, value));
        array.bind(statement, position);
    }

    public static void bindIds(PreparedStatement statement, int position, Collection<UUID> ids) throws SQLException {
        bind(statement, position, ids, Element.UUID);
    }

    public static void bindTexts(PreparedStatement statement, int position, Collection<String> texts)
            throws SQLException {
        bind(statement, position, texts, Element.TEXT);
    }

    /** Binds rows of a row type whose attributes are the columns, in their order. */
    static <T> void bind(PreparedStatement statement, int position, String rowType, List<Column<T>> columns,
            Collection<? extends T> rows) throws SQLException {
        TypeInfo types = statement.getConnection().unwrap(PgConnection.class).getTypeInfo();
        BinaryParameter array = new BinaryParameter(rowType, types.getPGType(rowType), rows.size(),
                rows.size() * BYTES_PER_ROW);
        for (T row : rows) {
            array.row(columns, row, types);
        }
        array.bind(statement, position);
    }

    /** Binds the rows within a row as a parameter of its own. */
    private static <T, S> void bindRows(PreparedStatement statement, int position, RowArray<T, S> rows, T row)
            throws SQLException {
        bind(statement, position, rows.rowType(), rows.columns(), rows.of().apply(row));
    }

    /** Binds the columns of one row, the first at that position; returns the position after the last. */
    static <T> int bindRow(PreparedStatement statement, int first, List<Column<T>> columns, T row) throws SQLException {
        int position = first;
        for (Column<T> column : columns) {
            if (column.rows() == null) {
                bindValue(statement, position, column.type(), column.value().apply(row));
            } else {
                bindRows(statement, position, column.rows(), row);
            }
            position++;
        }
        return position;
    }

    /** Binds the one parameter of {@link DbClock#SQL}. */
    static void bindTime(PreparedStatement statement, int position, @Nullable Instant time) throws SQLException {
        bindValue(statement, position, Element.TIMESTAMPTZ, time);
    }

    /** Names the type of a null, too: the driver prepares a statement again for a parameter of another type. */
    private static void bindValue(PreparedStatement statement, int position, Element type, @Nullable Object value)
            throws SQLException {
        if (value == null) {
            statement.setNull(position, Types.OTHER, type.sql());
        } else if (type == Element.TEXT) {
            PGobject text = new PGobject(); // not in binary: the driver takes an empty binary value for a null
            text.setType(type.sql());
            text.setValue((String) value);
            statement.setObject(position, text);
        } else {
            BinaryOut out = new BinaryOut(Integer.BYTES + Long.BYTES);
            out.value(type, value);
            new BinaryParameter(type.sql(), out, Integer.BYTES).bind(statement, position);
        }
    }

    /** A row as an element: with its length before it. */
    private <T> void row(List<Column<T>> columns, T row, TypeInfo types) throws SQLException {
        int beginning = out.sized();
        out.int4(columns.size());
        for (Column<T> column : columns) {
            if (column.rows() == null) {
                out.int4(column.type().oid());
                @Nullable Object value = column.value().apply(row);
                out.value(column.type(), value);
            } else {
                rows(column.rows(), row, types);
            }
        }
        out.endSized(beginning);
    }

    /** Rows within a row, as a field. */
    private <T, S> void rows(RowArray<T, S> rows, T row, TypeInfo types) throws SQLException {
        out.int4(types.getPGType("_" + rows.rowType()));
        Collection<S> inner = rows.of().apply(row);
        int beginning = out.sized();
        out.arrayOf(types.getPGType(rows.rowType()), inner.size());
        for (S each : inner) {
            row(rows.columns(), each, types);
        }
        out.endSized(beginning);
    }

    private void bind(PreparedStatement statement, int position) throws SQLException {
        Connection connection = statement.getConnection();
        PgConnection own = connection.unwrap(PgConnection.class);
        int oid = own.getTypeInfo().getPGType(getType());
        if (!own.binaryTransferSend(oid)) {
            own.getQueryExecutor().addBinarySendOid(oid);
        }
        statement.setObject(position, this);
    }

    @Override
    public int lengthInBytes() {
        return out.size() - start;
    }

    @Override
    public void toBytes(byte[] into, int offset) {
        out.copyTo(start, into, offset);
    }

    @Override
    public void setByteValue(byte[] value, int offset) {
        throw new UnsupportedOperationException("written, never read");
    }
}
