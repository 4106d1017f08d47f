package io.keelson.api.tenant;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The caller of a request, and the server.
 *
 * @param workspace workspace of the API key
 * @param key the API key
 * @param session session of the request; null for a request with the API key itself
 * @param scopes scopes of the request
 * @param now time of the database, in milliseconds since 1970
 * @param version version of the server
 * @param features parts that depend on the settings of the server: dashboard (it serves one), models (it calls some)
 */
public record WhoAmI(Workspace workspace, ApiKey key, @Nullable Session session, List<@Ref("Scope") String> scopes,
        long now, String version, List<@OneOf({
                "dashboard", "models"}) String> features) {

    public WhoAmI {
        scopes = Absent.asEmpty(scopes);
        features = Absent.asEmpty(features);
    }

    /**
     * The workspace of a caller.
     *
     * @param id id of the resource
     * @param name name for people
     */
    public record Workspace(@Id String id, String name) {}
}
