/**
 * Expressions: jq in {@code ${ }} over a run's scope, bounded in time, depth and output. The only package with
 * Jackson 2.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>jq yields several values. Exactly one is expected, and the error names the count.
 * </ul>
 */
@NullMarked
package io.keelson.server.expr;

import org.jspecify.annotations.NullMarked;
