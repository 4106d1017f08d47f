package io.keelson.client;

import io.keelson.api.work.ToolVersions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Versions of workers, and the rules that give them the steps of tools. Methods throw {@link KeelsonException}, see {@link Api}. */
public final class Versions {

    private final Api api;

    Versions(Api api) {
        this.api = api;
    }

    /** The tools with a rule, and tools whose workers announce versions, by name. */
    public List<ToolVersions> list() {
        return Page.all(cursor -> Page.of(api.get(RequestPath.of("/versions").with("cursor", cursor).toString()),
                ToolVersions.class));
    }

    /** The versions of workers that serve a tool. */
    public ToolVersions get(String tool) {
        return versions(Call.get(RequestPath.of("/versions/", tool)));
    }

    /**
     * Makes a version current. {@link #rollback} returns to the current version of before.
     *
     * @param version as workers announce it; {@code unversioned} for workers without a version
     * @param behavior {@code pinned} or {@code latest}; null leaves it unchanged
     */
    public ToolVersions promote(String tool, String version, @Nullable String behavior) {
        return promote(tool, body(version, behavior));
    }

    /**
     * Gives a part of the runs to a version.
     *
     * @param percent 1 to 100
     * @param behavior {@code pinned} or {@code latest}; null leaves it unchanged
     */
    public ToolVersions ramp(String tool, String version, int percent, @Nullable String behavior) {
        return promote(tool, body(version, behavior).put("percent", percent));
    }

    private static ObjectNode body(String version, @Nullable String behavior) {
        ObjectNode body = Json.object().put("version", version);
        if (behavior != null) {
            body.put("behavior", behavior);
        }
        return body;
    }

    private ToolVersions promote(String tool, ObjectNode body) {
        return versions(Call.post(RequestPath.of("/versions/", tool, "/promote"), body).repeatable());
    }

    /** Ends the ramp; without one makes the version before the current one current again. */
    public ToolVersions rollback(String tool) {
        return versions(Call.post(RequestPath.of("/versions/", tool, "/rollback"), Json.object()).keyed(null));
    }

    /** Removes the rule of a tool: any worker gets its steps. */
    public void clear(String tool) {
        api.send(Call.of("DELETE", RequestPath.of("/versions/", tool), null));
    }

    private ToolVersions versions(Call call) {
        return Json.document(api.send(call).body(), ToolVersions.class);
    }
}
