package io.keelson.client.worker;

import java.util.Locale;

/** The effects of a tool's calls on anything outside the run. */
public enum Effects {
    /** Changes nothing. */
    READ,
    /** Changes something; a repetition under the same effect key changes nothing more. */
    IDEMPOTENT,
    /** Adds something with every call, and destroys nothing. */
    ONCE,
    /** Each call may change or delete what exists. */
    DESTRUCTIVE;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
