package io.keelson.server.annex.model.wire;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Puts the events of a stream together to the document that would have come without a stream. */
interface StreamedDocument {

    /**
     * Takes the next event.
     *
     * @param data of the event; the end mark of chat completions is a text
     * @return the part of the answer's text in it; empty if absent
     * @throws UnreadableException when the event does not follow the wire
     * @throws ProviderErrorException when it tells an error
     */
    String add(JsonNode data) throws UnreadableException, ProviderErrorException;

    /** Whether the last event has come. */
    boolean complete();

    /** Whether the answer is whole, though the last event has not come. */
    boolean whole();

    /** The document so far; null before the first event. */
    @Nullable JsonNode document();
}
