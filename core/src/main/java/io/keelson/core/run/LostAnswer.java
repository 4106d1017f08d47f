package io.keelson.core.run;

import io.keelson.core.money.Tokens;
import java.time.Instant;

/**
 * A request to a model whose answer was not received. Its provider may have billed it; the run is not charged.
 *
 * @param model by whose prices the estimate is made
 * @param requestSha256 digest of the request
 * @param sentAt when it was about to be sent, by the clock of its server
 * @param estimate at most about these tokens
 */
public record LostAnswer(String model, String requestSha256, Instant sentAt, Tokens estimate) {}
