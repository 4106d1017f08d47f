package io.keelson.core.decide;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;

/**
 * A request of a step's program to a model whose answer is not recorded yet. Its worst case is held until then, also after the end of
 * the lease, for its server still reads the answer.
 *
 * @param epoch of the lease under which it was sent
 * @param sha256 digest of the request
 * @param maxInput tokens
 * @param maxOutput tokens that are paid
 * @param held in credits, exact
 */
public record OpenRequest(UUID id, int epoch, String model, String sha256, Instant sentAt, long maxInput,
        long maxOutput, BigDecimal held) {}
