package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.wire.PassedAnswer;
import io.keelson.server.annex.model.wire.PassedRequest;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.gateway.GatewayError;
import java.time.Duration;
import tools.jackson.databind.JsonNode;

/** The way of one request to its provider, and of the answer back to the exchange. */
sealed interface Passage extends PassingClient.Events permits Passage.AsItCame, LoweredPassage {
    Duration ANSWER_TIMEOUT = Duration.ofMinutes(10);

    /** @throws GatewayError {@code unsupported_parameter} if a part of the request cannot be sent to the model */
    static Passage of(ProgramRequest request, ConfiguredModel model, Exchange exchange, PassingClient client)
            throws GatewayError {
        return request.path().wires().contains(model.wire()) ? new AsItCame(request, model, exchange)
                : new LoweredPassage(request, model, exchange, client.time());
    }

    /** Bytes of the body that the provider gets. */
    int bytes();

    /** @param output tokens that are paid */
    PassedRequest request(long output);

    /** The answer as the program gets it. */
    PassedAnswer answer(PassedAnswer answer);

    /** Over the wire of the program: only the model's name and the bounds of output change. */
    record AsItCame(ProgramRequest request, ConfiguredModel model, Exchange exchange, StreamParts parts)
            implements Passage {

        AsItCame(ProgramRequest request, ConfiguredModel model, Exchange exchange) {
            this(request, model, exchange, new StreamParts(request.path(), request.wantsUsage()));
        }

        @Override
        public int bytes() {
            return request.bytes();
        }

        @Override
        public PassedRequest request(long output) {
            return new PassedRequest(request.path().kind(), request.providerBody(model, output), request.headers(),
                    request.stream(), output, ANSWER_TIMEOUT);
        }

        @Override
        public void event(byte[] data, JsonNode event, String text) {
            boolean held = parts.holds(event);
            byte[] bytes = parts.bytes(data, event);
            if (bytes != null) {
                exchange.add(bytes, held);
            }
        }

        @Override
        public PassedAnswer answer(PassedAnswer answer) {
            return answer;
        }
    }
}
