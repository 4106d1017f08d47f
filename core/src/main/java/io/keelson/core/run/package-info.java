/**
 * The vocabulary of a run: commands, replies, events and the values in them. Rules and mutable rows are in
 * {@link io.keelson.core.decide}.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Repeating a command is normal (retries, two nodes). A command into the state that the row is already in
 * answers {@code Ok(false)} and writes no event.
 * </ul>
 */
@NullMarked
package io.keelson.core.run;

import org.jspecify.annotations.NullMarked;
