package io.keelson.devmodel;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** One provider's API: how it states a conversation, an answer and an error. */
interface ProviderWire {

    List<ProviderWire> ALL = List.of(new ResponsesProviderWire(), new ChatProviderWire(), new MessagesProviderWire());

    /** As scripts and the journal name it. */
    String name();

    /** The path of requests. */
    String path();

    /** The header that has the request's id in each answer. */
    String requestIdHeader();

    /** @throws BadRequestException where the provider refuses the request, too */
    Conversation read(JsonNode body) throws BadRequestException;

    /** The tokens that the wire can report: some have no place for all parts. */
    BilledTokens reported(BilledTokens usage);

    /** The whole answer; its {@code id} names it. */
    ObjectNode answer(ModelReply reply);

    /** The reply as server-sent events, in order. */
    List<String> stream(ModelReply reply);

    /**
     * The body of an error.
     *
     * @param stated {@code type}, {@code code} and {@code message}, missing ones follow from the status
     */
    ObjectNode error(int status, JsonNode stated, String requestId);

    /** The body of an error that dev-model itself has found. */
    default ObjectNode error(int status, String message, String requestId) {
        return error(status, Json.object().put("message", message), requestId);
    }
}
