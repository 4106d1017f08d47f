package io.keelson.server.outlet.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The signing secret of an endpoint's deliveries, in the form of Standard Webhooks: {@code whsec_} and Base64. */
final class SigningSecret {

    private static final String PREFIX = "whsec_";
    private static final int BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final String text;

    SigningSecret(String text) {
        this.text = text;
    }

    static SigningSecret fresh() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return new SigningSecret(PREFIX + Base64.getEncoder().encodeToString(bytes));
    }

    /** As shown to receivers. */
    String text() {
        return text;
    }

    /**
     * One of the values of the header {@code webhook-signature}.
     *
     * @param seconds since 1970, as in the header {@code webhook-timestamp}
     */
    String sign(String id, long seconds, String body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(Base64.getDecoder().decode(text.substring(PREFIX.length())), "HmacSHA256"));
            byte[] digest = mac.doFinal((id + "." + seconds + "." + body).getBytes(StandardCharsets.UTF_8));
            return "v1," + Base64.getEncoder().encodeToString(digest);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }

    @Override
    public String toString() {
        return "SigningSecret";
    }
}
