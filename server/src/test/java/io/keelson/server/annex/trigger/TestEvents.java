package io.keelson.server.annex.trigger;

import io.keelson.server.api.http.ApiServer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Events as their senders sign them. */
final class TestEvents {

    static final String SECRET = "the secret of the hook";

    private TestEvents() {}

    static byte[] hmac(byte[] key, String text) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    }

    static String hex(String secret, String text) throws Exception {
        return HexFormat.of().formatHex(hmac(secret.getBytes(StandardCharsets.UTF_8), text));
    }

    static String base64(String secret, String text) throws Exception {
        return Base64.getEncoder().encodeToString(hmac(secret.getBytes(StandardCharsets.UTF_8), text));
    }

    /** Sends an event as GitHub does. */
    static ApiServer.Answer github(ApiServer api, String path, String id, String body) {
        try {
            return api.send("POST", path, body.getBytes(StandardCharsets.UTF_8), "Authorization", "", "Content-Type",
                    "application/json", "X-GitHub-Delivery", id, "X-Hub-Signature-256", "sha256=" + hex(SECRET, body));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
