package io.keelson.server.base.artifact;

import java.io.IOException;

/** The store has no memory for the content at the moment; nothing was stored. */
public final class StoreBusyException extends IOException {

    private static final long serialVersionUID = 1L;

    public StoreBusyException(String message) {
        super(message);
    }
}
