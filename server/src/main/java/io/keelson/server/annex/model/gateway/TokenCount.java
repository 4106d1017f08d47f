package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.wire.PassedRefusalException;
import io.keelson.server.annex.model.wire.PassedRequest;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.api.http.support.ApiResponse;
import java.time.Duration;
import java.util.concurrent.ExecutionException;

/** Has a provider count the tokens of a message. That is free, and is not recorded. */
final class TokenCount {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final int OK = 200;
    private static final int BAD_GATEWAY = 502;

    private TokenCount() {}

    static ApiResponse answer(PassingClient client, ProgramRequest request, ConfiguredModel model, LeaseRequests lease)
            throws GatewayError, InterruptedException {
        lease.beginCount();
        try {
            return answer(client, request, model);
        } finally {
            lease.endCount();
        }
    }

    private static ApiResponse answer(PassingClient client, ProgramRequest request, ConfiguredModel model)
            throws GatewayError, InterruptedException {
        PassedRequest sent = new PassedRequest(request.path().kind(), request.providerBody(model, 0), request.headers(),
                false, 0, TIMEOUT);
        try {
            return ApiResponse.json(OK,
                    client.send(model.endpoint(), sent, (data, event, text) -> {}).get().document());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PassedRefusalException refusal) {
                throw Sender.providerFailure(refusal);
            }
            throw new GatewayError(BAD_GATEWAY, "provider_unavailable",
                    "the provider of the model '" + model.name() + "' has not counted the tokens");
        }
    }
}
