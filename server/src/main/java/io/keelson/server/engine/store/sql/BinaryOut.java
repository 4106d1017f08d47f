package io.keelson.server.engine.store.sql;

import io.keelson.server.engine.store.sql.Column.Element;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.ByteConverter;

/** Values in PostgreSQL's binary format, one after the other. */
final class BinaryOut {
    private static final int NULL = -1;
    private static final byte JSONB_VERSION = 1;
    private static final long SECONDS_TO_2000 = 946_684_800;

    private byte[] bytes;
    private int size;

    BinaryOut(int capacity) {
        bytes = new byte[capacity];
    }

    int size() {
        return size;
    }

    /** Copies all from that position. */
    void copyTo(int from, byte[] into, int offset) {
        System.arraycopy(bytes, from, into, offset, size - from);
    }

    /** A value with its length before it, as elements and fields are sent. */
    void value(Element type, @Nullable Object value) {
        if (value == null) {
            int4(NULL);
            return;
        }
        switch (type) {
            case UUID -> {
                int4(16);
                int8(((UUID) value).getMostSignificantBits());
                int8(((UUID) value).getLeastSignificantBits());
            }
            case TEXT -> sized(((String) value).getBytes(StandardCharsets.UTF_8));
            case JSONB -> {
                byte[] text = ((String) value).getBytes(StandardCharsets.UTF_8);
                int4(text.length + 1);
                byte1(JSONB_VERSION);
                raw(text);
            }
            case INT4 -> {
                int4(4);
                int4((Integer) value);
            }
            case INT8 -> {
                int4(8);
                int8((Long) value);
            }
            case FLOAT8 -> {
                int4(8);
                int8(Double.doubleToLongBits((Double) value));
            }
            case NUMERIC -> sized(ByteConverter.numeric((BigDecimal) value));
            case BOOL -> {
                int4(1);
                byte1((byte) ((Boolean) value ? 1 : 0));
            }
            case TIMESTAMPTZ -> {
                int4(8);
                time((Instant) value);
            }
            case JSONBS -> {
                int beginning = sized();
                arrayOf(Element.JSONB.oid(), ((Collection<?>) value).size());
                ((Collection<?>) value).forEach(each -> value(Element.JSONB, each));
                endSized(beginning);
            }
            case ROWS -> throw new IllegalArgumentException("Rows are encoded by their columns");
        }
    }

    /** The header before the elements of an array. */
    void arrayOf(int elementOid, int count) {
        int4(count == 0 ? 0 : 1);
        int4(0);
        int4(elementOid);
        if (count > 0) {
            int4(count);
            int4(1);
        }
    }

    /** Leaves room for a length; returns its place. */
    int sized() {
        int place = size;
        int4(0);
        return place;
    }

    void endSized(int place) {
        int4At(place, size - place - Integer.BYTES);
    }

    /** A time without its length, in microseconds. */
    void time(Instant value) {
        int8((value.getEpochSecond() - SECONDS_TO_2000) * 1_000_000 + value.getNano() / 1_000);
    }

    void int4(int value) {
        room(4);
        ByteConverter.int4(bytes, size, value);
        size += 4;
    }

    private void int4At(int position, int value) {
        ByteConverter.int4(bytes, position, value);
    }

    private void int8(long value) {
        room(8);
        ByteConverter.int8(bytes, size, value);
        size += 8;
    }

    private void byte1(byte value) {
        room(1);
        bytes[size++] = value;
    }

    private void sized(byte[] value) {
        int4(value.length);
        raw(value);
    }

    private void raw(byte[] value) {
        room(value.length);
        System.arraycopy(value, 0, bytes, size, value.length);
        size += value.length;
    }

    private void room(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
        }
    }
}
