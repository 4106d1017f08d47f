/**
 * Turns of agents that a server takes with a configured model: the tool {@code model.turn}.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>The messages of a turn are the beginning of those of the next turn, byte for byte, or a provider's cache is of no use.
 * Text that differs from turn to turn belongs to the end.
 * <li>Goal, inputs, results and messages of errors are data that others wrote: {@link io.keelson.server.annex.model.DataBlock} marks them.
 * <li>Each call has exactly one result, or providers refuse the conversation.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.model.turn;

import org.jspecify.annotations.NullMarked;
