package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.wire.LoweredAnswer;
import io.keelson.server.annex.model.wire.Lowering;
import io.keelson.server.annex.model.wire.PassedAnswer;
import io.keelson.server.annex.model.wire.PassedKind;
import io.keelson.server.annex.model.wire.PassedRequest;
import io.keelson.server.annex.model.wire.UnfitException;
import io.keelson.server.api.http.gateway.GatewayError;
import java.time.Instant;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Over another wire than the program's. Text passes on as it comes; all other parts come out of the whole answer. */
final class LoweredPassage implements Passage {
    private static final int BAD_REQUEST = 400;

    private final ProgramRequest request;
    private final ConfiguredModel model;
    private final Exchange exchange;
    private final Lowering lowering;
    private final LoweredAnswer answer;
    private final RecordedStream.Live live;
    private final int bytes;

    LoweredPassage(ProgramRequest request, ConfiguredModel model, Exchange exchange, Instant now)
            throws GatewayError {
        this.request = request;
        this.model = model;
        this.exchange = exchange;
        try {
            this.lowering = new Lowering(request.path().form(), request.body());
            this.bytes = lowering.body(model.endpoint(), model.maxOutputTokens(), request.stream()).length;
        } catch (UnfitException e) {
            throw new GatewayError(BAD_REQUEST, "unsupported_parameter", "the model '" + model.name()
                    + "' has the wire " + model.wire().wire() + ", over which the gateway cannot send " + e.getMessage()
                    + ": leave it out, or use a model of the wire " + request.path().form().wire());
        }
        this.answer = lowering.answer(model.endpoint(), now);
        this.live = new RecordedStream.Live(request.path(), answer.beginning(), request.wantsUsage());
    }

    @Override
    public int bytes() {
        return bytes;
    }

    @Override
    public PassedRequest request(long output) {
        try {
            return new PassedRequest(PassedKind.ANSWER, lowering.body(model.endpoint(), output, request.stream()),
                    Map.of(),
                    request.stream(), output, ANSWER_TIMEOUT);
        } catch (UnfitException e) {
            throw new IllegalStateException("the request was lowered before", e);
        }
    }

    @Override
    public void event(byte[] data, JsonNode event, String text) {
        if (!text.isEmpty()) {
            live.text(text).forEach(each -> exchange.add(each, false));
        }
    }

    @Override
    public PassedAnswer answer(PassedAnswer of) {
        ObjectNode whole = answer.whole(of.document());
        if (request.stream()) {
            live.end(whole).forEach(each -> exchange.add(each, true));
        }
        return new PassedAnswer(whole, of.usage(), of.firstMillis(), of.totalMillis(), of.headers());
    }
}
