package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.SessionCookie;
import java.util.UUID;

/**
 * Addresses for people: pages of the dashboard, or resources of the API where there is none.
 *
 * @param dashboard whether the server has one
 */
record PageLinks(SessionCookie cookie, boolean dashboard) {

    String run(ApiRequest request, UUID run) {
        return cookie.origin(request) + (dashboard ? "/ui/runs/" : "/api/v1/runs/") + run;
    }

    String inbox(ApiRequest request, UUID run) {
        return cookie.origin(request) + (dashboard ? "/ui/inbox" : "/api/v1/inbox?run_id=" + run);
    }
}
