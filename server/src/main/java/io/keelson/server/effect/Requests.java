package io.keelson.server.effect;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Hashes requests so that equal ones match, regardless of the order of members and the notation of numbers. */
final class Requests {

    private Requests() {}

    static String hash(ObjectNode payload, @Nullable UUID target) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update((target + "\n").getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding()
                    .encodeToString(digest.digest(canonical(payload).toString().getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static JsonNode canonical(JsonNode node) {
        if (node.isObject()) {
            TreeMap<String, JsonNode> members = new TreeMap<>();
            node.properties().forEach(each -> members.put(each.getKey(), canonical(each.getValue())));
            ObjectNode sorted = JsonNodeFactory.instance.objectNode();
            members.forEach(sorted::set);
            return sorted;
        }
        if (node.isArray()) {
            ArrayNode items = JsonNodeFactory.instance.arrayNode();
            node.values().forEach(each -> items.add(canonical(each)));
            return items;
        }
        return node.isNumber() ? DecimalNode.valueOf(node.decimalValue().stripTrailingZeros()) : node;
    }
}
