package io.keelson.server.api.http.support;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Entity tags: a hash over the bytes that would be sent. Of what clients can change, the tag begins with a version and a
 * point; only the version counts for {@code If-Match}, because counters and times of use change without an editor.
 */
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

    /** The version of a resource that was last changed at that time. */
    public static String version(Instant changed) {
        return Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, changed));
    }

    /** The tag of a version of a resource whose bytes have that hash. */
    static String of(String version, byte[] bytes) {
        String hash = of(bytes);
        return '"' + version + '.' + hash.substring(1);
    }

    /** Whether the header {@code If-Match} names the version (RFC 9110 §13.1.1); also where there is no such header. */
    static boolean ofVersion(@Nullable String header, String version) {
        return header == null || Arrays.stream(header.split(",")).map(String::strip)
                .anyMatch(given -> given.equals("*") || given.replaceFirst("^W/", "").startsWith('"' + version + '.'));
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
