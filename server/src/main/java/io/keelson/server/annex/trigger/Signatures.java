package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the sender of an event has a secret of the trigger. All comparisons take the same time for any given value of
 * a header.
 */
final class Signatures {

    /** Header of the kind {@code secret} without another one. */
    static final String DEFAULT_HEADER = "X-Webhook-Secret";

    private static final String HMAC = "HmacSHA256";
    private static final String STANDARD_PREFIX = "whsec_";
    /** Minimum length of a key of Standard Webhooks, in bytes. */
    private static final int MIN_KEY = 16;
    private static final String BEARER = "bearer ";
    private static final String BASIC = "basic ";

    private Signatures() {}

    /**
     * A request as its sender sent it.
     *
     * @param header the value of a header; null if absent
     */
    record Request(Function<String, @Nullable String> header, byte[] body) {

        private String of(String name) {
            String value = header.apply(name);
            return value == null ? "" : value.strip();
        }
    }

    /**
     * Whether the request has the proof of the source's kind by one of the secrets.
     *
     * @param secrets values that are accepted
     */
    static boolean verify(Trigger.NewSource source, Collection<String> secrets, Request request, Instant now) {
        Duration tolerance = Duration.ofSeconds(source.toleranceSeconds());
        return switch (source.kind()) {
            case "standard" -> recent(request.of("webhook-timestamp"), now, tolerance)
                    && any(secrets, Signatures::standardKey, standardText(request),
                            Arrays.stream(request.of("webhook-signature").split(" "))
                                    .filter(each -> each.startsWith("v1,"))
                                    .map(each -> base64(each.substring(3))).toList());
            case "github" -> any(secrets, Signatures::bytes, request.body(),
                    List.of(hex(request.of("X-Hub-Signature-256"), "sha256=")));
            case "stripe" -> stripe(secrets, request, now, tolerance);
            case "slack" -> recent(request.of("X-Slack-Request-Timestamp"), now, tolerance)
                    && any(secrets, Signatures::bytes,
                            concatenation("v0:" + request.of("X-Slack-Request-Timestamp") + ":", request.body()),
                            List.of(hex(request.of("X-Slack-Signature"), "v0=")));
            case "secret" -> equalsAny(secrets, token(source, request));
            case "basic" -> basic(source, secrets, request.of("Authorization"));
            default -> false;
        };
    }

    private static byte[] standardText(Request request) {
        return concatenation(request.of("webhook-id") + "." + request.of("webhook-timestamp") + ".", request.body());
    }

    /** The decoded key; the text itself for a secret of another form, so that no secret gives a key that others can guess. */
    private static byte[] standardKey(String secret) {
        if (!secret.startsWith(STANDARD_PREFIX)) {
            return bytes(secret);
        }
        byte[] key = base64(secret.substring(STANDARD_PREFIX.length()));
        return key.length < MIN_KEY ? bytes(secret) : key;
    }

    private static boolean stripe(Collection<String> secrets, Request request, Instant now, Duration tolerance) {
        String time = "";
        List<byte[]> given = new ArrayList<>();
        for (String part : request.of("Stripe-Signature").split(",")) {
            String[] pair = part.strip().split("=", 2);
            if (pair.length == 2 && pair[0].equals("t")) {
                time = pair[1];
            } else if (pair.length == 2 && pair[0].equals("v1")) {
                given.add(hex(pair[1], ""));
            }
        }
        return recent(time, now, tolerance)
                && any(secrets, Signatures::bytes, concatenation(time + ".", request.body()), given);
    }

    private static String token(Trigger.NewSource source, Request request) {
        String name = source.header() == null ? DEFAULT_HEADER : source.header();
        String value = request.of(name);
        boolean bearer = name.equalsIgnoreCase("Authorization")
                && value.regionMatches(true, 0, BEARER, 0, BEARER.length());
        return bearer ? value.substring(BEARER.length()).strip() : value;
    }

    private static boolean basic(Trigger.NewSource source, Collection<String> secrets, String value) {
        if (!value.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return false;
        }
        String given = new String(base64(value.substring(BASIC.length()).strip()), StandardCharsets.UTF_8);
        return equalsAny(secrets.stream().map(secret -> source.user() + ":" + secret).toList(), given);
    }

    /** A time in seconds since 1970 that differs from now by the tolerance at most. */
    private static boolean recent(String seconds, Instant now, Duration tolerance) {
        return seconds.matches("\\d{1,12}")
                && Duration.between(Instant.ofEpochSecond(Long.parseLong(seconds)), now).abs()
                        .compareTo(tolerance) <= 0;
    }

    private interface Key {
        byte[] of(String secret);
    }

    private static boolean any(Collection<String> secrets, Key key, byte[] text, List<byte[]> given) {
        boolean found = false;
        for (String secret : secrets) {
            byte[] expected = hmac(key.of(secret), text);
            for (byte[] each : given) {
                found |= MessageDigest.isEqual(expected, each);
            }
        }
        return found;
    }

    /** Compares digests, so that the time does not depend on the length of a secret. */
    private static boolean equalsAny(Collection<String> secrets, String given) {
        byte[] key = bytes("compare");
        byte[] found = hmac(key, bytes(given));
        boolean equal = false;
        for (String secret : secrets) {
            equal |= MessageDigest.isEqual(hmac(key, bytes(secret)), found);
        }
        return equal;
    }

    private static byte[] hmac(byte[] key, byte[] text) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key, HMAC));
            return mac.doFinal(text);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }

    private static byte[] concatenation(String prefix, byte[] body) {
        byte[] before = bytes(prefix);
        byte[] all = Arrays.copyOf(before, before.length + body.length);
        System.arraycopy(body, 0, all, before.length, body.length);
        return all;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** One byte, which equals no digest, for a text that is not Base64. */
    private static byte[] base64(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            return new byte[1];
        }
    }

    /** One byte, which equals no digest, for another text. */
    private static byte[] hex(String text, String prefix) {
        try {
            return text.startsWith(prefix) ? HexFormat.of().parseHex(text.substring(prefix.length())) : new byte[1];
        } catch (IllegalArgumentException e) {
            return new byte[1];
        }
    }
}
