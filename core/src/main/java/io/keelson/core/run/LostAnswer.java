package io.keelson.core.run;

import io.keelson.core.money.Tokens;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A request to a model whose answer was not received. Its provider may have billed it; the run is not charged.
 *
 * @param model by whose prices the estimate is made
 * @param requestSha256 digest of the request
 * @param sentAt when it was about to be sent, by the clock of its server
 * @param estimate at most about these tokens
 * @param responseId by which the next execution of the step fetches the answer, so that it is lost only if the step has ended;
 *     null for none
 */
public record LostAnswer(String model, String requestSha256, Instant sentAt, Tokens estimate,
        @Nullable String responseId) {

    /** The same answer, which no execution fetches. */
    public LostAnswer withoutResponseId() {
        return responseId == null ? this : new LostAnswer(model, requestSha256, sentAt, estimate, null);
    }

    /** The answer to the same request, whose provider keeps it under that id. */
    public LostAnswer withResponseId(String id) {
        return new LostAnswer(model, requestSha256, sentAt, estimate, id);
    }
}
