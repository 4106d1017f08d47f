package io.keelson.core.decide;

import io.keelson.core.money.Tokens;
import java.math.BigDecimal;

/**
 * The use of a step that heartbeats of its holder have charged. No number of it ever falls.
 *
 * @param epoch of the lease
 * @param cost in credits, what could not be collected included
 */
public record Metered(int epoch, Tokens tokens, BigDecimal cost) {}
