package io.keelson.server.annex.model.wire;

import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.OutsideJson;
import tools.jackson.databind.JsonNode;

/** Takes memory for the document of a stream as it grows, from the share of this thread's work. */
final class StreamMemory {
    /** Memory of a stream's document before it is counted. */
    private static final int UNCOUNTED = 1 << 20;
    /** Most memory of an event's tree, by its bytes. */
    private static final int EVENT_TREE = 40;

    private final StreamedDocument document;
    private long kept;
    private long added;

    StreamMemory(StreamedDocument document) {
        this.document = document;
    }

    /**
     * The document has taken an event.
     *
     * @throws DocumentMemory.FullException when there is no memory for the document
     */
    void add(int bytes) {
        added += bytes;
        JsonNode grown = added > Math.max(kept, UNCOUNTED) / EVENT_TREE ? document.document() : null;
        if (grown != null) {
            kept = OutsideJson.reserveGrown(grown, kept);
            added = 0;
        }
    }
}
