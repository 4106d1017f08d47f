package io.keelson.server.http;

import io.keelson.server.plan.Mission;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The header {@code Idempotency-Key} of {@code POST /runs}: the run's id follows from workspace and key, so that a
 * repeated request meets the run that the first one made.
 */
final class IdempotencyKey {

    private static final String HEADER = "Idempotency-Key";
    private static final int MAX_LENGTH = 255;
    private static final long VERSION_8 = 0x8000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    /** Numbers are the same whatever their notation: the database keeps values, not texts. */
    private static final Comparator<JsonNode> BY_VALUE = (a, b) -> a.isNumber() && b.isNumber()
            ? a.decimalValue().compareTo(b.decimalValue())
            : a.equals(b) ? 0 : 1;

    private IdempotencyKey() {}

    /** Null where the request bears none. */
    static @Nullable String of(Call call) {
        String key = call.header(HEADER);
        if (key != null && (key.isBlank() || key.length() > MAX_LENGTH)) {
            throw Refusal.of(ErrorCode.INVALID_PARAMETER, HEADER + " must have 1 to " + MAX_LENGTH + " characters")
                    .with("parameter", HEADER);
        }
        return key;
    }

    static UUID runId(UUID workspace, String key) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            ByteBuffer hash = ByteBuffer
                    .wrap(digest.digest(("runs " + workspace + " " + key).getBytes(StandardCharsets.UTF_8)));
            long high = hash.getLong() & ~0xF000L | VERSION_8;
            long low = hash.getLong() & ~(0b11L << 62) | VARIANT;
            return new UUID(high, low);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    static boolean sameMission(ObjectNode run, Mission mission) {
        return run.path("name").asString("").equals(mission.name())
                && run.path("goal").asString("").equals(mission.goal())
                && run.path("plan").equals(BY_VALUE, mission.planJson())
                && run.path("inputs").equals(BY_VALUE, mission.input())
                && run.path("config").equals(BY_VALUE, mission.config())
                && run.path("priority").asInt(0) == mission.priority()
                && run.path("tags").values().stream().map(JsonNode::asString).toList().equals(mission.tags());
    }
}
