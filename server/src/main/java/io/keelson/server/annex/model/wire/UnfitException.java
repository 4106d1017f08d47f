package io.keelson.server.annex.model.wire;

/** A part of a program's request that the wire of its model does not have. */
public final class UnfitException extends Exception {
    private static final long serialVersionUID = 1L;

    /** @param part of the request, as its program may name it */
    UnfitException(String part) {
        super(part, null, false, false);
    }
}
