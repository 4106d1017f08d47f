package io.keelson.server.api.http.support;

import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import tools.jackson.core.JacksonException;

/**
 * A hash of a request: the same for all notations of one JSON document (order of members, white space,
 * notation of numbers). Any other body counts by its bytes.
 */
final class RequestHash {

    private RequestHash() {}

    static String of(ApiRequest request) throws IOException {
        byte[] bytes = request.body().bytes();
        return hash(request.queryText(), request.body().type().equals("application/json") ? canonical(bytes) : bytes);
    }

    private static byte[] canonical(byte[] bytes) {
        try {
            return Json.write(Json.canonical(OutsideJson.readStrict(bytes)));
        } catch (JacksonException e) {
            return bytes;
        }
    }

    private static String hash(String query, byte[] body) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(query.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(digest.digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
