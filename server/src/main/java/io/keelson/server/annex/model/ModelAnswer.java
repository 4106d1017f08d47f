package io.keelson.server.annex.model;

import io.keelson.core.money.Tokens;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A model's whole answer.
 *
 * @param text empty if absent; of a refusal, its text
 * @param calls in the model's order
 * @param usage as the provider reports it, in separate parts; none where it does not
 * @param modelAnswered as the provider names the model that answered; null when it does not
 * @param requestId of the provider, for its support; null if absent
 * @param raw the provider's own message, for {@link Message.Assistant#raw}
 * @param firstTextMillis from sending to the first part of the answer
 * @param totalMillis from sending to its end
 * @param estimated whether the provider has not reported the usage
 */
public record ModelAnswer(String text, List<Call> calls, Finish finish, Tokens usage, @Nullable String modelAnswered,
        @Nullable String requestId, JsonNode raw, long firstTextMillis, long totalMillis, boolean estimated) {

    public ModelAnswer {
        calls = List.copyOf(calls);
    }

    /** An answer whose provider has reported its usage. */
    public ModelAnswer(String text, List<Call> calls, Finish finish, Tokens usage, @Nullable String modelAnswered,
            @Nullable String requestId, JsonNode raw, long firstTextMillis, long totalMillis) {
        this(text, calls, finish, usage, modelAnswered, requestId, raw, firstTextMillis, totalMillis, false);
    }

    /** A copy with an upper bound of its usage. */
    public ModelAnswer using(Tokens most) {
        return new ModelAnswer(text, calls, finish, most, modelAnswered, requestId, raw, firstTextMillis, totalMillis,
                true);
    }
}
