package io.keelson.core.decide;

import io.keelson.core.money.Tokens;
import java.math.BigDecimal;

/**
 * The usage of a step that its holder's heartbeats have charged. Its numbers never fall.
 *
 * @param epoch of the lease
 * @param cost in credits, including the uncollected part
 */
public record Metered(int epoch, Tokens tokens, BigDecimal cost) {}
