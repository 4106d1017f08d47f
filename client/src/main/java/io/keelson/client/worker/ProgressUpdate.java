package io.keelson.client.worker;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reports of a handler since the last heartbeat.
 *
 * @param progress the latest; null when there is nothing new
 * @param details the latest; null when there is nothing new
 * @param usage members of the use in all; null when there is nothing new
 */
record ProgressUpdate(@Nullable JsonNode progress, @Nullable JsonNode details, @Nullable ObjectNode usage,
        List<String> logs) {

    void addTo(ObjectNode item) {
        if (progress != null) {
            item.set("progress", progress);
        }
        if (details != null) {
            item.set("details", details);
        }
        if (usage != null) {
            item.setAll(usage);
        }
        if (!logs.isEmpty()) {
            logs.forEach(item.withArrayProperty("logs")::add);
        }
    }
}
