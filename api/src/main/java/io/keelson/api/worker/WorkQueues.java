package io.keelson.api.worker;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Queues of a RabbitMQ broker. A message announces ready work: its body is a {@link Claim.Item} as JSON, its id the item. Servers and
 * workers declare the queues with the same arguments. Quorum queues of RabbitMQ 3 have no priorities, so each class of priorities has
 * a queue.
 */
public final class WorkQueues {

    /** Classes of priorities, in the order in which workers take their messages. */
    public static final List<String> CLASSES = List.of("high_priority", "normal");

    /** Messages that cannot be read, or whose delivery failed too often. */
    public static final String DEAD = "runs.dead";

    /** Priority numbers below it are of the first class; missions have this one by default. */
    private static final int NORMAL = 100;
    /** Names of queues have at most 255 bytes. */
    private static final int MAX_TOOL_BYTES = 180;

    private WorkQueues() {}

    /** The queue of a tool's work. */
    public static String name(UUID workspace, String tool, int priority) {
        return name(workspace, tool, CLASSES.get(priority < NORMAL ? 0 : 1));
    }

    /** The queue of a tool's work, by the name of its class. */
    public static String name(UUID workspace, String tool, String priorities) {
        byte[] bytes = tool.getBytes(StandardCharsets.UTF_8);
        return "runs." + priorities + "." + workspace + "." + (bytes.length <= MAX_TOOL_BYTES ? tool : digest(bytes));
    }

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Arguments of the queues of work. A policy of the broker may set a lower {@code max-length}. */
    public static Map<String, Object> arguments() {
        return Map.of("x-queue-type", "quorum", "x-max-length", 100_000, "x-overflow", "reject-publish",
                "x-delivery-limit", 20, "x-dead-letter-exchange", "", "x-dead-letter-routing-key", DEAD);
    }

    /** Arguments of the queue {@link #DEAD}, which drops its oldest messages. */
    public static Map<String, Object> argumentsOfDead() {
        return Map.of("x-queue-type", "quorum", "x-max-length", 10_000);
    }
}
