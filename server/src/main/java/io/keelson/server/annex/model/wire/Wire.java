package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.WireKind;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A protocol: what is sent, and how an answer is read. Stateless. */
interface Wire {

    static Wire of(WireKind kind) {
        return switch (kind) {
            case OPENAI_RESPONSES -> new ResponsesWire();
            case OPENAI_CHAT -> new ChatWire();
            case ANTHROPIC_MESSAGES -> new MessagesWire();
        };
    }

    /** After the base URL. */
    String path();

    /** With the key, but without the endpoint's own headers. */
    Map<String, String> headers(String apiKey);

    /** The body of a request. */
    ObjectNode body(ModelEndpoint endpoint, ModelRequest request, boolean stream);

    /**
     * For the events of one stream.
     *
     * @param maxBytes of all texts together
     */
    StreamedDocument streamed(long maxBytes);

    /**
     * Reads a whole answer.
     *
     * @param document as it comes without a stream
     * @throws UnreadableException when it does not follow the wire
     * @throws ProviderErrorException when it is an error
     */
    ReadAnswer read(JsonNode document) throws UnreadableException, ProviderErrorException;

    /** The tokens that a whole answer reports; null where it reports none that can be read. */
    default @Nullable Tokens reported(JsonNode document) {
        try {
            Tokens usage = usage(document);
            return usage == null || usage.none() ? null : usage;
        } catch (UnreadableException e) {
            return null;
        }
    }

    /**
     * The tokens that a document or a part of one reports.
     *
     * @return null where it reports none
     * @throws UnreadableException when the figures are no counts
     */
    @Nullable Tokens usage(JsonNode document) throws UnreadableException;
}
