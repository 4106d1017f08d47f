package io.keelson.server.annex.effect;

import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Hashes requests so that equal ones match, regardless of the order of members and the notation of numbers. */
final class Requests {

    private Requests() {}

    static String hash(ObjectNode payload, @Nullable UUID target) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update((target + "\n").getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding()
                    .encodeToString(digest.digest(Json.canonical(payload).toString().getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
