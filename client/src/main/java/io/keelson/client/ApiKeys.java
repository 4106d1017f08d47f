package io.keelson.client;

import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.NewApiKey;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys of the workspace, for keys with the scope {@code admin}; other workspaces' keys, for keys with the scope
 * {@code operator}. Every method throws {@link KeelsonException} by the rules of {@link Api}.
 */
public final class ApiKeys {

    private final Api api;

    ApiKeys(Api api) {
        this.api = api;
    }

    /**
     * All of them, newest first.
     *
     * @param workspace its id; null for one's own
     */
    public List<ApiKey> list(@Nullable String workspace) {
        return Page.all(cursor -> Page.of(api.get(route(workspace).with("cursor", cursor).toString()), ApiKey.class));
    }

    /**
     * Creates a key; only this response contains it.
     *
     * @param workspace its id; null for one's own
     */
    public ApiKey create(@Nullable String workspace, NewApiKey request) {
        return Json.document(api.send(Call.post(route(workspace), Json.request(request))).body(), ApiKey.class);
    }

    /** Makes a key like another one of one's own workspace, which ends once the overlap is over. */
    public ApiKey rotate(String id, Duration overlap) {
        return rotate(null, id, overlap);
    }

    /**
     * Rotates a key of any workspace.
     *
     * @param workspace its id; null for one's own
     */
    public ApiKey rotate(@Nullable String workspace, String id, Duration overlap) {
        Call call =
                Call.post(route(workspace, id, "/rotate"), Json.object().put("overlap_seconds", overlap.toSeconds()));
        return Json.document(api.send(call).body(), ApiKey.class);
    }

    /** Ends a key of one's own workspace, on every server within 5 seconds. */
    public ApiKey revoke(String id) {
        return revoke(null, id);
    }

    /**
     * Revokes a key of any workspace.
     *
     * @param workspace its id; null for one's own
     */
    public ApiKey revoke(@Nullable String workspace, String id) {
        Call call = Call.post(route(workspace, id, "/revoke"), Json.object()).repeatable();
        return Json.document(api.send(call).body(), ApiKey.class);
    }

    private static RequestPath route(@Nullable String workspace, String id, String act) {
        return workspace == null ? RequestPath.of("/api-keys/", id, act)
                : RequestPath.of("/workspaces/", workspace, "/api-keys/", id, act);
    }

    private static RequestPath route(@Nullable String workspace) {
        return workspace == null ? RequestPath.of("/api-keys") : RequestPath.of("/workspaces/", workspace, "/api-keys");
    }
}
