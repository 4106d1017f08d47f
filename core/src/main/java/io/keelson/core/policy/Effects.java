package io.keelson.core.policy;

import java.util.Locale;

/** The effects of a tool's calls on anything outside the run. A tool that says nothing is {@link #DESTRUCTIVE}. */
public enum Effects {
    /** Changes nothing: calls may be repeated, and made side by side. */
    READ,
    /** Changes something; a repetition under the same effect key changes nothing more. */
    IDEMPOTENT,
    /** Adds something with every call, and destroys nothing. */
    ONCE,
    /** Each call may change or delete what exists. */
    DESTRUCTIVE;

    /** True when a call whose outcome is unknown is not made again. */
    public boolean atMostOnce() {
        return this == ONCE || this == DESTRUCTIVE;
    }

    /** The name in JSON, for example {@code read}. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
