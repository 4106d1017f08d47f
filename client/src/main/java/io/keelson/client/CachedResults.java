package io.keelson.client;

import io.keelson.api.work.CachedResult;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Results that steps take over from other runs. Methods throw {@link KeelsonException}, see {@link Api}. */
public final class CachedResults {

    private final Api api;

    CachedResults(Api api) {
        this.api = api;
    }

    /**
     * The keys with a result, or with a step that computes it.
     *
     * @param tool null for all
     */
    public List<CachedResult> list(@Nullable String tool) {
        return Page.all(cursor -> Page.of(
                api.get(RequestPath.of("/cache").with("tool", tool).with("cursor", cursor).toString()),
                CachedResult.class));
    }

    /**
     * Lets no step take over present results.
     *
     * @param tool null for all
     * @param key the key's value; null for all
     * @return the number of keys
     */
    public int clear(@Nullable String tool, @Nullable Object key) {
        ObjectNode body = Json.object();
        if (tool != null) {
            body.put("tool", tool);
        }
        if (key != null) {
            body.set("key", Json.of(key));
        }
        return Json.document(api.send(Call.post("/cache/clear", body).repeatable()).body(), CachedResult.Cleared.class)
                .cleared();
    }
}
