package io.keelson.server.auth;

/**
 * A key that has just been made.
 *
 * @param text the key, which nobody can read again afterwards
 */
public record IssuedKey(KeyRow row, String text) {

    /** Without the key. */
    @Override
    public String toString() {
        return "IssuedKey[" + row + "]";
    }
}
