package io.keelson.core.run;

import io.keelson.core.money.Tokens;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A request to a model whose answer no result reports. Its provider may have billed it, so the step is charged for it.
 *
 * @param model by whose prices it is charged
 * @param requestSha256 digest of the request
 * @param sentAt when it was about to be sent, by the clock of its server
 * @param tokens at most these
 * @param reported what of the tokens the provider has reported
 * @param responseId by which the next execution of the step fetches the answer, so that it is lost only if the step has ended;
 *     null if absent
 */
public record LostAnswer(String model, String requestSha256, Instant sentAt, Tokens tokens, Reported reported,
        @Nullable String responseId) {

    /** The part of an answer's tokens that its provider has reported; the others are an upper bound. */
    public enum Reported {
        NONE, INPUT, ALL
    }

    /** A request whose answer is unknown. */
    public LostAnswer(String model, String requestSha256, Instant sentAt, Tokens most, @Nullable String responseId) {
        this(model, requestSha256, sentAt, most, Reported.NONE, responseId);
    }

    /** A copy whose response no execution fetches. */
    public LostAnswer withoutResponseId() {
        return responseId == null ? this : new LostAnswer(model, requestSha256, sentAt, tokens, reported, null);
    }

    /** The answer to the same request, whose provider keeps it under that id. */
    public LostAnswer withResponseId(String id) {
        return new LostAnswer(model, requestSha256, sentAt, tokens, reported, id);
    }

    /** This answer with other tokens. */
    public LostAnswer using(Tokens other, Reported known) {
        return new LostAnswer(model, requestSha256, sentAt, other, known, responseId);
    }
}
