package io.keelson.core.sim;

/** Something that must never be so, is so. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(String message) {
        super(message);
    }

    static void unless(boolean holds, String what, Object... details) {
        if (!holds) {
            throw new Violation(what.formatted(details));
        }
    }
}
