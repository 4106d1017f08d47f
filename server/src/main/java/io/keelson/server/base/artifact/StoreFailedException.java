package io.keelson.server.base.artifact;

import java.io.IOException;

/** The store failed. The message is for tenants: it does not contain the store's own text, which can name buckets, hosts and folders. */
public final class StoreFailedException extends IOException {

    private static final long serialVersionUID = 1L;

    /** @param cause was logged */
    public StoreFailedException(Throwable cause) {
        super("the artifact store does not respond or refuses the request; the log of the server has the reason",
                cause);
    }
}
