package io.keelson.server.annex.model;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A message of a conversation with a model. */
public sealed interface Message {

    /** From the person or program that uses the model. */
    record User(String text) implements Message {}

    /**
     * From the model.
     *
     * @param text empty if absent
     * @param raw the provider's own message, for a request over the same wire; null if absent
     */
    record Assistant(String text, List<Call> calls, @Nullable JsonNode raw) implements Message {
        public Assistant {
            calls = List.copyOf(calls);
        }
    }

    /** The results of all calls of the message before it, in their order. */
    record ToolResults(List<CallResult> results) implements Message {
        public ToolResults {
            results = List.copyOf(results);
        }
    }
}
