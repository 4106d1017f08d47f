package io.keelson.server.base.artifact;

import java.io.IOException;

/** Content that differs from the content that was stored. */
public final class ContentDamagedException extends IOException {

    private static final long serialVersionUID = 1L;

    public ContentDamagedException(String expected, String actual) {
        super("the content has the SHA-256 " + actual + " instead of " + expected);
    }
}
