package io.keelson.server.engine.store.read;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How queries read JSON values that may be long: whole, omitted, or only their size and beginning. */
final class ValueSql {
    /** Lists omit longer values; the reads of single tasks and steps have them. */
    private static final int MAX_LIST_TEXT = 16_384;

    /** Length of the beginning of a value in a light row. */
    private static final int LIGHT_CHARACTERS = 1_024;

    private ValueSql() {}

    /** Null for a value that is too long. */
    static String listed(String value, String label) {
        return "case when octet_length(%1$s::text) <= %2$d then %1$s end as %3$s".formatted(value, MAX_LIST_TEXT,
                label);
    }

    /** The member's name where {@link #listed} omitted its value, else null. */
    static String leftOut(String value, String label) {
        return "case when octet_length(%1$s::text) > %2$d then '%3$s' end".formatted(value, MAX_LIST_TEXT, label);
    }

    /** Size and beginning of a value instead of the value. */
    static String light(String value, String label) {
        return "null::jsonb as %2$s, octet_length(%1$s::text) as %2$s_bytes, left(%1$s::text, %3$d) as %2$s_start"
                .formatted(value, label, LIGHT_CHARACTERS);
    }

    /** The names of the values that a light row leaves out. */
    static String omitted(String... values) {
        return Stream.of(values).map(each -> "case when %s is not null then '%s' end".formatted(each,
                each.substring(each.indexOf('.') + 1).replace("yield", "output")))
                .collect(Collectors.joining(", ", "array_remove(array[", "], null)::text[] as omitted"));
    }
}
