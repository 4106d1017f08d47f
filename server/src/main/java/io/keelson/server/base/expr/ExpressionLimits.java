package io.keelson.server.base.expr;

import java.time.Duration;

/**
 * Bounds of one evaluation (one expression, or one template tree with all its expressions).
 *
 * @param time wall time
 * @param depth nested evaluation steps; a recursive jq function takes about four a level
 * @param valueBytes estimated heap bytes of any one value, intermediate ones included
 * @param totalBytes estimated heap bytes of all values made on the way
 * @param outputChars text length of the result as JSON
 * @param expressionChars length of one expression
 */
public record ExpressionLimits(
        Duration time, int depth, long valueBytes, long totalBytes, int outputChars, int expressionChars) {

    public static final ExpressionLimits DEFAULT =
            new ExpressionLimits(Duration.ofSeconds(2), 1_000, 32L << 20, 192L << 20, 4 << 20, 16_384);
}
