package io.keelson.server.money;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * A price on the list.
 *
 * @param usd per call of a tool, per million tokens of a model; at least 0
 * @param version of the list with which it began to hold
 * @param createdBy who set it
 */
public record PriceRow(PriceKind kind, String name, BigDecimal usd, int version, Instant createdAt, String createdBy) {}
