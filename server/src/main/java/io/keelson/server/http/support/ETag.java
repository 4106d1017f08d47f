package io.keelson.server.http.support;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Entity tags: a hash over the bytes that would be sent. */
public final class ETag {

    private static final int BYTES = 16;

    private ETag() {}

    static String of(byte[] bytes) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
            return of(Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, BYTES)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    public static String of(String hash) {
        return '"' + hash + '"';
    }

    /** Whether the header {@code If-None-Match} names the tag (RFC 9110 §13.1.2, weak comparison). */
    public static boolean matches(@Nullable String header, String tag) {
        if (header == null) {
            return false;
        }
        return Arrays.stream(header.split(",")).map(String::strip)
                .anyMatch(given -> given.equals("*") || given.equals(tag) || given.equals("W/" + tag));
    }
}
