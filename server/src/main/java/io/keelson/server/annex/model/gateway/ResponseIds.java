package io.keelson.server.annex.model.gateway;

import io.keelson.server.engine.store.read.GatewayRecords;
import io.keelson.server.engine.store.read.GatewayRecords.Recorded;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The ids of recorded responses (of OpenAI's API) and their items, by which later requests of a lease refer to them. A record is read only
 * when a request refers to it. Thread-safe.
 */
final class ResponseIds {
    private final Map<String, UUID> records = new HashMap<>();

    /** An answer is recorded. */
    synchronized void add(JsonNode document, UUID record) {
        add(document.path("id").asString(""), record);
        document.path("output").forEach(item -> add(item.path("id").asString(""), record));
    }

    private void add(String id, UUID record) {
        if (!id.isEmpty()) {
            records.put(id, record);
        }
    }

    private synchronized @Nullable UUID record(String id) {
        return records.get(id);
    }

    private synchronized void addAll(List<GatewayRecords.Ids> recorded) {
        recorded.forEach(each -> each.ids().forEach(id -> add(id, each.record())));
    }

    /**
     * Finds records for one request, which may refer to answers that other servers have recorded.
     *
     * @param steps that have the records
     */
    EarlierResponses.Lookup lookup(GatewayRecords from, List<UUID> steps) {
        return new EarlierResponses.Lookup() {
            private boolean fresh;

            @Override
            public @Nullable Recorded of(String id) {
                if (record(id) == null && !fresh) {
                    addAll(from.responseIds(steps));
                    fresh = true;
                }
                UUID record = record(id);
                return record == null ? null : from.response(record).orElse(null);
            }
        };
    }
}
