package io.keelson.server.engine.store.read;

/** The values of runs, tasks and steps that a read returns: inputs, outputs, plans. */
public enum Detail {
    /** All values; lists omit long ones. */
    WHOLE,
    /** Size and beginning of each value. */
    LIGHT,
    /** No values. For runs only. */
    WITHOUT_VALUES;

    public static Detail of(boolean light) {
        return light ? LIGHT : WHOLE;
    }
}
