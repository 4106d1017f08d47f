package io.keelson.server.tenant.auth;

/**
 * A new key.
 *
 * @param text the key, which cannot be read again
 */
public record IssuedKey(KeyRow row, String text) {

    /** Without the key. */
    @Override
    public String toString() {
        return "IssuedKey[" + row + "]";
    }
}
