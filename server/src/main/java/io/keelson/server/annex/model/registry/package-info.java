/**
 * The models that an operator has configured, and which workspace may use them.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Keys are in memory only. A text form, a log entry, an answer or a problem never contains one, nor a value in
 * the place of a key's source.
 * <li>Without a file no class of the parser is loaded: {@link Models#NONE} has no models.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.model.registry;

import org.jspecify.annotations.NullMarked;
