/**
 * Expressions: jq in {@code ${ }} over a run's scope, bounded in time, depth and output. {@link JqParser} resolves all
 * names; nodes ({@link JqNode}, {@link JqControl}, {@link JqFunction}) give their values to a receiver, one at a time.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A node's receiver runs inside that node: errors of the receiver are not errors of the node
 * ({@code JqControl.caught}).
 * <li>Values are never changed, as several names may have them; {@link JqUpdate} copies first.
 * <li>Texts are counted and compared by code points, numbers by all of their digits.
 * <li>jq yields several values. Exactly one is expected, and the error names the count.
 * </ul>
 */
@NullMarked
package io.keelson.server.base.expr;

import org.jspecify.annotations.NullMarked;
