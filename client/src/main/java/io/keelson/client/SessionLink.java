package io.keelson.client;

import java.time.Instant;

/**
 * A link with which one browser signs in, once.
 *
 * @param url the page that signs in with the code
 * @param expiresAt a minute after it was made
 */
public record SessionLink(String code, String url, Instant expiresAt) {

    /** Without the code. */
    @Override
    public String toString() {
        return "SessionLink[" + expiresAt + "]";
    }
}
