package io.keelson.server.money;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * A price to be set.
 *
 * @param usd per call of a tool, per million tokens of a model; null withdraws the price
 */
public record PriceChange(PriceKind kind, String name, @Nullable BigDecimal usd) {}
