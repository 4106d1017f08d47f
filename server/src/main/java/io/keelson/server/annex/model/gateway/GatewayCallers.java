package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.api.http.support.StepTokens;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;

/** Finds the lease of a request's token. */
final class GatewayCallers {
    private final StepTokens tokens;

    GatewayCallers(Database database) {
        this.tokens = new StepTokens(database);
    }

    /**
     * The lease, which lasts.
     *
     * @throws GatewayError {@code token_required}, {@code invalid_token}, {@code step_ended} or {@code parked}
     */
    Found of(MountedRequest request) throws GatewayError {
        try {
            return tokens.of(request);
        } catch (StepTokens.RefusedException e) {
            throw new GatewayError(e.status(), e.code(), String.valueOf(e.getMessage()));
        }
    }
}
