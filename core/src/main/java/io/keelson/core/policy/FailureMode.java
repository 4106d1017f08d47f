package io.keelson.core.policy;

import java.util.Locale;

/** How a task, an agent or a run reacts to a child that finally failed. */
public enum FailureMode {
    /** It fails, too; its other open children are cancelled, but for those at paid work. */
    FAIL_FAST,
    /** The child's failure is ignored: it stays failed, counts as skipped, and the others continue. */
    CONTINUE,
    /** The whole level starts from its beginning, a bounded number of times; the old records stay. */
    RETRY;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    /** The mode of that name; {@link IllegalArgumentException} when there is none. */
    public static FailureMode of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
