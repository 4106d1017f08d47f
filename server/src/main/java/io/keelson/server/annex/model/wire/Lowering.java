package io.keelson.server.annex.model.wire;

import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.base.json.Json;
import java.time.Instant;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A program's request over one wire to a model with another one: texts, tools and bounds in the form that every provider takes. Parts without
 * a place in that form are refused. Reasoning of earlier answers is left out, as no other provider can read it.
 */
public final class Lowering {
    private final WireKind form;
    private final ModelRequest request;
    private final JsonNode body;

    /**
     * Reads a request.
     *
     * @param form the wire of the program
     * @throws UnfitException if the neutral form has no place for a part of the request
     */
    public Lowering(WireKind form, JsonNode body) throws UnfitException {
        this.form = form;
        this.request = LoweredRequest.of(ProgramForms.read(form, body)).request();
        this.body = body;
    }

    /**
     * The body for the provider of the model.
     *
     * @param maxOutput tokens of output that are paid
     * @throws UnfitException if its wire has no place for a part of the request
     */
    public byte[] body(ModelEndpoint to, long maxOutput, boolean stream) throws UnfitException {
        int output = (int) Math.min(maxOutput, Integer.MAX_VALUE);
        ObjectNode sent = Wire.of(to.wire()).body(to, request.writing(output), stream);
        for (String name : new String[] {"temperature", "top_p"}) {
            if (body.hasNonNull(name)) {
                sent.set(name, body.get(name));
            }
        }
        JsonNode stops = body.hasNonNull("stop") ? body.get("stop") : body.path("stop_sequences");
        if (!stops.isMissingNode() && !stops.isNull() && !(stops.isContainer() && stops.isEmpty())) {
            JsonNode list = stops.isString() ? Json.array().add(stops) : stops;
            switch (to.wire()) {
                case OPENAI_CHAT -> sent.set("stop", list);
                case ANTHROPIC_MESSAGES -> sent.set("stop_sequences", list);
                case OPENAI_RESPONSES ->
                    throw new UnfitException(body.hasNonNull("stop") ? "'stop'" : "'stop_sequences'");
            }
        }
        return Json.write(sent);
    }

    /** The answer that is about to come. */
    public LoweredAnswer answer(ModelEndpoint from, Instant now) {
        return new LoweredAnswer(from.wire(), form, from.model(), now);
    }
}
