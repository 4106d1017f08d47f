package io.keelson.server.annex.mcp.endpoint;

import tools.jackson.databind.node.ObjectNode;

/** How long a client may keep a result. All results depend on the key, so none is for others. */
final class Caching {
    /** In milliseconds. */
    static final int MINUTE = 60_000;
    static final int NONE = 0;

    private Caching() {}

    /** Adds the hint; revisions before it ignore it. */
    static ObjectNode hint(ObjectNode result, int millis) {
        return result.put("ttlMs", millis).put("cacheScope", "private");
    }
}
