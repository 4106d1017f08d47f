package io.keelson.server.tenant.auth;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * The text of an API key: {@code kl_}, 256 random bits, and a checksum over both that tells a mistyped or cut key from
 * an unknown one and lets scanners find leaked keys. Digits and lower-case letters, so a double click selects it all.
 */
public final class ApiKeyFormat {

    private static final String PREFIX = "kl_";
    private static final int RADIX = 36;
    private static final int RANDOM_BYTES = 32;
    private static final int RANDOM_DIGITS = 50;
    private static final int CHECK_DIGITS = 7;
    private static final int SHOWN = PREFIX.length() + 6;
    private static final Pattern FORM = Pattern.compile(PREFIX + "[0-9a-z]{" + (RANDOM_DIGITS + CHECK_DIGITS) + "}");
    private static final SecureRandom RANDOM = new SecureRandom();

    private ApiKeyFormat() {}

    /** A new one. */
    public static String generate() {
        byte[] bytes = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        String body = PREFIX + padded(new BigInteger(1, bytes), RANDOM_DIGITS);
        return body + checksum(body);
    }

    /** Whether it has a key's form and its checksum fits. */
    public static boolean wellFormed(String key) {
        if (!FORM.matcher(key).matches()) {
            return false;
        }
        int end = key.length() - CHECK_DIGITS;
        return checksum(key.substring(0, end)).equals(key.substring(end));
    }

    /** The key's beginning, for people to tell their keys apart; leaves over 200 bits unknown. */
    static String shown(String key) {
        return key.substring(0, SHOWN);
    }

    /** SHA-256, the only stored form. A fast hash is enough for a random key. */
    static byte[] hash(String key) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static String checksum(String body) {
        CRC32 crc = new CRC32();
        crc.update(body.getBytes(StandardCharsets.US_ASCII));
        return padded(BigInteger.valueOf(crc.getValue()), CHECK_DIGITS);
    }

    private static String padded(BigInteger number, int digits) {
        String text = number.toString(RADIX);
        return "0".repeat(digits - text.length()) + text;
    }
}
